"""A heat map of one matrix: plain SVG that every browser and README shows."""

from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np

from app.attention.drawing import FONT, QUIET, Drawing, clean, colour, label, pixels, widest
from app.attention.maps import AttentionMap
from app.engine.step_model import Float32

_CELL = 24
_LEGEND = 44
_GAP = 8
_PREFIXES = {"none": "", "mean": "mean of ", "max": "largest of ", "rollout": "rollout of "}
# Of the row that is fed the last piece.
_END = "</s>"
_NAMES = {"encoder": "Encoder self-attention", "decoder": "Decoder self-attention", "cross": "Cross-attention"}

# Above so many cells, one element for each would make the document slow to draw: they become one image.
_MOST_ELEMENTS = 2_500


@dataclass(frozen=True)
class HeatMap:
    """One matrix to draw.

    Attributes:
        title: stands above it.
        query: labels of the rows, from top to bottom.
        key: labels of the columns, from left to right.
        weights: ``[query, key]``, none below 0.
    """

    title: str
    query: tuple[str, ...]
    key: tuple[str, ...]
    weights: Float32

    def __post_init__(self) -> None:
        expected = (len(self.query), len(self.key))
        if self.weights.shape != expected:
            raise ValueError(f"weights have shape {self.weights.shape}, the labels say {expected}")


def mean_map(attention: AttentionMap, title: str) -> HeatMap:
    """The mean over all layers and heads that ``attention``, which must not be pooled, holds; NaN is drawn as 0.

    A row of cross-attention is that of the piece that was fed; where rows are pieces, the picture names each by the
    piece that it predicts, as people read it.
    """
    assert attention.query is not None
    assert attention.key is not None
    weights = np.nan_to_num(attention.values).mean(axis=(0, 1))
    query, key = attention.query.labels, attention.key.labels
    if _predicts(attention):
        return HeatMap(f"{title}; rows: the piece that is predicted", (*query[1:], _END), key, weights)
    return HeatMap(title, query, key, weights)


def _predicts(one: AttentionMap) -> bool:
    """Whether a picture's rows are named by what they predict."""
    return one.family == "cross" and one.query is not None and all(len(group) == 1 for group in one.query.groups)


def map_title(one: AttentionMap) -> str:
    """What a picture of ``one`` shows: its family, layers and heads."""
    axes = (("layer", one.layers, one.reductions[0]), ("head", one.heads, one.reductions[1]))
    parts = (
        f"{name} {numbers[0]}" if len(numbers) == 1 else f"{_PREFIXES[reduction]}{len(numbers)} {name}s"
        for name, numbers, reduction in axes
    )
    return f"{_NAMES[one.family]}, {', '.join(parts)}"


def draw_heat_map(heat_map: HeatMap) -> Drawing:
    """Query pieces down, key pieces across, one cell per weight, legend.

    The darkest colour is the largest weight, which the legend names; in a map that is not too large every cell tells
    its weight when pointed at.
    """
    query, key = [label(piece) for piece in heat_map.query], [label(piece) for piece in heat_map.key]
    most = float(heat_map.weights.max(initial=0.0))
    left, top = widest(query) + _GAP, widest(key) + _GAP
    bottom = top + len(query) * _CELL
    small = 0 < heat_map.weights.size <= _MOST_ELEMENTS
    image = [pixels(heat_map.weights, most, left, top, _CELL)] if heat_map.weights.size else []
    elements = (
        *_row_labels(query, left, top),
        *_column_labels(key, left, top),
        *(_cells(heat_map, most, left, top) if small else image),
        *_legend(most, left, bottom + 14),
    )
    return Drawing(heat_map.title, left + max(len(key) * _CELL, 120), bottom + _LEGEND, elements)


def _row_labels(labels: list[str], left: float, top: float) -> Iterator[str]:
    for index, text in enumerate(labels):
        y = top + index * _CELL + _CELL / 2 + FONT / 3
        yield f'<text class="query" x="{left - _GAP:g}" y="{y:.1f}" text-anchor="end">{escape(text)}</text>'


def _column_labels(labels: list[str], left: float, top: float) -> Iterator[str]:
    for index, text in enumerate(labels):
        x, y = left + index * _CELL + _CELL / 2 + FONT / 3, top - _GAP
        yield f'<text class="key" transform="translate({x:.1f} {y:g}) rotate(-90)">{escape(text)}</text>'


def _cells(heat_map: HeatMap, most: float, left: float, top: float) -> Iterator[str]:
    for row, query in enumerate(heat_map.query):
        for column, key in enumerate(heat_map.key):
            weight = float(heat_map.weights[row, column])
            told = escape(clean(f"{query} looks at {key}: {weight:.3f}"))
            yield (
                f'<rect class="cell" x="{left + column * _CELL + 1:g}" y="{top + row * _CELL + 1:g}" '
                f'width="{_CELL - 2}" height="{_CELL - 2}" rx="3" fill="{colour(weight, most)}">'
                f"<title>{told}</title></rect>"
            )


def _legend(most: float, left: float, y: float) -> Iterator[str]:
    steps = 10
    for step in range(steps):
        shade = colour((step + 0.5) / steps, 1.0)
        yield f'<rect class="legend" x="{left + step * 12:g}" y="{y:g}" width="12" height="10" fill="{shade}"/>'
    for x, text in ((left, "0"), (left + steps * 12, f"{most:.2f}")):
        anchor = "start" if x == left else "end"
        yield f'<text x="{x:g}" y="{y + 24:g}" fill="{QUIET}" font-size="11" text-anchor="{anchor}">{text}</text>'
