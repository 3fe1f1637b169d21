"""What a client gets back."""

from typing import Literal

import numpy as np
from pydantic import BaseModel, Field

from app.attention.maps import AttentionMap, Family
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
        description="Where it stands in the whole text of its side: half-open, counted in code points."
    )
    pieces: list[str] = Field(description="The subwords that the model reads or writes; `▁` begins a word.")


class AttentionMapAnswer(BaseModel):
    """The weights of one family: how much each query looks at each key; every row sums to 1."""

    axes: tuple[Literal["layer"], Literal["head"], Literal["query"], Literal["key"]] = Field(
        description="What the four axes of `values` stand for."
    )
    shape: tuple[int, int, int, int] = Field(description="Length of each axis.")
    layers: list[int] = Field(description="Number of the layer at each index of the first axis.")
    heads: list[int] = Field(description="Number of the head at each index of the second axis.")
    query: list[str] = Field(description="Pieces that look. Those of a decoder are the pieces fed: row i predicts i+1.")
    key: list[str] = Field(description="Pieces that are looked at.")
    values: list[list[list[list[float]]]] = Field(description=f"The weights, rounded to {_DECIMALS} decimals.")


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
    attention: dict[Family, AttentionMapAnswer] | None = Field(
        description="The maps asked for, by family; null if none were asked for or the sentence was copied."
    )


class TranslationAnswer(BaseModel):
    """One text, translated."""

    text: str = Field(description="The translation, with the white space and line breaks of the request's text.")
    source: str = Field(description="Language of the request's text.")
    target: str = Field(description="Language of the translation.")
    segments: list[SegmentAnswer] = Field(description="The sentences, in order.")


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


def translate_answer(request: TranslateRequest, result: TranslateResult, info: ModelInfo) -> TranslateAnswer:
    """``result`` in the words of the interface."""
    return TranslateAnswer(
        translations=[
            TranslationAnswer(
                text=translation.text,
                source=request.source,
                target=request.target,
                segments=[_segment(segment) for segment in translation.segments],
            )
            for translation in result.translations
        ],
        model=ModelAnswer(id=info.id, revision=info.revision, precision=info.precision, provider=info.provider),
        usage=UsageAnswer(
            characters=result.usage.characters,
            source_pieces=result.usage.source_pieces,
            target_pieces=result.usage.target_pieces,
        ),
    )


def _segment(segment: Segment) -> SegmentAnswer:
    attention = segment.attention
    return SegmentAnswer(
        source=_segment_text(segment.source),
        target=_segment_text(segment.target),
        log_prob=_rounded(segment.log_prob),
        score=_rounded(segment.score),
        finish_reason=segment.finish_reason,
        alternatives=[_alternative(alternative) for alternative in segment.alternatives],
        attention=None if attention is None else {family: _map(weights) for family, weights in attention.items()},
    )


def _segment_text(side: SegmentText) -> SegmentTextAnswer:
    return SegmentTextAnswer(text=side.text, span=side.span, pieces=list(side.pieces))


def _alternative(alternative: Alternative) -> AlternativeAnswer:
    return AlternativeAnswer(
        text=alternative.text,
        log_prob=round(alternative.log_prob, _DECIMALS),
        score=round(alternative.score, _DECIMALS),
    )


def _map(weights: AttentionMap) -> AttentionMapAnswer:
    layers, heads, queries, keys = weights.values.shape
    return AttentionMapAnswer(
        axes=("layer", "head", "query", "key"),
        shape=(layers, heads, queries, keys),
        layers=list(weights.layers),
        heads=list(weights.heads),
        query=list(weights.query),
        key=list(weights.key),
        # As float64, since float32 cannot hold a number of six decimals and would print more of them.
        values=np.round(weights.values.astype(np.float64), _DECIMALS).tolist(),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DECIMALS)
