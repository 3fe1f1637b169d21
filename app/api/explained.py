"""From explanations to answers: schema "attention/1"."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from app.api.attention_answers import (
    AlignmentAnswer,
    AttentionAnswer,
    AttentionMapsAnswer,
    ExplainedSegmentAnswer,
    ExplainedSourceAnswer,
    ExplainedTargetAnswer,
    ExplainingModelAnswer,
    LayersAnswer,
    LinkAnswer,
    MapAnswer,
    PredictedTokenAnswer,
    RivalAnswer,
    SignalAnswer,
    SignalsAnswer,
    SourceTokenAnswer,
    WordAnswer,
)
from app.api.attention_schemas import AlignmentOptions
from app.attention.alignment import Alignment
from app.attention.encodings import encode
from app.attention.maps import AttentionMap
from app.attention.selection import AttentionSelection
from app.attention.signals import CAPTION, Signals
from app.explanation import ExplainedSegment, ExplainedSide, ExplainedTarget, ExplainedText
from app.translation import ModelInfo

_DECIMALS = 4

Float32 = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Explained:
    """An answer, and the arrays that it only names where an archive was asked for."""

    answer: AttentionAnswer
    arrays: dict[str, Float32]


def explained_answer(text: ExplainedText, alignment: AlignmentOptions | None, info: ModelInfo) -> Explained:
    """``text`` in the words of the interface."""
    writer = _Writer(text, alignment)
    forced = any(segment.finish_reason in ("forced", None) for segment in text.segments)
    segments = [writer.segment(index, segment) for index, segment in enumerate(text.segments)]
    answer = AttentionAnswer(
        schema="attention/1",
        model=_model(info),
        graph="float32",
        translated_by=None if forced else "float32" if text.muted else info.precision,
        offset_unit=text.wanted.offset_unit,
        word_rule=text.word_rule,
        caption=CAPTION,
        target_text=text.target_text,
        segments=segments,
    )
    return Explained(answer, writer.arrays)


def _model(info: ModelInfo) -> ExplainingModelAnswer:
    architecture: dict[str, Any] = dict(info.architecture)
    return ExplainingModelAnswer(
        id=info.id,
        revision=info.revision,
        layers=LayersAnswer(encoder=architecture["encoder_layers"], decoder=architecture["decoder_layers"]),
        heads=architecture["heads"],
        norm=architecture["norm"],
        position=architecture["positions"],
        layer_kind="layer",
    )


class _Writer:
    """Writes the segments of one text; ``arrays`` collects what goes into an archive."""

    def __init__(self, text: ExplainedText, alignment: AlignmentOptions | None) -> None:
        self._selection = text.wanted.attention
        self._alignment = alignment or AlignmentOptions()
        self.arrays: dict[str, Float32] = {}

    def segment(self, index: int, segment: ExplainedSegment) -> ExplainedSegmentAnswer:
        name = f"s{index}"
        side, words = segment.source, _words(segment.source)
        tokens = [SourceTokenAnswer(**vars(token)) for token in side.tokenised.tokens]
        return ExplainedSegmentAnswer(
            id=name,
            finish_reason=segment.finish_reason,
            source=ExplainedSourceAnswer(text=side.tokenised.text, span=side.span, tokens=tokens, words=words),
            target=None if segment.target is None else _target(segment.target),
            attention=self._attention(name, segment),
            alignment=self._aligned(segment),
            signals=None if segment.signals is None else _signals(segment.signals),
            recased=segment.recased,
            kept=list(dict.fromkeys(side.tokenised.kept)),
        )

    def _attention(self, name: str, segment: ExplainedSegment) -> AttentionMapsAnswer | None:
        selection = self._selection
        if segment.maps is None or selection is None:
            return None
        return AttentionMapsAnswer(
            computed="teacher_forced",
            graph="float32",
            unit=selection.unit,
            special_tokens=selection.special_tokens,
            aggregate={"heads": selection.reduce_heads, "layers": selection.reduce_layers},
            maps={family: self._map(f"{name}/{family}", one, selection) for family, one in segment.maps.items()},
        )

    def _map(self, name: str, one: AttentionMap, selection: AttentionSelection) -> MapAnswer:
        layers, heads, queries, keys = one.values.shape
        form = selection.format
        assert form.encoding != "picture"
        binary = form.encoding != "json"
        return MapAnswer(
            axes=("layer", "head", "query", "key"),
            query="source.tokens" if one.family == "encoder" else "target.fed",
            key="target.fed" if one.family == "decoder" else "source.tokens",
            query_units=[list(group) for group in one.query.groups] if one.query is not None else None,
            key_units=[list(group) for group in one.key.groups] if one.key is not None else None,
            query_labels=list(one.query.labels) if one.query is not None else None,
            key_labels=list(one.key.labels) if one.key is not None else None,
            shape=(layers, heads, queries, keys),
            layers=list(one.layers),
            heads=list(one.heads),
            causal=one.family == "decoder",
            normalized=one.normalized,
            encoding=form.encoding,
            dtype=form.dtype if binary else None,
            byte_order="little" if binary else None,
            order="C" if binary else None,
            data=self._data(name, one.values, selection),
            hidden_mass=None
            if one.hidden_mass is None
            else self._data(f"{name}.hidden_mass", one.hidden_mass, selection),
        )

    def _data(self, name: str, values: Float32, selection: AttentionSelection) -> Any:
        if selection.format.encoding != "npz":
            return encode(values, selection.format)
        self.arrays[name] = values
        return name

    def _aligned(self, segment: ExplainedSegment) -> AlignmentAnswer | None:
        alignment: Alignment | None = segment.alignment
        if alignment is None or segment.target is None:
            return None
        source = [word.span for word in segment.source.tokenised.words]
        target = [word.span for word in segment.target.side.tokenised.words]
        forms = self._alignment
        return AlignmentAnswer(
            method=alignment.rule.name,
            layer=alignment.rule.layer,
            heads="mean",
            unit="word",
            links=[
                LinkAnswer(source=link.source, target=link.target, score=round(link.score, _DECIMALS))
                for link in alignment.links
            ],
            pharaoh=alignment.pharaoh() if forms.pharaoh else None,
            marian=alignment.marian() if forms.marian else None,
            azure=alignment.azure(source, target) if forms.azure else None,
            soft=np.round(alignment.soft.astype(np.float64), _DECIMALS).tolist() if forms.soft else None,
        )


def _target(target: ExplainedTarget) -> ExplainedTargetAnswer:
    side = target.side
    predicted = [
        PredictedTokenAnswer(
            **vars(token),
            logprob=round(one.log_prob, _DECIMALS),
            rivals=[
                RivalAnswer(piece=rival.piece, id=rival.id, logprob=round(rival.log_prob, _DECIMALS))
                for rival in one.rivals
            ],
            entropy=round(one.entropy, _DECIMALS),
        )
        for token, one in zip(side.tokenised.tokens, target.predictions, strict=True)
    ]
    return ExplainedTargetAnswer(
        text=side.tokenised.text, span=side.span, fed=list(target.fed), predicted=predicted, words=_words(side)
    )


def _words(side: ExplainedSide) -> list[WordAnswer]:
    return [WordAnswer(text=word.text, span=word.span, tokens=list(word.tokens)) for word in side.tokenised.words]


def _signals(signals: Signals) -> SignalsAnswer:
    return SignalsAnswer(
        mean_logprob=round(signals.mean_logprob, _DECIMALS),
        source_mass=[round(mass, _DECIMALS) for mass in signals.source_mass],
        ignored_source_words=[one.first for one in signals.found if one.kind == "ignored_source"],
        eos_mass=round(signals.eos_mass, _DECIMALS),
        found=[
            SignalAnswer(
                kind=one.kind,
                side=one.side,
                words=(one.first, one.last),
                span=one.span,
                value=round(one.value, _DECIMALS),
                threshold=one.threshold,
            )
            for one in signals.found
        ],
    )
