"""Equal sentences in flight share one decode, with deadlines, cancellation and listeners of their own."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future

import pytest

from app.engine.engine import Engine, EngineSettings
from app.engine.hypotheses import Hypothesis, SearchOptions
from app.engine.scheduler import Scheduler
from app.engine.sharing import Sharing
from app.engine.tickets import Sentence, Ticket
from app.errors import DeadlineExceeded, EngineFailed, QueueFull, TooLarge
from tests.engine.scripted_model import ScriptedModel, echo_rule

GREEDY = SearchOptions(1, 1.0, 0, 40)
BEAM = SearchOptions(3, 1.0, 0, 40)
SECONDS = 20.0


class SteppedModel(ScriptedModel):
    """Makes a step of other sentences than the engine's probe only when it is told to."""

    def __init__(self) -> None:
        super().__init__(echo_rule(30), 30)
        self.allowed = threading.Semaphore(0)
        self.reached = threading.Semaphore(0)
        self.read: list[tuple[int, ...]] = []
        self.free = False

    def encode(self, sources: object, width: int) -> object:  # type: ignore[override]
        self.read += [tuple(source) for source in sources]  # type: ignore[attr-defined]
        return super().encode(sources, width)  # type: ignore[arg-type]

    def check(self, sources: list[tuple[int, ...]]) -> None:  # type: ignore[override]
        if not self.free and sources != [(1,)]:
            self.reached.release()
            assert self.allowed.acquire(timeout=10)
        super().check(sources)

    def steps(self, count: int) -> None:
        """Makes so many and returns when the engine stands before the next."""
        for _ in range(count):
            self.allowed.release()
            assert self.reached.acquire(timeout=10)

    def run_on(self) -> None:
        self.free = True
        self.allowed.release(1000)


class World:
    def __init__(self) -> None:
        self.now = 0.0
        self.model = SteppedModel()
        self.engine = Engine([self.model], EngineSettings(batch_rows=8, queue_sentences=20), clock=lambda: self.now)
        self.engine.start()

    def submit(
        self,
        *ids: int,
        options: SearchOptions = GREEDY,
        seconds: float = SECONDS,
        listener: Callable[..., None] | None = None,
    ) -> "Future[list[Hypothesis]]":
        return self.engine.submit([Sentence(ids, options)], seconds, listener)[0]

    def begin(self, *ids: int, **how: object) -> "Future[list[Hypothesis]]":
        """Returns when the sentence has been read and made its first step."""
        answer = self.submit(*ids, **how)  # type: ignore[arg-type]
        assert self.model.reached.acquire(timeout=10)  # stands in encode
        self.model.steps(2)
        return answer


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.model.run_on()
    world.engine.stop(5)


def test_who_waits_for_the_same_sentence_gets_one_decode(world: World) -> None:
    world.begin(9, 9, 9, 9)
    answers = [world.submit(5, 6, 7) for _ in range(6)]
    world.model.run_on()
    assert [answer.result(10)[0].ids for answer in answers] == [(5, 6, 7)] * 6
    assert world.model.read.count((5, 6, 7)) == 1
    assert max(world.model.batch_sizes) == 2
    assert (world.engine.counts().sentences, world.engine.counts().shared) == (7, 5)


def test_within_one_request_too(world: World) -> None:
    answers = world.engine.submit([Sentence((5, 6), GREEDY), Sentence((7,), GREEDY), Sentence((5, 6), GREEDY)], SECONDS)
    world.model.run_on()
    assert [answer.result(10)[0].ids for answer in answers] == [(5, 6), (7,), (5, 6)]
    assert world.model.read.count((5, 6)) == 1


def test_who_comes_late_joins_what_has_begun(world: World) -> None:
    first = world.begin(5, 6, 7, 8)
    late = world.submit(5, 6, 7, 8)
    world.model.run_on()
    assert first.result(10) == late.result(10)
    assert first.result() is not late.result()
    assert world.model.read.count((5, 6, 7, 8)) == 1
    again = world.submit(5, 6, 7, 8)
    assert again.result(10) == first.result()
    assert world.model.read.count((5, 6, 7, 8)) == 2, "nothing is kept"


@pytest.mark.parametrize(
    "options",
    [BEAM, SearchOptions(1, 0.5, 0, 40), SearchOptions(1, 1.0, 0, 39), SearchOptions(2, 1.0, 1, 40)],
)
def test_other_options_are_another_decode(world: World, options: SearchOptions) -> None:
    world.begin(5, 6, 7, 8)
    other = world.submit(5, 6, 7, 8, options=options)
    world.model.run_on()
    assert other.result(10)[0].ids == (5, 6, 7, 8)
    assert world.model.read.count((5, 6, 7, 8)) == 2
    assert world.engine.counts().shared == 0


def test_the_decode_goes_on_while_anybody_waits_and_no_longer(world: World) -> None:
    first = world.begin(5, 6, 7, 8, 9, 10, 11, 12)
    second = world.submit(5, 6, 7, 8, 9, 10, 11, 12)
    assert first.cancel()
    world.model.steps(1)
    third = world.submit(5, 6, 7, 8, 9, 10, 11, 12)
    assert world.engine.counts().shared == 2
    assert second.cancel()
    world.model.steps(1)
    assert world.engine.counts().rows == 1
    assert third.cancel()
    made = len(world.model.batch_sizes)
    world.model.run_on()
    other = world.submit(4)
    assert other.result(10)[0].ids == (4,)
    # The step that was on its way, then those of the other sentence alone.
    assert len(world.model.batch_sizes) <= made + 3


