"""From pairs of sentences to explanations: read and explained by the model, then words, maps, links, signals."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np

from app.answer_room import AnswerRoom
from app.attention.alignment import AlignmentRule, align
from app.attention.axes import TokenList, count_values
from app.attention.maps import AttentionMap, make_map
from app.attention.selection import AttentionDepths, ChosenMaps, Family, choose
from app.attention.signals import SignalWord, Thresholds, find_signals
from app.crew import Crew
from app.engine.step_model import ExplainModel, Explanation, Float32, HeadMasks
from app.errors import InvalidInput
from app.explanation import (
    ExplainedFinish,
    ExplainedSegment,
    ExplainedSide,
    ExplainedTarget,
    ExplainedText,
    ExplanationRequest,
    HeadMask,
    Prediction,
    Rival,
)
from app.reading_ahead import Reader, ReadingAhead, SourceIds
from app.text.offsets import OffsetConverter, OffsetUnit
from app.text.tokenizer import Tokenizer
from app.text.tokens import Token, TokenisedText, Word
from app.text.verbatim import Span


@dataclass(frozen=True)
class ExplainerSettings:
    """What holds for every request.

    Attributes:
        alignment: how word alignments read cross-attention.
        max_attention_values: most weights in one JSON answer; base64 and npz may hold 50 times as many.
        thresholds: of signals, by (source, target) language; a direction left out has the defaults.
        threads: how many sentences of one request are explained at the same time.
    """

    depths: AttentionDepths
    alignment: AlignmentRule
    max_attention_values: int
    thresholds: Mapping[tuple[str, str], Thresholds]
    threads: int = 1


@dataclass(frozen=True)
class Pair:
    """One sentence to explain; its spans are in code points, into the whole text of each side.

    ``source`` has no tokens where the sentence was copied; ``target`` is None for a source alone.
    """

    source_span: Span
    source: TokenisedText
    target_span: Span
    target: TokenisedText | None
    finish_reason: ExplainedFinish | None


@dataclass(frozen=True)
class TextPairs:
    """One text, its translation if there is one, and their sentences."""

    text: str
    target_text: str | None
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Asked:
    """A request that fits the model; ``wanted`` is None where nothing is to be explained."""

    wanted: ExplanationRequest | None
    chosen: ChosenMaps | None
    masks: HeadMasks | None
    thresholds: Thresholds


class Explainer:
    """Explains with one model; every method may run in any thread."""

    def __init__(self, tokenizer: Tokenizer, model: ExplainModel, settings: ExplainerSettings) -> None:
        self._tokenizer = tokenizer
        self._model = model
        self._settings = settings
        self._room = AnswerRoom(settings.max_attention_values)
        self._crew = Crew(settings.threads - 1)
        self._ahead = ReadingAhead(self._crew)

    def resolve(
        self, wanted: ExplanationRequest | None, head_mask: HeadMask | None, direction: tuple[str, str]
    ) -> Asked:
        """Makes a request definite for the model; ``direction`` is its (source, target) languages.

        Raises:
            InvalidInput: a layer or head that the model does not have, or a head mask of another shape.
        """
        selection = wanted.attention if wanted else None
        chosen = choose(selection, self._settings.depths, wanted.path) if wanted and selection else None
        masks = None if head_mask is None else self.masks(head_mask)
        return Asked(wanted, chosen, masks, self._settings.thresholds.get(direction, Thresholds()))

    def masks(self, head_mask: HeadMask) -> HeadMasks:
        """Arrays for all families.

        Raises:
            InvalidInput: the numbers are not ``[layers][heads]``.
        """
        families: tuple[Family, ...] = ("encoder", "decoder", "cross")
        return HeadMasks(*(self._mask(family, head_mask.get(family)) for family in families))

    def _mask(self, family: Family, rows: Sequence[Sequence[float]] | None) -> Float32:
        depths = self._settings.depths
        expected = (depths.layers(family), depths.heads)
        if rows is None:
            return np.ones(expected, dtype=np.float32)
        if len(rows) != expected[0] or any(len(row) != expected[1] for row in rows):
            field, given = f"head_mask.{family}", " + ".join(str(len(row)) for row in rows)
            message = f"{field}: must be {expected[0]} layers of {expected[1]} heads, not {len(rows)} of {given}"
            raise InvalidInput(message, field=field, limit=list(expected), value=given)
        return np.array(rows, dtype=np.float32)

    def reading(self, sources: Sequence[SourceIds], asked: Asked) -> AbstractContextManager[Reader]:
        """Begins to read sources that will be explained; leaving the context abandons what was not begun by then."""
        return self._ahead.begin(partial(self._model.read, masks=asked.masks), sources)

    def explain(
        self,
        texts: Sequence[TextPairs],
        asked: Asked,
        read: Reader,
        check: Callable[[], None] = lambda: None,
    ) -> list[ExplainedText]:
        """Explains every sentence of every text, with sources as ``read`` gives them.

        ``check`` is called before each sentence, what it raises ends the work.

        Raises:
            TooLarge: more attention weights than an answer may hold; no sentence was explained.
        """
        assert asked.wanted is not None
        placed = [_place(text, asked.wanted.offset_unit) for text in texts]
        every = [segment for segments in placed for segment in segments]
        self._check_maps(asked, every)
        self._room.check_soft(asked.wanted, every)
        explained = iter(self._crew.map(lambda segment: self._explain(segment, asked, read), every, check))
        return [
            ExplainedText(
                text.text,
                text.target_text,
                tuple(islice(explained, len(segments))),
                asked.wanted,
                muted=asked.masks is not None,
            )
            for text, segments in zip(texts, placed, strict=True)
        ]

    def _check_maps(self, asked: Asked, segments: Iterable[ExplainedSegment]) -> None:
        assert asked.wanted is not None
        if (chosen := asked.chosen) is not None:
            read = [segment for segment in segments if segment.source.tokenised.tokens]
            values = sum(count_values(chosen, *_lists(segment)) for segment in read)
            self._room.check_maps(values, chosen.selection.format, asked.wanted.path.rstrip(".") or "families")

    def _explain(self, segment: ExplainedSegment, asked: Asked, read: Reader) -> ExplainedSegment:
        """``segment`` with everything that was asked for."""
        source_ids = tuple(token.id for token in segment.source.tokenised.tokens)
        if not source_ids:
            return segment
        source, fed = _lists(segment)
        read_source = read(source_ids)
        if segment.target is None:
            assert asked.chosen is not None
            family: Family = "encoder"
            return replace(segment, maps={family: make_map(family, read_source.encoder, asked.chosen, source, source)})
        produced = [token.id for token in segment.target.side.tokenised.tokens]
        explanation = self._model.explain(read_source, produced, asked.masks)
        assert fed is not None
        kept = segment.target.side.tokenised.kept
        fed_pieces = tuple(self._tokenizer.pieces([self._tokenizer.special_ids.bos, *produced[:-1]], kept))
        fed = replace(fed, pieces=fed_pieces)
        target = replace(segment.target, fed=fed_pieces, predictions=self._predictions(explanation, kept))
        explained = replace(segment, target=target, maps=_maps(explanation, asked.chosen, source, fed))
        return self._with_words(explained, explanation, asked)

    def _predictions(self, explanation: Explanation, kept: Sequence[str]) -> tuple[Prediction, ...]:
        rows = zip(
            explanation.log_probs.tolist(),
            explanation.rival_ids.tolist(),
            explanation.rival_log_probs.tolist(),
            explanation.entropy.tolist(),
            strict=True,
        )
        return tuple(
            Prediction(log_prob, tuple(map(Rival, self._tokenizer.pieces(ids, kept), ids, log_probs)), entropy)
            for log_prob, ids, log_probs, entropy in rows
        )

    def _with_words(self, segment: ExplainedSegment, explanation: Explanation, asked: Asked) -> ExplainedSegment:
        """Adds links and signals, which both go by words."""
        assert segment.target is not None
        assert asked.wanted is not None
        source, target = segment.source.tokenised.words, segment.target.side.tokenised.words
        alignment = align(
            explanation.cross,
            self._settings.alignment,
            [word.tokens for word in source],
            [word.tokens for word in target],
        )
        signals = find_signals(
            alignment,
            explanation.cross,
            explanation.log_probs,
            [SignalWord(word.text, word.span, word.tokens) for word in source],
            [SignalWord(word.text, word.span, word.tokens) for word in target],
            asked.thresholds,
        )
        return replace(segment, alignment=alignment if asked.wanted.alignment else None, signals=signals)


def _maps(
    explanation: Explanation, chosen: ChosenMaps | None, source: TokenList, fed: TokenList
) -> dict[Family, AttentionMap] | None:
    if chosen is None:
        return None
    weights: dict[Family, Float32] = {
        "encoder": explanation.encoder,
        "decoder": explanation.decoder,
        "cross": explanation.cross,
    }
    return {family: make_map(family, weights[family], chosen, source, fed) for family in chosen.layers}


def _lists(segment: ExplainedSegment) -> tuple[TokenList, TokenList | None]:
    """What the axes index: the encoder's pieces, and the decoder's, which are fed one step after they are written."""
    source = segment.source.tokenised
    tokens = source.tokens
    source_list = TokenList(
        "source.tokens",
        tuple(token.piece for token in tokens),
        tuple(token.word for token in tokens),
        tuple(word.text for word in source.words),
        tuple(token.special is not None for token in tokens),
    )
    if segment.target is None:
        return source_list, None
    target = segment.target.side.tokenised
    written = target.tokens[:-1]
    fed = TokenList(
        "target.fed",
        ("", *(token.piece for token in written)),
        (None, *(token.word for token in written)),
        tuple(word.text for word in target.words),
        (True, *(token.special is not None for token in written)),
    )
    return source_list, fed


def _place(text: TextPairs, unit: OffsetUnit) -> list[ExplainedSegment]:
    """The sentences with their spans in the whole text, in the unit asked for; nothing is explained yet."""
    in_source, in_target = OffsetConverter(text.text, unit), OffsetConverter(text.target_text or "", unit)
    segments = []
    for pair in text.pairs:
        source = _side(pair.source, pair.source_span, in_source)
        target = (
            None if pair.target is None else ExplainedTarget(_side(pair.target, pair.target_span, in_target), (), ())
        )
        segments.append(ExplainedSegment(pair.finish_reason, source, target, None, None, None))
    return segments


def _side(tokenised: TokenisedText, span: Span, convert: OffsetConverter) -> ExplainedSide:
    place = convert(span)
    if place == span and span[0] == 0:  # the text begins with it, and every character counts as one: nothing moves
        return ExplainedSide(place, tokenised)

    def moved(inner: Span) -> Span:
        return convert((inner[0] + span[0], inner[1] + span[0]))

    # Made anew instead of with ``replace``, which takes three times as long.
    tokens = (
        Token(token.piece, token.id, token.span and moved(token.span), token.word, token.special)
        for token in tokenised.tokens
    )
    words = (Word(word.text, moved(word.span), word.tokens) for word in tokenised.words)
    return ExplainedSide(place, TokenisedText(tokenised.text, tuple(tokens), tuple(words)))
