"""What a client gets back."""

from pydantic import BaseModel, Field

from app.api.attention_answers import KEPT, RECASED, AttentionAnswer
from app.api.attention_schemas import AlignmentOptions, OffsetUnit
from app.api.explained import explained_answer
from app.translation import (
    Alternative,
    ModelInfo,
    Segment,
    SegmentFinish,
    SegmentText,
    TranslateRequest,
    TranslateResult,
)

# Beyond this many decimals a float32 probability is noise.
_DECIMALS = 6


class AlternativeAnswer(BaseModel):
    """Another hypothesis of the search."""

    text: str = Field(description="The translation.")
    log_prob: float = Field(description="Natural logarithm of its probability.")
    score: float = Field(description="`log_prob` after the length penalty: what hypotheses are ranked by.")


class SegmentTextAnswer(BaseModel):
    """One side of a segment."""

    text: str = Field(description="The sentence.")
    span: tuple[int, int] = Field(
        description="Where it stands in the whole text of its side: half-open, in `offset_unit`."
    )
    pieces: list[str] = Field(description="The subwords that the model reads or writes; `▁` begins a word.")


class SegmentAnswer(BaseModel):
    """One sentence and its translation."""

    source: SegmentTextAnswer = Field(description="The sentence in the request's text.")
    target: SegmentTextAnswer = Field(description="The sentence in the translation.")
    log_prob: float | None = Field(description="Natural logarithm of the probability of the target; null if copied.")
    score: float | None = Field(description="`log_prob` after the length penalty; null if copied.")
    finish_reason: SegmentFinish = Field(
        description="`eos`: complete; `length`: cut at the limit; `copied`: nothing to translate, or no words."
    )
    alternatives: list[AlternativeAnswer] = Field(description="As many as were asked for, best first.")
    recased: bool = Field(description=RECASED)
    kept: list[str] = Field(description=KEPT)


class TranslationAnswer(BaseModel):
    """One text, translated."""

    text: str = Field(
        description="The translation, with the line breaks of the request's text and its white space between sentences."
    )
    source: str = Field(description="Language of the request's text.")
    target: str = Field(description="Language of the translation.")
    segments: list[SegmentAnswer] = Field(description="The sentences, in order.")
    attention: AttentionAnswer | None = Field(
        description="The same as `/attention` answers, with the same sentences; null if neither `attention` nor "
        "`alignment` was asked for."
    )


class ModelAnswer(BaseModel):
    """The model that translated."""

    id: str = Field(description="Name of the model.")
    revision: str = Field(description="Changes whenever the model's files do.")
    precision: str = Field(description="Number format of the weights in use.")
    provider: str = Field(description="ONNX Runtime execution provider in use.")


class UsageAnswer(BaseModel):
    """What a request cost."""

    characters: int = Field(description="Code points in all its texts.")
    source_pieces: int = Field(description="Subwords read.")
    target_pieces: int = Field(description="Subwords written.")


class TranslateAnswer(BaseModel):
    """Translations in the order of the texts."""

    translations: list[TranslationAnswer] = Field(description="One for each text.")
    model: ModelAnswer = Field(description="The model that translated.")
    usage: UsageAnswer = Field(description="What the request cost.")
    offset_unit: OffsetUnit = Field(description="What all spans count.")


def translate_answer(
    request: TranslateRequest, result: TranslateResult, info: ModelInfo, alignment: AlignmentOptions | None = None
) -> TranslateAnswer:
    """``result`` in the words of the interface."""
    precision = info.precision if request.head_mask is None else "float32"
    return TranslateAnswer(
        translations=[
            TranslationAnswer(
                text=translation.text,
                source=request.source,
                target=request.target,
                segments=[_segment(segment) for segment in translation.segments],
                attention=None
                if translation.explained is None
                else explained_answer(translation.explained, alignment, info).answer,
            )
            for translation in result.translations
        ],
        model=ModelAnswer(id=info.id, revision=info.revision, precision=precision, provider=info.provider),
        usage=UsageAnswer(
            characters=result.usage.characters,
            source_pieces=result.usage.source_pieces,
            target_pieces=result.usage.target_pieces,
        ),
        offset_unit=request.offset_unit,
    )


def _segment(segment: Segment) -> SegmentAnswer:
    return SegmentAnswer(
        source=_segment_text(segment.source),
        target=_segment_text(segment.target),
        log_prob=_rounded(segment.log_prob),
        score=None if segment.score is None else _significant(segment.score),
        finish_reason=segment.finish_reason,
        alternatives=[_alternative(alternative) for alternative in segment.alternatives],
        recased=segment.recased,
        kept=list(dict.fromkeys(part.text for part in segment.kept)),
    )


def _segment_text(side: SegmentText) -> SegmentTextAnswer:
    return SegmentTextAnswer(text=side.text, span=side.span, pieces=list(side.pieces))


def _alternative(alternative: Alternative) -> AlternativeAnswer:
    return AlternativeAnswer(
        text=alternative.text,
        log_prob=round(alternative.log_prob, _DECIMALS),
        score=_significant(alternative.score),
    )


def _significant(score: float) -> float:
    """Hypotheses are ranked by it, and a high length penalty makes it tiny."""
    return float(f"{score:.{_DECIMALS}g}")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DECIMALS)
