import asyncio
import gc
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from app.abandonable import Abandonable, Check


def test_work_ends_at_its_next_check_once_nobody_waits() -> None:
    started, ended = threading.Event(), threading.Event()

    def endless(check: Check) -> None:
        started.set()
        try:
            while True:
                check()
        finally:
            ended.set()

    async def scenario() -> None:
        waiting = asyncio.create_task(Abandonable(1).run(endless))
        await asyncio.to_thread(started.wait, 10)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await asyncio.to_thread(ended.wait, 10)

    asyncio.run(scenario())


def test_the_end_of_work_that_nobody_waits_for_is_no_fault_of_the_event_loop() -> None:
    started, go_on = threading.Event(), threading.Event()

    def work(check: Check) -> None:
        started.set()
        go_on.wait(10)
        check()

    async def scenario() -> list[dict[str, Any]]:
        faults: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, fault: faults.append(fault))
        turns = Abandonable(1)
        waiting = asyncio.create_task(turns.run(work))
        await asyncio.to_thread(started.wait, 10)
        waiting.cancel()
        await asyncio.wait([waiting])
        go_on.set()
        await turns.run(lambda _: None)  # its turn comes when the thread has ended
        gc.collect()
        return faults

    assert asyncio.run(scenario()) == []


def test_only_so_much_runs_at_once_and_everything_gets_its_turn() -> None:
    running, most = 0, 0
    lock = threading.Lock()
    together = threading.Barrier(2, timeout=10)

    def work(_: Check) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait()
        with lock:
            running -= 1
        return 1

    async def scenario() -> int:
        turns = Abandonable(2)
        return sum(await asyncio.gather(*(turns.run(work) for _ in range(6))))

    assert asyncio.run(scenario()) == 6
    assert most == 2


def test_a_turn_lasts_as_long_as_the_thread_not_as_the_caller() -> None:
    go_on = threading.Event()
    entered: list[int] = []

    def work(check: Check) -> None:
        entered.append(len(entered))
        go_on.wait(10)
        check()

    async def scenario() -> None:
        turns = Abandonable(1)
        callers = [asyncio.create_task(turns.run(work)) for _ in range(3)]
        await asyncio.to_thread(until, lambda: len(entered) == 1)
        callers[0].cancel()
        await asyncio.wait(callers[:1])
        await asyncio.sleep(0.05)
        assert entered == [0]
        go_on.set()
        await asyncio.gather(*callers[1:])
        assert entered == [0, 1, 2]

    asyncio.run(scenario())


def until(condition: Callable[[], bool]) -> None:
    ended_by = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < ended_by
        time.sleep(0.001)
