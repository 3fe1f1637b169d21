"""Sources are read while translations are decoded: who reads what, how much at a time, and an end."""

import asyncio
import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from app.crew import Crew
from app.engine.step_model import HeadMasks, ReadSource
from app.errors import DeadlineExceeded
from app.explanation import ExplanationRequest
from app.reading_ahead import ReadingAhead, SourceIds
from app.text.tokenizer import Tokenizer
from app.translation import TranslateRequest, TranslateResult
from app.translator import Translator, TranslatorSettings
from tests.scripted_world import INFO, SETTINGS, UniformExplainer, World, uniform

PATIENCE = 10
WANTED = ExplanationRequest(None, alignment=True)


class GatedReading:
    """Notes who reads which source; helpers get on only while the gate is open."""

    def __init__(self) -> None:
        self.by_helpers: list[SourceIds] = []
        self.by_callers: list[SourceIds] = []
        self.entered = threading.Semaphore(0)
        self.gate = threading.Event()

    def __call__(self, source_ids: SourceIds) -> ReadSource:
        if threading.current_thread().name.startswith("crew"):
            self.by_helpers.append(source_ids)
            self.entered.release()
            assert self.gate.wait(PATIENCE)
        else:
            self.by_callers.append(source_ids)
        if source_ids == (0,):
            raise RuntimeError("this source")
        return ReadSource(uniform(1, len(source_ids), len(source_ids)), (), ())

    def await_helpers(self, count: int) -> None:
        for _ in range(count):
            assert self.entered.acquire(timeout=PATIENCE)


@pytest.fixture
def reading() -> Iterator[GatedReading]:
    reading = GatedReading()
    yield reading
    reading.gate.set()


def test_what_a_helper_is_reading_is_waited_for_and_not_read_again(reading: GatedReading) -> None:
    with ReadingAhead(Crew(1)).begin(reading, [(4, 2), (4, 2)]) as read:
        reading.await_helpers(1)
        threading.Timer(0.02, reading.gate.set).start()
        assert [read((4, 2)).source_len for _ in range(2)] == [2, 2]
    assert (reading.by_helpers, reading.by_callers) == ([(4, 2)], [])


def test_what_no_helper_has_come_to_is_read_by_who_needs_it(reading: GatedReading) -> None:
    crew = Crew(1)
    held = crew.begin(reading, (9,))
    reading.await_helpers(1)
    with ReadingAhead(crew).begin(reading, [(4, 2)]) as read:
        assert read((4, 2)).source_len == 2
        assert read((4, 5, 2)).source_len == 3
    reading.gate.set()
    held.result(PATIENCE)
    assert (reading.by_helpers, reading.by_callers) == ([(9,)], [(4, 2), (4, 5, 2)])


def test_without_helpers_nothing_is_read_ahead(reading: GatedReading) -> None:
    with ReadingAhead(Crew(0)).begin(reading, [(4, 2)]) as read:
        assert reading.by_callers == []
        assert read((4, 2)).source_len == 2
    assert (reading.by_helpers, reading.by_callers) == ([], [(4, 2)])


def test_all_requests_together_read_ahead_as_many_as_there_are_helpers(reading: GatedReading) -> None:
    ahead = ReadingAhead(Crew(2))
    with ahead.begin(reading, [(4,), (5,), (6,)]), ahead.begin(reading, [(7,)]):
        reading.await_helpers(2)
        reading.gate.set()
    with ahead.begin(reading, [(8,), (9,)]):
        reading.await_helpers(2)
    assert sorted(reading.by_helpers) == [(4,), (5,), (8,), (9,)]


def test_who_leaves_leaves_nothing_to_begin(reading: GatedReading) -> None:
    crew = Crew(1)
    ahead, other = ReadingAhead(crew), ReadingAhead(crew)
    with ahead.begin(reading, [(4,)]):
        reading.await_helpers(1)
        with pytest.raises(TimeoutError), other.begin(reading, [(5,)]):
            raise TimeoutError
    reading.gate.set()
    crew.begin(reading, (6,)).result(PATIENCE)
    assert reading.by_helpers == [(4,), (6,)]


