"""Work on long texts never keeps short ones waiting."""

import asyncio
import threading

import pytest

from app.lanes import Lanes


def test_short_texts_do_not_wait_for_long_ones() -> None:
    held = threading.Event()

    async def scenario() -> None:
        lanes = Lanes()
        long = [asyncio.create_task(lanes.run(50_000, lambda: held.wait(10))) for _ in range(20)]
        assert await asyncio.wait_for(lanes.run(20, lambda: 1), 5) == 1
        assert not any(task.done() for task in long)
        held.set()
        assert await asyncio.gather(*long) == [True] * 20

    asyncio.run(scenario())


def test_who_leaves_before_the_turn_costs_nothing() -> None:
    held, done = threading.Event(), []

    async def scenario() -> None:
        lanes = Lanes()
        first = asyncio.create_task(lanes.run(50_000, lambda: held.wait(10)))
        second = asyncio.create_task(lanes.run(50_000, lambda: done.append(1)))
        await asyncio.sleep(0.01)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        held.set()
        await first
        await lanes.run(50_000, lambda: None)

    asyncio.run(scenario())
    assert done == []
