"""What a monitoring system is told, without a word of its format."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from app.engine.counts import EngineCounts

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Metric:
    """One or more numbers of one meaning.

    Attributes:
        kind: a ``counter`` only grows while the process lives; a ``gauge`` is of the moment.
        values: by labels, pairs of name and value; no labels where there is one number.
    """

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    values: Mapping[Labels, int]


def engine_metrics(counts: EngineCounts) -> tuple[Metric, ...]:
    """An engine's counts."""
    positions: dict[Labels, int] = {
        (("part", part), ("kind", kind)): count
        for part, both in counts.positions.items()
        for kind, count in (("real", both.real), ("padding", both.padding))
    }
    return (
        Metric("vitrail_sentences_total", "counter", "Sentences taken to be decoded.", {(): counts.sentences}),
        Metric(
            "vitrail_shared_sentences_total",
            "counter",
            "Sentences that got what an equal one, in flight at the same time, was decoded to.",
            {(): counts.shared},
        ),
        Metric(
            "vitrail_positions_total",
            "counter",
            "Source positions given to the encoder, and per row and step to the decoder's cross-attention; padding are "
            "those that only fill.",
            positions,
        ),
        Metric("vitrail_waiting_sentences", "gauge", "Sentences that wait to be decoded.", {(): counts.waiting}),
        Metric("vitrail_rows", "gauge", "Rows, sentences times beam size, being decoded.", {(): counts.rows}),
    )
