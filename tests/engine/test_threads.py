"""Several threads that step batches of their own."""

import contextlib
import threading

import pytest

from app.engine.engine import Engine, EngineSettings
from app.errors import EngineFailed
from tests.engine.gated_model import BEAM, GREEDY, SECONDS, GatedModel, different, sentence
from tests.engine.scripted_model import ScriptedModel, random_rule


@pytest.fixture
def model() -> GatedModel:
    return GatedModel()


class MeetingModel(ScriptedModel):
    """A step ends only when another thread steps, too."""

    def __init__(self) -> None:
        super().__init__(random_rule(15, 4), 15)
        self.barrier: threading.Barrier | None = None

    def check(self, sources: list[tuple[int, ...]]) -> None:  # type: ignore[override]
        if self.barrier is not None:
            with contextlib.suppress(threading.BrokenBarrierError):
                self.barrier.wait(5)
                self.barrier = None
        super().check(sources)


def test_threads_step_at_the_same_time_and_share_evenly() -> None:
    model = MeetingModel()
    engine = Engine([model] * 2, EngineSettings(batch_rows=100, queue_sentences=100))
    engine.start()
    model.barrier = threading.Barrier(2)
    model.batch_sizes.clear()
    barrier = model.barrier
    for answer in engine.submit(different(10, 5, options=BEAM), SECONDS):
        answer.result(10)
    assert not barrier.broken
    assert max(model.batch_sizes) <= 18  # five sentences each, and one more where turns overlap
    engine.stop(5)


def test_every_thread_steps_a_model_of_its_own() -> None:
    models = [MeetingModel(), MeetingModel()]
    engine = Engine(models, EngineSettings(batch_rows=100, queue_sentences=100))
    engine.start()
    assert [model.batch_sizes for model in models] == [models[0].batch_sizes] * 2  # both are warm
    models[0].barrier = models[1].barrier = threading.Barrier(2)
    for model in models:
        model.batch_sizes.clear()
    for answer in engine.submit(different(10, 5, options=BEAM), SECONDS):
        answer.result(10)
    assert all(model.batch_sizes for model in models)
    engine.stop(5)


def test_answers_of_many_threads_equal_those_of_one() -> None:
    sentences = [sentence(a, b, options=BEAM if a % 2 else GREEDY) for a in range(2, 12) for b in range(2, 8)]
    found = []
    for threads in (1, 4):
        engine = Engine([ScriptedModel(random_rule(15, 4), 15)] * threads, EngineSettings(10, 100))
        engine.start()
        found.append([answer.result(20) for answer in engine.submit(sentences, SECONDS)])
        engine.stop(5)
    assert found[0] == found[1]


def test_a_dead_model_answers_the_sentences_of_every_thread(model: GatedModel) -> None:
    engine = Engine([model] * 3, EngineSettings(batch_rows=4, queue_sentences=50))
    engine.start()
    model.gate.clear()
    answers = engine.submit(different(30, 4), SECONDS)
    model.fault = RuntimeError("the device is gone")
    model.gate.set()
    assert all(isinstance(answer.exception(10), EngineFailed) for answer in answers)
    engine.stop(5)


def test_stop_waits_for_every_thread(model: GatedModel) -> None:
    engine = Engine([model] * 3, EngineSettings(batch_rows=4, queue_sentences=50))
    engine.start()
    answers = engine.submit(different(30, 4), SECONDS)
    engine.stop(10)
    assert [answer.result(0)[0].ids for answer in answers] == [one.source for one in different(30, 4)]
