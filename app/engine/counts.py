"""What an engine has done: numbers that only grow, but for those of the moment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Part = Literal["encoder", "decoder_cross"]
PARTS: tuple[Part, ...] = ("encoder", "decoder_cross")


@dataclass(frozen=True)
class Positions:
    """Positions that the model's graphs were given.

    Attributes:
        real: those that hold a piece of the row's sentence.
        padding: those that make up for shorter sentences or rows.
    """

    real: int = 0
    padding: int = 0

    def __add__(self, other: "Positions") -> "Positions":
        return Positions(self.real + other.real, self.padding + other.padding)


@dataclass(frozen=True)
class EngineCounts:
    """What an engine has done since it was made, and what it does now.

    Attributes:
        sentences: taken by ``submit``, or begun elsewhere.
        shared: of those, how many got what another one began.
        waiting: sentences in the queue now, those reserved for others included; not those that joined another one.
        rows: rows that are decoded now, elsewhere too.
        positions: by part. ``encoder``: source positions read. ``decoder_cross``: for each row and step, source
            positions that it attends to. Self-attention has no padding: it ends where each row does.
    """

    sentences: int
    shared: int
    waiting: int
    rows: int
    positions: Mapping[Part, Positions]