def test_a_fault_comes_to_who_needs_the_source(reading: GatedReading) -> None:
    reading.gate.set()
    ahead = ReadingAhead(Crew(1))
    with ahead.begin(reading, [(0,)]) as read:
        reading.await_helpers(1)
        with pytest.raises(RuntimeError, match="this source"):
            read((0,))
    with ahead.begin(reading, [(4,)]) as read:
        assert read((4,)).source_len == 1


class NotingExplainer(UniformExplainer):
    """Notes what was read, with which masks."""

    def __init__(self, world: World) -> None:
        super().__init__(world.model)
        self.read_sources: list[tuple[SourceIds, HeadMasks | None]] = []
        self.entered = threading.Event()

    def read(self, source_ids: Sequence[int], masks: HeadMasks | None = None) -> ReadSource:
        self.read_sources.append((tuple(source_ids), masks))
        self.entered.set()
        return super().read(source_ids, masks)


class Noting:
    """A translator with one helper, whose engine decodes only when the gate is open."""

    def __init__(self, tokenizer: Path, settings: TranslatorSettings = SETTINGS) -> None:
        pieces = Tokenizer(tokenizer)
        self.world = World(pieces, settings)
        self.explainer = NotingExplainer(self.world)
        self.gate = threading.Event()
        rule = self.world.model.rule
        self.world.model.rule = self._gated(rule)
        settings = dataclasses.replace(settings, explaining_threads=2)
        self.translator = Translator(INFO, settings, pieces, self.world.engine, self.explainer)

    def _gated(self, rule: Callable[..., object]) -> Callable[..., object]:
        def gated(*arguments: object) -> object:
            assert self.gate.wait(PATIENCE)
            return rule(*arguments)

        return gated

    def ids(self, text: str) -> SourceIds:
        return tuple(self.translator._tokenizer.encode_source(text, "fr"))

    async def translate(self, *texts: str, wanted: ExplanationRequest | None = WANTED) -> TranslateResult:
        return await self.translator.translate(TranslateRequest(texts, "en", "fr", explain=wanted))

    async def read_before_decoded(self, text: str) -> TranslateResult:
        self.gate.clear()
        self.explainer.entered.clear()
        translating = asyncio.create_task(self.translate(text))
        assert await asyncio.to_thread(self.explainer.entered.wait, PATIENCE)
        self.gate.set()
        return await translating


@pytest.fixture
def noting(tiny_tokenizer: Path) -> Iterator[Noting]:
    noting = Noting(tiny_tokenizer)
    yield noting
    noting.gate.set()
    noting.world.engine.stop(5)


def test_a_sentence_is_read_once_while_it_is_decoded(noting: Noting) -> None:
    (translation,) = asyncio.run(noting.read_before_decoded("The cat.")).translations
    assert translation.explained is not None
    assert translation.explained.segments[0].signals is not None
    assert noting.explainer.read_sources == [(noting.ids("The cat."), None)]


def test_every_sentence_is_read_once(noting: Noting) -> None:
    noting.gate.set()
    asyncio.run(noting.translate("The cat. A dog.", "Two birds."))
    expected = [(noting.ids(text), None) for text in ("The cat.", "A dog.", "Two birds.")]
    assert sorted(noting.explainer.read_sources, key=str) == sorted(expected, key=str)


def test_nothing_is_read_that_is_not_explained(noting: Noting) -> None:
    noting.gate.set()
    asyncio.run(noting.translate("The cat.", wanted=None))
    asyncio.run(noting.translate("-\n12"))
    assert noting.explainer.read_sources == []


def test_a_request_that_ends_gives_its_room_back(tiny_tokenizer: Path) -> None:
    noting = Noting(tiny_tokenizer, dataclasses.replace(SETTINGS, deadline_seconds=1.0))
    with pytest.raises(DeadlineExceeded):
        asyncio.run(noting.translate("The cat.", "A dog."))
    assert noting.explainer.read_sources == [(noting.ids("The cat."), None)]
    noting.gate.set()
    asyncio.run(noting.read_before_decoded("A dog."))
    noting.world.engine.stop(5)
