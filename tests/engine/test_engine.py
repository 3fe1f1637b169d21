"""The loop over a scripted model: sharing, answers, failures, deadlines, draining."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future

import numpy as np
import pytest

from app.engine.engine import Engine, EngineSettings, EngineState
from app.engine.hypotheses import Hypothesis, SearchOptions
from app.engine.running_batch import RunningBatch
from app.errors import DeadlineExceeded, EngineFailed, NotReady, QueueFull
from tests.engine.gated_model import BEAM, GREEDY, SECONDS, GatedModel, different, sentence
from tests.engine.scripted_model import ScriptedDecoding, ScriptedModel, echo_rule, random_rule


@pytest.fixture
def model() -> GatedModel:
    return GatedModel()


@pytest.fixture
def engine(model: GatedModel) -> Iterator[Engine]:
    engine = Engine([model], EngineSettings(batch_rows=8, queue_sentences=50))
    engine.start()
    yield engine
    model.gate.set()
    engine.stop(5)


def hold(model: GatedModel, engine: Engine) -> "Future[list[Hypothesis]]":
    """Returns once the engine stands still inside a step for a sentence of its own; what that one waits for."""
    model.gate.clear()
    model.entered.clear()
    (answer,) = engine.submit([sentence(9, 9, 9)], SECONDS)
    assert model.entered.wait(5)
    return answer


def test_everybody_gets_their_own_sentence(engine: Engine) -> None:
    random = np.random.default_rng(0)
    sources = [tuple(random.integers(2, 30, size=random.integers(1, 20)).tolist()) for _ in range(40)]
    answers = [
        engine.submit([sentence(*source, options=BEAM if index % 3 else GREEDY)], SECONDS)[0]
        for index, source in enumerate(sources)
    ]
    assert [answer.result(10)[0].ids for answer in answers] == sources


def test_requests_share_steps(model: GatedModel, engine: Engine) -> None:
    hold(model, engine)
    answers = [engine.submit([one], SECONDS)[0] for one in different(6, 5)]
    model.batch_sizes.clear()
    model.gate.set()
    for answer in answers:
        answer.result(10)
    assert max(model.batch_sizes) == 7


def test_in_flight_answers_equal_those_alone() -> None:
    model = ScriptedModel(random_rule(15, 4), 15)
    engine = Engine([model], EngineSettings(batch_rows=10, queue_sentences=100))
    engine.start()
    alone = [
        engine.submit([sentence(a, b, options=BEAM)], SECONDS)[0].result(10) for a in range(2, 8) for b in range(2, 6)
    ]
    together = engine.submit([sentence(a, b, options=BEAM) for a in range(2, 8) for b in range(2, 6)], SECONDS)
    assert [answer.result(10) for answer in together] == alone
    engine.stop(5)


def test_rows_never_exceed_the_batch(model: GatedModel, engine: Engine) -> None:
    answers = engine.submit(different(20, options=BEAM), SECONDS)
    for answer in answers:
        answer.result(10)
    assert max(model.batch_sizes) <= 8


def test_a_source_that_the_model_cannot_read_is_no_fault_of_others(model: GatedModel, engine: Engine) -> None:
    hold(model, engine)
    (fine,) = engine.submit([sentence(5, 6)], SECONDS)
    most = model.limits
    for one, message in (
        (sentence(*[5] * (most.source_len + 1)), rf"a source of {most.source_len + 1} ids, there may be 1 to"),
        (sentence(), "a source of 0 ids"),
        (sentence(5, options=SearchOptions(9, 1.0, 0, 20)), "a beam of 9 rows, there may be 1 to 8"),
        (sentence(5, options=SearchOptions(1, 1.0, 0, most.target_len + 1)), "a target of"),
    ):
        with pytest.raises(ValueError, match=message):
            engine.submit([sentence(7), one], SECONDS)
    assert engine.counts().waiting == 1
    model.gate.set()
    assert fine.result(10)


def test_a_full_queue_takes_all_or_none(model: GatedModel, engine: Engine) -> None:
    hold(model, engine)
    engine.submit(different(48), SECONDS)
    with pytest.raises(QueueFull):
        engine.submit([sentence(2)] * 3, SECONDS)
    engine.submit([sentence(2)] * 2, SECONDS)


def test_a_fault_answers_its_batch_and_the_engine_goes_on(model: GatedModel, engine: Engine) -> None:
    hold(model, engine)
    model.fault, model.fault_source = RuntimeError("poison"), (13,)
    answers = engine.submit([sentence(13), sentence(14)], SECONDS)
    model.gate.set()
    for answer in answers:
        with pytest.raises(EngineFailed) as caught:
            answer.result(10)
        assert isinstance(caught.value.__cause__, RuntimeError)
    assert engine.submit([sentence(14)], SECONDS)[0].result(10)[0].ids == (14,)
    assert engine.state is EngineState.READY


@pytest.mark.parametrize("method", ["keep", "reorder", "join"])
def test_a_fault_between_steps_answers_everybody_too(
    method: str, model: GatedModel, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold(model, engine)

    def fail(*_: object) -> None:
        monkeypatch.undo()
        raise MemoryError(method)

    monkeypatch.setattr(ScriptedDecoding, method, fail)
    # Two of these fit at once: the first leaves the second, then the third joins it.
    sources = [(5, 6), (5, 6, 7, 8, 9, 10, 11, 12), (4, 5, 6)]
    tickets = [engine.submit([sentence(*source, options=BEAM)], SECONDS)[0] for source in sources]
    model.gate.set()
    answers = [ticket.exception(10) for ticket in tickets]
    assert any(isinstance(error, EngineFailed) for error in answers)
    assert engine.submit([sentence(14)], SECONDS)[0].result(10)[0].ids == (14,)


def test_a_fault_leaves_other_beam_sizes_alone(model: GatedModel, engine: Engine) -> None:
    hold(model, engine)
    model.fault, model.fault_source = RuntimeError("poison"), (13,)
    poisoned = engine.submit([sentence(13)], SECONDS)[0]
    healthy = engine.submit([sentence(5, 6, 7, options=BEAM)], SECONDS)[0]
    model.gate.set()
    assert isinstance(poisoned.exception(10), EngineFailed)
    assert healthy.result(10)[0].ids == (5, 6, 7)


def test_numbers_that_are_none_are_a_fault() -> None:
    def overflown(source: tuple[int, ...], fed: tuple[int, ...]) -> np.ndarray:
        return np.full(9, np.nan if len(source) > 1 else -2.0, dtype=np.float32)

    for options in (GREEDY, BEAM):
        engine = Engine([ScriptedModel(overflown, 9)], EngineSettings(8, 8))
        engine.start()
        assert isinstance(engine.submit([sentence(2, 3, options=options)], SECONDS)[0].exception(10), EngineFailed)
        engine.stop(5)


def test_a_dead_model_answers_everybody_and_takes_no_more(model: GatedModel, engine: Engine) -> None:
    hold(model, engine)
    model.fault = RuntimeError("the device is gone")
    answers = engine.submit(different(30), SECONDS)
    model.gate.set()
    for answer in answers:
        with pytest.raises(EngineFailed):
            answer.result(10)
    with pytest.raises(NotReady):
        engine.submit([sentence(2)], SECONDS)
    assert engine.state is EngineState.FAILED


def test_a_model_that_cannot_decode_does_not_start() -> None:
    model = ScriptedModel(echo_rule(9), 9)
    model.fault = RuntimeError("no weights")
    engine = Engine([model], EngineSettings(4, 4))
    with pytest.raises(EngineFailed):
        engine.start()
    with pytest.raises(NotReady):
        engine.submit([sentence(2)], SECONDS)


def test_deadlines_hold_for_waiting_and_running(model: GatedModel) -> None:
    now = [0.0]
    engine = Engine([model], EngineSettings(batch_rows=2, queue_sentences=50), clock=lambda: now[0])
    engine.start()
    hold(model, engine)
    late = engine.submit(different(6), 5.0)
    now[0] = 6.0
    model.gate.set()
    for answer in late:
        with pytest.raises(DeadlineExceeded, match="5 seconds"):
            answer.result(10)
    assert engine.submit([sentence(4)], SECONDS)[0].result(10)[0].ids == (4,)
    engine.stop(5)


class StepwiseModel(ScriptedModel):
    """Encodes and steps only as often as it is allowed to."""

    def __init__(self) -> None:
        super().__init__(echo_rule(30), 30)
        self.allowed = threading.Semaphore(0)

    def check(self, sources: list[tuple[int, ...]]) -> None:  # type: ignore[override]
        assert self.allowed.acquire(timeout=10)
        super().check(sources)


def test_who_waits_in_vain_leaves_the_queue_while_the_batch_is_full() -> None:
    """Nobody of them is admitted: the one row that there is belongs to another sentence all the time."""
    now, model = [0.0], StepwiseModel()
    engine = Engine([model], EngineSettings(batch_rows=1, queue_sentences=9), clock=lambda: now[0])
    model.allowed.release(2)
    engine.start()
    (running,) = engine.submit([sentence(*range(2, 22))], SECONDS)
    while engine.counts().rows == 0:
        time.sleep(0.001)
    late, left = engine.submit(different(4), 5.0), engine.submit(different(5, 9), SECONDS)
    for answer in left:
        answer.cancel()
    now[0] = 6.0
    model.allowed.release(3)
    for answer in late:
        with pytest.raises(DeadlineExceeded, match="5 seconds"):
            answer.result(5)
    assert not running.done()
    assert engine.counts().waiting == 0
    engine.submit(different(9), SECONDS)
    model.allowed.release(1000)
    engine.stop(10)
    assert running.result(0)[0].ids == tuple(range(2, 22))


def test_a_thread_that_fails_outside_the_model_answers_everybody(
    model: GatedModel, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = hold(model, engine)

    def fail(_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(RunningBatch, "newest", fail)
    (waiting,) = engine.submit([sentence(4)], SECONDS)
    model.gate.set()
    for answer in (running, waiting):
        with pytest.raises(EngineFailed):
            answer.result(5)
    assert engine.state is EngineState.FAILED
    with pytest.raises(NotReady):
        engine.submit([sentence(4)], SECONDS)


def test_a_cancelled_sentence_frees_its_rows(model: GatedModel, engine: Engine) -> None:
    hold(model, engine)
    answers = engine.submit([*different(19, 3), sentence(3, 4, 5)], SECONDS)
    for answer in answers[:-1]:
        assert answer.cancel()
    model.batch_sizes.clear()
    model.gate.set()
    assert answers[-1].result(10)[0].ids == (3, 4, 5)
    with pytest.raises(CancelledError):
        answers[0].result(0)
    assert max(model.batch_sizes) == 2  # with the sentence that held the engine


def test_stop_finishes_what_was_taken(model: GatedModel, engine: Engine) -> None:
    hold(model, engine)
    sentences = different(20)
    answers = engine.submit(sentences, SECONDS)
    stopper = threading.Thread(target=engine.stop, args=(10,))
    stopper.start()
    while engine.state is EngineState.READY:
        time.sleep(0.001)
    with pytest.raises(NotReady, match="draining"):
        engine.submit([sentence(2)], SECONDS)
    model.gate.set()
    stopper.join(10)
    assert [answer.result(0)[0].ids for answer in answers] == [one.source for one in sentences]
    assert engine.state is EngineState.STOPPED


def test_stop_answers_what_it_cannot_finish(model: GatedModel, engine: Engine) -> None:
    running = hold(model, engine)
    answers = [running, *engine.submit(different(20), SECONDS)]
    stopper = threading.Thread(target=engine.stop, args=(0.01,))
    stopper.start()
    while engine.state is not EngineState.STOPPED:
        time.sleep(0.001)
    model.gate.set()
    stopper.join(10)
    for answer in answers:
        with pytest.raises(NotReady):
            answer.result(5)
