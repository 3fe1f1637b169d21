"""Translating with muted heads: off the engine, within its queue's limit."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from app.engine.engine import Engine, EngineSettings
from app.engine.hypotheses import SearchOptions
from app.engine.step_model import HeadMasks, StepModel
from app.engine.tickets import Sentence
from app.errors import NotReady, QueueFull, TooLarge
from app.muted_search import MutedSearch
from tests.engine.scripted_model import ScriptedDecoding, ScriptedModel, echo_rule

OPTIONS = SearchOptions(1, 1.0, 0, 20)
MASKS: HeadMasks = None  # type: ignore[assignment]


class GatedMutedModel(ScriptedModel):
    """Reads a sentence only while the gate is open; also the explain model that makes it."""

    def __init__(self) -> None:
        super().__init__(echo_rule(30), 30)
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.check_abandoned: Callable[[], None] = lambda: None

    def step_model(self, masks: HeadMasks, check: Callable[[], None]) -> StepModel:
        self.check_abandoned = check
        return self

    def encode(self, sources: Sequence[Sequence[int]], width: int) -> ScriptedDecoding:
        self.entered.set()
        while not self.gate.wait(0.005):
            self.check_abandoned()
        return super().encode(sources, width)


class World:
    def __init__(self) -> None:
        self.model = GatedMutedModel()
        self.engine = Engine([ScriptedModel(echo_rule(30), 30)], EngineSettings(batch_rows=4, queue_sentences=10))
        self.engine.start()
        self.search = MutedSearch(self.model, self.engine)  # type: ignore[arg-type]

    def sentences(self, count: int) -> list[Sentence]:
        return [Sentence((5, 6 + number), OPTIONS) for number in range(count)]

    async def held(self, count: int) -> "asyncio.Task[object]":
        """A search that stands still in its first sentence."""
        self.model.gate.clear()
        self.model.entered.clear()
        task = asyncio.create_task(self.search.search(self.sentences(count), MASKS))
        assert await asyncio.to_thread(self.model.entered.wait, 5)
        return task


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.model.gate.set()
    world.engine.stop(5)


def test_sentences_wait_within_the_limit_of_the_queue(world: World) -> None:
    async def scenario() -> None:
        first = await world.held(6)
        counts = world.engine.counts()
        assert (counts.waiting, counts.rows, counts.sentences) == (5, 1, 1)
        with pytest.raises(QueueFull) as caught:
            await world.search.search(world.sentences(6), MASKS)
        assert (caught.value.waiting, caught.value.limit) == (5, 10)
        with pytest.raises(QueueFull):
            world.engine.submit(world.sentences(6), 20.0)
        second = asyncio.create_task(world.search.search(world.sentences(5), MASKS))
        await asyncio.sleep(0)
        assert world.engine.counts().waiting == 10
        world.model.gate.set()
        assert [len(await task) for task in (first, second)] == [6, 5]  # type: ignore[arg-type]
        counts = world.engine.counts()
        assert (counts.waiting, counts.rows, counts.sentences) == (0, 0, 11)

    asyncio.run(asyncio.wait_for(scenario(), 20))


def test_more_than_the_queue_ever_holds_is_too_large(world: World) -> None:
    with pytest.raises(TooLarge):
        asyncio.run(world.search.search(world.sentences(11), MASKS))
    assert world.engine.counts().waiting == 0


def test_who_leaves_gives_the_room_back(world: World) -> None:
    async def scenario() -> None:
        running = await world.held(6)
        waiting = asyncio.create_task(world.search.search(world.sentences(4), MASKS))
        await asyncio.sleep(0)
        for task, left in ((waiting, 5), (running, 0)):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert world.engine.counts().waiting == left
        assert world.engine.counts().rows == 0

    asyncio.run(asyncio.wait_for(scenario(), 20))


def test_a_fault_gives_the_room_back(world: World) -> None:
    world.model.fault = RuntimeError("poison")
    with pytest.raises(RuntimeError):
        asyncio.run(world.search.search(world.sentences(3), MASKS))
    assert world.engine.counts().waiting == 0


def test_nothing_is_taken_when_the_engine_takes_nothing(world: World) -> None:
    world.engine.stop(5)
    with pytest.raises(NotReady, match="stopped"):
        asyncio.run(world.search.search(world.sentences(1), MASKS))


def test_reserved_room_keeps_no_thread_awake_and_no_stop_waiting(world: World) -> None:
    world.engine.reserve(5)
    stopping = threading.Thread(target=world.engine.stop, args=(1000.0,), daemon=True)
    stopping.start()
    stopping.join(30)
    assert not stopping.is_alive()


def test_equal_sentences_are_each_decoded(world: World) -> None:
    """Masks are no part of a sentence: what one request mutes must not be another's."""
    found = asyncio.run(world.search.search([Sentence((5, 6), OPTIONS)] * 3, MASKS))
    assert [one[0].ids for one in found] == [(5, 6)] * 3
    assert len(world.model.batch_sizes) == 9
