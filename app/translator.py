"""Text to translation: the whole path in reading order."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from app.attention.maps import AttentionDepths, AttentionMap, ChosenMaps, Family, choose, cut_maps
from app.engine.engine import Engine, EngineState, Sentence
from app.engine.hypotheses import Hypothesis, SearchOptions, target_room
from app.engine.step_model import ExplainModel
from app.errors import DeadlineExceeded, TooLarge
from app.text.normalise import normalise
from app.text.segments import is_translatable, join
from app.text.split import split
from app.text.tokenizer import Tokenizer
from app.translation import (
    Alternative,
    ModelInfo,
    Segment,
    SegmentText,
    TranslateRequest,
    TranslateResult,
    Translation,
    Usage,
)


@dataclass(frozen=True)
class TranslatorSettings:
    """What holds for every request.

    Attributes:
        directions: pairs of (source, target) languages.
        deadline_seconds: from a request's arrival to its answer.
    """

    directions: tuple[tuple[str, str], ...]
    beam_size: int
    length_penalty: float
    depths: AttentionDepths
    max_attention_values: int
    deadline_seconds: float


@dataclass(frozen=True)
class _Part:
    """One sentence of a text; ``source_ids`` is None where it is copied."""

    text: str
    span: tuple[int, int]
    source_ids: tuple[int, ...] | None


class Translator:
    """Normalise, split, tokenise, search, detokenise, join; explain where asked for."""

    def __init__(
        self,
        info: ModelInfo,
        settings: TranslatorSettings,
        tokenizer: Tokenizer,
        engine: Engine,
        explainer: ExplainModel,
    ) -> None:
        self._info = info
        self._settings = settings
        self._tokenizer = tokenizer
        self._engine = engine
        self._explainer = explainer

    def languages(self) -> tuple[tuple[str, str], ...]:
        """Pairs of (source, target)."""
        return self._settings.directions

    def info(self) -> ModelInfo:
        """What is being served."""
        return self._info

    def ready(self) -> bool:
        """Whether the engine takes requests now."""
        return self._engine.state is EngineState.READY

    async def translate(self, request: TranslateRequest) -> TranslateResult:
        """Translates every text of ``request``; cancelling the call frees its rows in the engine.

        Raises:
            InvalidInput: a layer or head that the model does not have.
            TooLarge: more sentences than the queue holds, or more attention weights than an answer may hold.
            QueueFull, NotReady, DeadlineExceeded, EngineFailed: from the engine.
        """
        chosen = choose(request.attention, self._settings.depths) if request.attention else None
        seconds = self._settings.deadline_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._translate(request, chosen)
        except TimeoutError:
            raise DeadlineExceeded(seconds) from None

    async def _translate(self, request: TranslateRequest, chosen: ChosenMaps | None) -> TranslateResult:
        """``translate`` without its deadline."""
        texts = [await asyncio.to_thread(self._read, text, request) for text in request.texts]
        hypotheses = iter(await self._decode([part for parts in texts for part in parts], request))
        found = [[next(hypotheses) if part.source_ids else [] for part in parts] for parts in texts]
        if chosen:
            self._check_attention_size(chosen, texts, found)
        pairs = zip(request.texts, texts, found, strict=True)
        translations = [await asyncio.to_thread(self._write, *pair, chosen) for pair in pairs]
        return TranslateResult(tuple(translations), _usage(request, translations, texts))

    def _read(self, text: str, request: TranslateRequest) -> list[_Part]:
        """Text to sentences to ids."""
        longest = self._engine.limits.source_len

        def encode(sentence: str) -> tuple[int, ...]:
            return tuple(self._tokenizer.encode_source(normalise(sentence), request.target))

        parts = []
        for sentence in split(text, request.source, lambda candidate: len(encode(candidate)) <= longest):
            ids = encode(sentence.text) if is_translatable(sentence.text) else None
            parts.append(_Part(sentence.text, sentence.span, ids))
        return parts

    async def _decode(self, parts: Sequence[_Part], request: TranslateRequest) -> list[list[Hypothesis]]:
        """Hypotheses of all parts that are not copied, in order."""
        sentences = [
            Sentence(part.source_ids, self._search_options(len(part.source_ids), request))
            for part in parts
            if part.source_ids
        ]
        answers = self._engine.submit(sentences, self._settings.deadline_seconds)
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

    def _check_attention_size(
        self, chosen: ChosenMaps, texts: Sequence[Sequence[_Part]], found: Sequence[Sequence[list[Hypothesis]]]
    ) -> None:
        limit = self._settings.max_attention_values
        values = 0
        for parts, results in zip(texts, found, strict=True):
            for part, hypotheses in zip(parts, results, strict=True):
                if part.source_ids:
                    values += chosen.count_values(len(part.source_ids), len(self._produced(hypotheses[0])))
        if values > limit:
            message = (
                f"the attention asked for has {values:,} values, an answer holds {limit:,}: choose layers or heads"
            )
            raise TooLarge(message, field="attention", limit=limit, value=values)

    def _write(
        self, text: str, parts: Sequence[_Part], found: Sequence[list[Hypothesis]], chosen: ChosenMaps | None
    ) -> Translation:
        """Hypotheses to text; the target's spans follow from joining.

        Where the model translates a sentence to nothing the sentence itself stands: no text is lost.
        """
        targets = [
            (self._tokenizer.decode(hypotheses[0].ids) if hypotheses else "") or part.text
            for part, hypotheses in zip(parts, found, strict=True)
        ]
        joined, spans = join(text, [part.span for part in parts], targets)
        segments = []
        for part, hypotheses, target, span in zip(parts, found, targets, spans, strict=True):
            if hypotheses and self._tokenizer.decode(hypotheses[0].ids):
                segments.append(self._segment(part, hypotheses, SegmentText(target, span, ()), chosen))
            else:
                segments.append(_copied(part, span))
        return Translation(joined, tuple(segments))

    def _segment(
        self, part: _Part, hypotheses: Sequence[Hypothesis], target: SegmentText, chosen: ChosenMaps | None
    ) -> Segment:
        assert part.source_ids is not None
        best = hypotheses[0]
        alternatives = (
            Alternative(self._tokenizer.decode(other.ids), other.log_prob, other.score) for other in hypotheses[1:]
        )
        return Segment(
            source=SegmentText(part.text, part.span, tuple(self._tokenizer.pieces(part.source_ids[1:-1]))),
            target=SegmentText(target.text, target.span, tuple(self._tokenizer.pieces(best.ids))),
            log_prob=best.log_prob,
            score=best.score,
            finish_reason=best.finish_reason,
            alternatives=tuple(alternatives),
            attention=self._explain(part.source_ids, best, chosen) if chosen else None,
        )

    def _explain(
        self, source_ids: Sequence[int], hypothesis: Hypothesis, chosen: ChosenMaps
    ) -> dict[Family, AttentionMap]:
        produced = self._produced(hypothesis)
        explanation = self._explainer.explain(source_ids, produced)
        fed = [self._tokenizer.special_ids.bos, *produced[:-1]]
        return cut_maps(explanation, chosen, self._tokenizer.pieces(source_ids), self._tokenizer.pieces(fed))

    def _produced(self, hypothesis: Hypothesis) -> list[int]:
        """Every id that the decoder produced, the end of sentence where there is one."""
        end = [self._tokenizer.special_ids.eos] if hypothesis.finish_reason == "eos" else []
        return [*hypothesis.ids, *end]


def _copied(part: _Part, span: tuple[int, int]) -> Segment:
    return Segment(
        source=SegmentText(part.text, part.span, ()),
        target=SegmentText(part.text, span, ()),
        log_prob=None,
        score=None,
        finish_reason="copied",
        alternatives=(),
        attention=None,
    )


def _usage(request: TranslateRequest, translations: Sequence[Translation], texts: Sequence[Sequence[_Part]]) -> Usage:
    """Pieces are counted without tag and end of sentence, as in ``segments``."""
    return Usage(
        characters=sum(map(len, request.texts)),
        source_pieces=sum(len(part.source_ids) - 2 for parts in texts for part in parts if part.source_ids),
        target_pieces=sum(len(segment.target.pieces) for each in translations for segment in each.segments),
    )
