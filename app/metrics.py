"""What a monitoring system is told, without a word of its format."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.engine.counts import EngineCounts

Labels = tuple[tuple[str, str], ...]

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


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


@dataclass
class Spread:
    """Numbers, of which only the bucket is kept.

    Attributes:
        buckets: how many numbers were at most the bound of the same index, and above the one before; last, above all.
        total: their sum.
    """

    buckets: list[int] = field(default_factory=lambda: [0] * (len(_SECONDS) + 1))
    total: float = 0.0

    def add(self, number: float) -> None:
        """Counts one more."""
        self.buckets[bisect_left(_SECONDS, number)] += 1
        self.total += number


@dataclass(frozen=True)
class Histogram:
    """How long something took.

    Attributes:
        bounds: of the buckets, upper and inclusive, ascending, seconds.
        values: by labels.
    """

    name: str
    help: str
    bounds: tuple[float, ...]
    values: Mapping[Labels, Spread]


class AnsweredRequests:
    """Counts requests once they are answered. All that it is told of must come from one thread."""

    def __init__(self) -> None:
        self._requests: Counter[Labels] = Counter()
        self._seconds: dict[Labels, Spread] = {}

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Counts one; the values must be of a bounded number."""
        self._requests[(("route", route), ("method", method), ("status", str(status)))] += 1
        self._seconds.setdefault((("route", route),), Spread()).add(seconds)

    def metrics(self) -> tuple[Metric, Histogram]:
        """What was counted so far."""
        return (
            Metric("vitrail_requests_total", "counter", "Requests answered; 499: the client had left.", self._requests),
            Histogram(
                "vitrail_request_duration_seconds",
                "From the arrival of a request to the end of its answer, streams included.",
                _SECONDS,
                self._seconds,
            ),
        )


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
