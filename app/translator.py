"""Text to translation: the whole path in reading order."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from app.abandonable import Abandonable, Check
from app.attention.alignment import AlignmentRule
from app.attention.selection import AttentionDepths
from app.attention.signals import Thresholds
from app.engine.engine import Engine, EngineState
from app.engine.hypotheses import Hypothesis, SearchOptions, target_room
from app.engine.step_model import ExplainModel
from app.engine.tickets import Sentence
from app.errors import DeadlineExceeded, NotReady
from app.explainer import Asked, Explainer, ExplainerSettings, TextPairs
from app.explanation import ExplainedText, ExplainRequest
from app.lanes import Lanes, is_long
from app.muted_search import MutedSearch
from app.pairing import pair_texts
from app.places import Places
from app.reading import Part, read_text
from app.reading_ahead import Reader
from app.streaming import Place, Tell, Watch
from app.text.tokenizer import Tokenizer
from app.translation import ModelInfo, TranslateRequest, TranslateResult, Translation, Usage, in_unit
from app.writing import Writer, usage_of

T = TypeVar("T")

# Of either kind one request is explained at a time; its sentences are shared out over threads.
_SHORT_REQUEST_SENTENCES = 4
MOST_EXPLAINED = 64
"""Requests for explanations that are inside, nearly all of them waiting for their turn."""
MOST_READ = 64
"""The same of requests whose long texts are read."""


@dataclass(frozen=True)
class TranslatorSettings:
    """What holds for every request.

    Attributes:
        directions: pairs of (source, target) languages.
        deadline_seconds: from a request's arrival to its answer.
        alignment: how word alignments read cross-attention.
        thresholds: of signals, for the directions in which they were measured.
        explaining_threads: how many sentences of one request are explained at the same time.
    """

    directions: tuple[tuple[str, str], ...]
    beam_size: int
    length_penalty: float
    depths: AttentionDepths
    max_attention_values: int
    deadline_seconds: float
    alignment: AlignmentRule
    thresholds: Mapping[tuple[str, str], Thresholds] = field(default_factory=dict)
    explaining_threads: int = 1


class Translator:
    """Normalise, split, tokenise, search, detokenise, join; explain where asked for."""

    def __init__(
        self,
        info: ModelInfo,
        settings: TranslatorSettings,
        tokenizer: Tokenizer,
        engine: Engine,
        explain_model: ExplainModel,
    ) -> None:
        self._info = info
        self._settings = settings
        self._tokenizer = tokenizer
        self._engine = engine
        self._writer = Writer(tokenizer, engine.limits.target_len)
        self._muted = MutedSearch(explain_model, engine)
        self._lanes = Lanes()
        self._read = Places(MOST_READ, "long texts")
        self._explaining_short, self._explaining_long = Abandonable(1), Abandonable(1)
        self._explained = Places(MOST_EXPLAINED, "explanations")
        explaining = ExplainerSettings(
            settings.depths,
            settings.alignment,
            settings.max_attention_values,
            settings.thresholds,
            settings.explaining_threads,
        )
        self._explainer = Explainer(tokenizer, explain_model, explaining)

    def languages(self) -> tuple[tuple[str, str], ...]:
        """Pairs of (source, target)."""
        return self._settings.directions

    def info(self) -> ModelInfo:
        """What is being served."""
        return self._info

    def ready(self) -> bool:
        """Whether the engine takes requests now."""
        return self._engine.state is EngineState.READY

    def _check_ready(self) -> None:
        """What does not go through the engine is refused when the engine refuses."""
        if not self.ready():
            raise NotReady(f"the engine is {self._engine.state.value}")

    async def translate(self, request: TranslateRequest, tell: Tell | None = None) -> TranslateResult:
        """Translates every text of ``request``; cancelling the call frees its rows in the engine.

        ``tell`` is called on the event loop while the engine decodes; not where heads are switched off.

        Raises:
            InvalidInput: a layer or head that the model does not have.
            TooLarge: more sentences than the queue holds, or more attention weights than an answer may hold.
            QueueFull, NotReady, DeadlineExceeded, EngineFailed: from the engine.
        """
        asked = self._explainer.resolve(request.explain, request.head_mask, (request.source, request.target))
        self._check_ready()
        with self._explained.one() if asked.wanted else nullcontext():
            async with self._deadline():
                return await self._translate(request, asked, tell)

    async def explain(self, request: ExplainRequest) -> ExplainedText:
        """Explains a text alone, with the model's own translation, or with the one given.

        Raises:
            InvalidInput: as ``translate``; or the sentences of text and translation cannot be paired.
            TooLarge, QueueFull, NotReady, DeadlineExceeded, EngineFailed: as ``translate``.
        """
        selection = request.wanted.attention
        only_source = selection is not None and selection.families == ("encoder",) and not request.wanted.alignment
        if request.target_text is None and not only_source:
            result = await self.translate(_translation_of(request))
            explained = result.translations[0].explained
            assert explained is not None
            return explained
        self._check_ready()
        asked = self._explainer.resolve(request.wanted, request.head_mask, (request.source, request.target))
        with self._explained.one():
            return await self._explain_pair(request, asked)

    async def _explain_pair(self, request: ExplainRequest, asked: Asked) -> ExplainedText:
        async with self._deadline():
            characters = len(request.text) + len(request.target_text or "")
            pairs = await self._reading(characters, partial(pair_texts, request, self._tokenizer, self._engine.limits))
            with self._explainer.reading([], asked) as read:
                return (await self._explain([pairs], len(pairs.pairs), asked, read))[0]

    @asynccontextmanager
    async def _deadline(self) -> AsyncIterator[None]:
        seconds = self._settings.deadline_seconds
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            raise DeadlineExceeded(seconds) from None

    async def _explain(
        self, texts: Iterable[TextPairs], sentences: int, asked: Asked, read: Reader
    ) -> list[ExplainedText]:
        """``texts`` may take half a millisecond a sentence: they are made where others do not wait for them."""

        def work(check: Check) -> list[ExplainedText]:
            made = []
            for text in texts:
                check()
                made.append(text)
            return self._explainer.explain(made, asked, read, check)

        is_short = sentences <= _SHORT_REQUEST_SENTENCES
        return await (self._explaining_short if is_short else self._explaining_long).run(work)

    async def _translate(self, request: TranslateRequest, asked: Asked, tell: Tell | None) -> TranslateResult:
        """``translate`` without its deadline."""
        languages, longest = (request.source, request.target), self._engine.limits.longest_whole
        characters = sum(map(len, request.texts))

        def read_all() -> list[list[Part]]:
            return [read_text(text, languages, self._tokenizer, longest) for text in request.texts]

        texts = await self._reading(characters, read_all)
        watch = Watch(tell, self._tokenizer, _places(texts)) if tell else None
        every = [part for parts in texts for part in parts]
        ahead = [part.source_ids for part in every if part.source_ids] if asked.wanted else []
        with self._explainer.reading(ahead, asked) as read:
            hypotheses = iter(await self._decode(every, request, asked, watch))
            found = [[next(hypotheses) if part.source_ids else [] for part in parts] for parts in texts]
            work = partial(self._write, request, texts, found)
            translations, usage = await self._lanes.run(characters * (1 + request.alternatives), work)
            if asked.wanted is not None:
                written = tuple(zip(request.texts, translations, found, strict=True))
                pairs = (self._writer.pairs(request, *one) for one in written)
                explained = await self._explain(pairs, len(every), asked, read)
                translations = [
                    replace(translation, explained=one)
                    for translation, one in zip(translations, explained, strict=True)
                ]
        if request.offset_unit != "codepoint":
            place = partial(map, partial(in_unit, request.offset_unit), request.texts, translations)
            translations = await self._lanes.run(characters, lambda: list(place()))
        return TranslateResult(tuple(translations), usage)

    async def _reading(self, characters: int, work: Callable[[], T]) -> T:
        with self._read.one() if is_long(characters) else nullcontext():
            return await self._lanes.run(characters, work)

    def _write(
        self, request: TranslateRequest, texts: Sequence[Sequence[Part]], found: Sequence[list[list[Hypothesis]]]
    ) -> tuple[list[Translation], Usage]:
        pairs = zip(request.texts, texts, found, strict=True)
        translations = [self._writer.translation(*pair) for pair in pairs]
        return translations, usage_of(request, translations, texts)

    async def _decode(
        self, parts: Sequence[Part], request: TranslateRequest, asked: Asked, watch: Watch | None
    ) -> list[list[Hypothesis]]:
        """Hypotheses of all parts that are not copied, in order."""
        sentences = [
            Sentence(part.source_ids, self._search_options(len(part.source_ids), request))
            for part in parts
            if part.source_ids
        ]
        if asked.masks is not None:
            return await self._muted.search(sentences, asked.masks)
        answers = self._engine.submit(sentences, self._settings.deadline_seconds, watch.decided if watch else None)
        if watch:
            watch.follow(answers)
        try:
            return list(await asyncio.gather(*map(asyncio.wrap_future, answers)))
        finally:
            # Where one sentence failed nobody waits for the others: their rows are free at the next step.
            for answer in answers:
                answer.cancel()

    def _search_options(self, source_len: int, request: TranslateRequest) -> SearchOptions:
        settings = self._settings
        penalty = settings.length_penalty if request.length_penalty is None else request.length_penalty
        return SearchOptions(
            beam_size=request.beam_size or settings.beam_size,
            length_penalty=penalty,
            alternatives=request.alternatives,
            target_len=target_room(source_len, self._engine.limits.target_len),
        )


def _places(texts: Sequence[Sequence[Part]]) -> list[Place]:
    """Of every sentence."""
    return [
        Place(i, j, part.recased, not part.source_ids, part.text, part.kept)
        for i, parts in enumerate(texts)
        for j, part in enumerate(parts)
    ]


def _translation_of(request: ExplainRequest) -> TranslateRequest:
    return TranslateRequest(
        (request.text,), request.source, request.target, explain=request.wanted, head_mask=request.head_mask
    )
