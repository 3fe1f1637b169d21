"""The data of a translation: what is asked for and what is answered."""

from dataclasses import dataclass, replace
from typing import Literal

from app.attention.alignment import RuleName
from app.engine.hypotheses import FinishReason
from app.explanation import ExplainedText, ExplanationRequest, HeadMask
from app.text.kept import KeptPart
from app.text.offsets import OffsetConverter, OffsetUnit

SegmentFinish = FinishReason | Literal["copied"]


@dataclass(frozen=True)
class TranslateRequest:
    """One or more texts to translate in one direction.

    Attributes:
        offset_unit: what the spans of the answer count.
        explain: what to say about each sentence beside its translation; None for nothing, which costs nothing.
        head_mask: heads to mute while translating and explaining: slow, in float32; None for none.
    """

    texts: tuple[str, ...]
    source: str
    target: str
    beam_size: int | None = None
    length_penalty: float | None = None
    alternatives: int = 0
    offset_unit: OffsetUnit = "codepoint"
    explain: ExplanationRequest | None = None
    head_mask: HeadMask | None = None


@dataclass(frozen=True)
class SegmentText:
    """One side of a segment. ``span`` is half-open, in the unit asked for, into the whole text of that side."""

    text: str
    span: tuple[int, int]
    pieces: tuple[str, ...]


@dataclass(frozen=True)
class Alternative:
    """Another hypothesis."""

    text: str
    log_prob: float
    score: float


@dataclass(frozen=True)
class Segment:
    """One sentence and its translation.

    ``finish_reason`` is ``copied`` where there is nothing to translate (no letter in any script besides what is kept,
    or most words in letters that the model does not know) or the model translated it to nothing: the text stands
    unchanged, without pieces, log_prob and score. ``recased``: the sentence stands in capitals, the model read it in
    small letters and its translation was raised to capitals; the pieces of both sides are those in small letters.
    ``kept``: parts of the sentence, in order, that the model did not read but only placed, each as one piece.
    """

    source: SegmentText
    target: SegmentText
    log_prob: float | None
    score: float | None
    finish_reason: SegmentFinish
    alternatives: tuple[Alternative, ...]
    recased: bool = False
    kept: tuple[KeptPart, ...] = ()


@dataclass(frozen=True)
class Translation:
    """One text of a request, translated; ``explained`` has the same segments, None if not asked for."""

    text: str
    segments: tuple[Segment, ...]
    explained: ExplainedText | None = None


@dataclass(frozen=True)
class Usage:
    """What a request cost."""

    characters: int
    source_pieces: int
    target_pieces: int


@dataclass(frozen=True)
class TranslateResult:
    """The answer to a request: one translation per text, in order."""

    translations: tuple[Translation, ...]
    usage: Usage


@dataclass(frozen=True)
class ModelInfo:
    """What is being served and how.

    ``precision`` and ``provider`` are those in use; ``architecture`` and ``limits`` are the model's sizes.
    ``alignment_rule`` says how alignments read the decoder layer ``alignment_layer``; ``alignment_measured`` whether
    the model's maker has chosen both by measuring, or the last layer is read for want of that. ``signals`` is from
    where on hints are given and how far they can be trusted, ``analysis`` what the heads do; each None where it was
    not measured.
    """

    id: str
    revision: str
    precision: str
    provider: str
    threads: int
    architecture: dict[str, int | str]
    limits: dict[str, int]
    certificate: dict[str, object]
    alignment_layer: int = 0
    alignment_rule: RuleName = "predicted"
    alignment_measured: bool = False
    signals: dict[str, object] | None = None
    analysis: dict[str, object] | None = None


def in_unit(unit: OffsetUnit, text: str, translation: Translation) -> Translation:
    """``translation`` with the spans of its segments, until now in code points, in ``unit``."""
    if unit == "codepoint":
        return translation
    in_source, in_target = OffsetConverter(text, unit), OffsetConverter(translation.text, unit)
    segments = (
        replace(
            segment,
            source=replace(segment.source, span=in_source(segment.source.span)),
            target=replace(segment.target, span=in_target(segment.target.span)),
        )
        for segment in translation.segments
    )
    return replace(translation, segments=tuple(segments))