def test_a_sentence_that_nobody_waits_for_is_not_joined(world: World) -> None:
    first = world.begin(5, 6, 7, 8)
    first.cancel()
    world.engine.submit([Sentence((4, 4, 4, 4, 4, 4), GREEDY)], SECONDS)
    world.model.steps(2)
    again = world.submit(5, 6, 7, 8)
    world.model.run_on()
    assert again.result(10)[0].ids == (5, 6, 7, 8)
    assert world.model.read.count((5, 6, 7, 8)) == 2


def test_everybody_has_a_deadline_of_their_own(world: World) -> None:
    hasty = world.begin(5, 6, 7, 8, 9, seconds=3.0)
    patient = world.submit(5, 6, 7, 8, 9, seconds=9.0)
    world.now = 4.0
    world.model.steps(1)
    with pytest.raises(DeadlineExceeded, match="3 seconds"):
        hasty.result(0)
    assert not patient.done()
    world.model.run_on()
    assert patient.result(10)[0].ids == (5, 6, 7, 8, 9)


def test_a_fault_answers_all_who_wait(world: World) -> None:
    first = world.begin(5, 6, 7, 8, 9)
    second = world.submit(5, 6, 7, 8, 9)
    world.model.fault, world.model.fault_source = RuntimeError("poison"), (5, 6, 7, 8, 9)
    world.model.run_on()
    assert all(isinstance(answer.exception(10), EngineFailed) for answer in (first, second))


def test_listeners_hear_every_piece(world: World) -> None:
    """Those who begin together share; who comes when pieces have been told begins anew."""
    world.begin(9, 9, 9, 9, 9, 9, 9, 9)
    heard: dict[str, list[int]] = {"one": [], "two": [], "late": []}

    def listener(name: str) -> Callable[[int, int], None]:
        return lambda _, piece: heard[name].append(piece)

    answers = [world.submit(5, 6, 7, listener=listener(name)) for name in ("one", "two")]
    silent = world.submit(5, 6, 7)
    world.model.steps(4)
    late = world.submit(5, 6, 7, listener=listener("late"))
    world.model.run_on()
    for answer in (*answers, silent, late):
        assert answer.result(10)[0].ids == (5, 6, 7)
    assert heard == {"one": [5, 6, 7], "two": [5, 6, 7], "late": [5, 6, 7]}
    assert world.model.read.count((5, 6, 7)) == 2


def test_who_joins_what_runs_needs_no_room_in_the_queue(world: World) -> None:
    world.begin(5, 6, 7, 8)
    world.engine.submit([Sentence((2, number), BEAM) for number in range(20)], SECONDS)
    with pytest.raises(QueueFull):
        world.engine.submit([Sentence((5, 6, 7, 8), GREEDY), Sentence((3, 3), GREEDY)], SECONDS)
    assert world.engine.counts().shared == 0, "all or none"
    joined = world.submit(5, 6, 7, 8)
    world.model.run_on()
    assert joined.result(10)[0].ids == (5, 6, 7, 8)


def ticket(request: int, *source: int) -> Ticket:
    return Ticket(request, Sentence(source, GREEDY), 1.0, 1.0)


def test_a_sentence_is_taken_at_the_best_turn_of_all_who_wait() -> None:
    scheduler = Scheduler(100)
    scheduler.add([ticket(0, number) for number in range(20)])
    scheduler.add([ticket(1, 19), ticket(1, 30)])
    assert scheduler.rows == 21
    taken = scheduler.take(1, 1)
    assert [sorted(one.request for one in group) for group in taken] == [[0, 1]]
    assert taken[0][0].sentence.source == (19,)
    assert (len(scheduler), scheduler.rows) == (20, 20)
    rest = [group[0].sentence.source for group in scheduler.take(100, 100)]
    assert len(rest) == len(set(rest)) == 20
    assert (len(scheduler), scheduler.rows) == (0, 0)


def test_who_leaves_the_queue_leaves_the_others() -> None:
    scheduler = Scheduler(100)
    scheduler.add([ticket(0, 5), ticket(0, 6)])
    scheduler.add([ticket(1, 5)])
    assert [one.request for one in scheduler.drop(lambda one: one.request == 0)] == [0, 0]
    assert (len(scheduler), scheduler.rows) == (1, 1)
    assert [[one.request for one in group] for group in scheduler.take(9, 9)] == [[1]]


def test_a_newer_decode_of_the_same_sentence_outlives_the_older() -> None:
    sharing = Sharing()
    older, newer = sharing.begin([ticket(0, 5)]), sharing.begin([ticket(1, 5)])
    assert len(sharing.end(older)) == 1
    assert sharing.running(ticket(2, 5)) is newer
    sharing.end(newer)
    assert sharing.running(ticket(2, 5)) is None


def test_a_request_that_is_too_large_is_so_whatever_runs(world: World) -> None:
    world.begin(9, 9, 9, 9)
    with pytest.raises(TooLarge, match="21 sentences, at most 20"):
        world.engine.submit([Sentence((9, 9, 9, 9), GREEDY)] * 21, SECONDS)
