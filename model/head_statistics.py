"""What attention heads look at, over many sentences: pure functions of maps ``[head, query, key]``."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
_SMOOTHING = 1e-3


@dataclass(frozen=True)
class Counted:
    """Sums over queries, so that sentences add up; divided by ``queries`` they are means.

    Attributes:
        queries: how many rows were seen.
        entropy: ``[head]``, nats.
        confidence: ``[head]``, the largest weight of a row (Voita et al. 2019, section 4), special keys left out.
        special: ``[head]``, weight on special pieces, the delimiters of Clark et al. 2019, section 3.2.
        offsets: ``[head, 3]``, whether the largest weight is one to the left, on the query itself, one to the right.
        distance: ``[head, head]``, Jensen-Shannon divergence of two heads' rows (Clark et al. 2019, section 6), nats.
    """

    queries: int
    entropy: Array
    confidence: Array
    special: Array
    offsets: Array
    distance: Array

    def __add__(self, other: "Counted") -> "Counted":
        return Counted(
            self.queries + other.queries,
            self.entropy + other.entropy,
            self.confidence + other.confidence,
            self.special + other.special,
            self.offsets + other.offsets,
            self.distance + other.distance,
        )


def count(maps: npt.NDArray[np.float32], special_keys: Sequence[int]) -> Counted:
    """Counts one sentence's maps of one layer, ``[head, query, key]``."""
    weights = maps.astype(np.float64)
    _, queries, keys = weights.shape
    ordinary = np.ones(keys, dtype=bool)
    ordinary[list(special_keys)] = False
    peaks = weights.argmax(axis=2)
    positions = np.arange(queries)
    offsets = np.stack([(peaks == positions + step).sum(axis=1) for step in (-1, 0, 1)], axis=1)
    return Counted(
        queries,
        entropy(weights).sum(axis=1),
        weights[:, :, ordinary].max(axis=2, initial=0.0).sum(axis=1),
        weights[:, :, ~ordinary].sum(axis=(1, 2)),
        offsets.astype(np.float64),
        divergence(weights).sum(axis=2),
    )


def entropy(weights: Array) -> Array:
    """Of the last axis, in nats."""
    found: Array = -(weights * np.log(np.maximum(weights, 1e-12))).sum(axis=-1)
    return found


def divergence(weights: Array) -> Array:
    """Jensen-Shannon divergence of every two heads: ``[head, query, key]`` to ``[head, head, query]``, in nats.

    Weights are smoothed by 0.001 and normalised again, so that keys which a mask hides count for nothing.
    """
    smooth = weights + _SMOOTHING
    smooth /= smooth.sum(axis=-1, keepdims=True)
    middle = (smooth[:, None] + smooth[None, :]) / 2
    own = entropy(smooth)
    found: Array = entropy(middle) - (own[:, None] + own[None, :]) / 2
    return np.maximum(found, 0.0)


def role(counted: Counted, head: int) -> str:
    """What a head mostly does, by the rule of Voita et al. 2019, section 5.1, at a lower threshold.

    ``previous``, ``itself``, ``next``: its largest weight is there for at least 60 % of the queries;
    ``delimiter``: at least 60 % of its weight lies on special pieces; else empty.
    """
    shares = counted.offsets[head] / counted.queries
    best = int(shares.argmax())
    if shares[best] >= 0.6:
        return ("previous", "itself", "next")[best]
    return "delimiter" if counted.special[head] / counted.queries >= 0.6 else ""
