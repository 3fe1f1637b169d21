"""Sentences of one request explained at the same time, through the whole translator."""

import asyncio
import dataclasses
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from app.engine.step_model import Explanation, HeadMasks, ReadSource
from app.errors import DeadlineExceeded
from app.explanation import ExplanationRequest
from app.text.tokenizer import Tokenizer
from app.translation import TranslateRequest, TranslateResult
from app.translator import Translator, TranslatorSettings
from tests.scripted_world import INFO, SETTINGS, UniformExplainer, World

THREADS = 3
SENTENCES = 12
WANTED = ExplanationRequest(None, alignment=True)


class WatchedExplainer(UniformExplainer):
    """Counts passes; ``seconds`` is how long one takes, ``bad`` which of them (by length of its source) fails."""

    def __init__(self, world: World) -> None:
        super().__init__(world.model)
        self.seconds = 0.005
        self.bad = 0
        self.passes = self.running = self.most = 0
        self._lock = threading.Lock()

    def explain(self, read: ReadSource, target_ids: Sequence[int], masks: HeadMasks | None = None) -> Explanation:
        with self._lock:
            self.passes += 1
            self.running += 1
            self.most = max(self.most, self.running)
        try:
            time.sleep(self.seconds)
            if read.source_len == self.bad:
                raise RuntimeError("this pair")
            return super().explain(read, target_ids, masks)
        finally:
            with self._lock:
                self.running -= 1


class Watched:
    """A translator that explains three sentences at once, and its explainer."""

    def __init__(self, tokenizer: Path, settings: TranslatorSettings = SETTINGS) -> None:
        pieces = Tokenizer(tokenizer)
        self.world = World(pieces, settings)
        self.explainer = WatchedExplainer(self.world)
        settings = dataclasses.replace(settings, explaining_threads=THREADS)
        self.translator = Translator(INFO, settings, pieces, self.world.engine, self.explainer)

    async def translate(self, *texts: str) -> TranslateResult:
        return await self.translator.translate(TranslateRequest(texts, "en", "fr", explain=WANTED))


@pytest.fixture
def watched(tiny_tokenizer: Path) -> Iterator[Watched]:
    watched = Watched(tiny_tokenizer)
    yield watched
    watched.world.engine.stop(5)


def texts_of(result: TranslateResult) -> list[list[str]]:
    explained = [translation.explained for translation in result.translations]
    return [[segment.source.tokenised.text for segment in one.segments] for one in explained if one]


def test_every_text_gets_its_own_sentences_in_order(watched: Watched) -> None:
    texts = [f"The cat {number}. \n-\n The dog {number} sleeps." for number in range(SENTENCES)]
    found = texts_of(asyncio.run(watched.translate(*texts)))
    assert found == [[f"The cat {number}.", "-", f"The dog {number} sleeps."] for number in range(SENTENCES)]
    assert watched.explainer.most == THREADS


def test_however_many_ask_threads_are_bounded(watched: Watched) -> None:
    async def scenario() -> list[TranslateResult]:
        return await asyncio.gather(
            *(watched.translate(*[f"The cat {one} {two}." for one in range(6)]) for two in range(5))
        )

    for number, result in enumerate(asyncio.run(scenario())):
        assert texts_of(result) == [[f"The cat {one} {number}."] for one in range(6)]
    # Two requests are explained at once, in their own threads, and share the two helpers.
    assert watched.explainer.most <= 2 + THREADS - 1


def test_one_pair_that_fails_ends_the_request_and_no_more(watched: Watched) -> None:
    tokenizer = watched.world.translator._tokenizer
    watched.explainer.bad = len(tokenizer.encode_source("The old dog sleeps here again.", "fr"))
    with pytest.raises(RuntimeError, match="this pair"):
        asyncio.run(watched.translate("The old dog sleeps here again.", *["The cat."] * 25))
    assert watched.explainer.running == 0
    assert watched.explainer.passes <= 2 * THREADS
    assert texts_of(asyncio.run(watched.translate("The cat.", "A dog."))) == [["The cat."], ["A dog."]]


def test_the_deadline_ends_all_threads(tiny_tokenizer: Path) -> None:
    watched = Watched(tiny_tokenizer, dataclasses.replace(SETTINGS, deadline_seconds=0.5))
    watched.explainer.seconds = 0.2
    with pytest.raises(DeadlineExceeded):
        asyncio.run(watched.translate(*["The cat."] * 29))
    passes = watched.explainer.passes
    assert 1 <= passes <= 4 * THREADS
    time.sleep(0.3)
    assert (watched.explainer.running, watched.explainer.passes) == (0, passes)
    watched.world.engine.stop(5)


def test_a_short_request_does_not_wait_for_long_ones(watched: Watched) -> None:
    watched.explainer.seconds = 0.05

    async def scenario() -> list[bool]:
        long = [
            asyncio.create_task(watched.translate(*[f"The cat {one} {two}." for one in range(9)])) for two in range(3)
        ]
        while not watched.explainer.passes:
            await asyncio.sleep(0.001)
        await watched.translate("The cat sleeps.")
        done = [task.done() for task in long]
        await asyncio.gather(*long)
        return done

    assert asyncio.run(scenario()).count(False) >= 2
