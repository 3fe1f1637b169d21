"""An attention map as a picture: plain SVG text that every browser and README shows."""

import math
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from app.attention.maps import AttentionMap
from app.engine.step_model import Float32

_CELL = 24
_FONT = 13
_LABEL_UNITS = 24  # longer labels are shortened; a unit is the width of a Latin letter
_UNIT = 7.8
_TITLE_UNIT = 10.0
_MARGIN = 12
_TITLE = 34
_LEGEND = 44
_LEAST, _MOST = (242, 239, 232), (176, 32, 76)
_INK, _QUIET, _PAPER = "#1d2440", "#5d6275", "#fbfaf7"

# No XML 1.0 document may hold these, escaped or not.
_NOT_IN_XML = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "�")


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
    """The mean over all layers and heads that ``attention``, which must not be pooled, holds; NaN is drawn as 0."""
    assert attention.query is not None
    assert attention.key is not None
    weights = np.nan_to_num(attention.values).mean(axis=(0, 1))
    return HeatMap(title, attention.query.labels, attention.key.labels, weights)


def to_svg(heat_map: HeatMap) -> str:
    """A complete SVG document: title, query pieces down, key pieces across, one cell per weight, legend.

    The darkest colour is the largest weight, which the legend names; every cell tells its weight when
    pointed at.
    """
    query, key = [_label(piece) for piece in heat_map.query], [_label(piece) for piece in heat_map.key]
    most = float(heat_map.weights.max(initial=0.0))
    left = _MARGIN + _widest(query) + 8
    top = _MARGIN + _TITLE + _widest(key) + 8
    title = _clean(heat_map.title)
    title_width = math.ceil(sum(map(_units, title)) * _TITLE_UNIT)
    width = max(left + max(len(key) * _CELL, 120), _MARGIN + title_width) + _MARGIN
    height = top + len(query) * _CELL + _LEGEND + _MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" role="img" aria-label={quoteattr(title)} font-family="system-ui, sans-serif" '
            f'font-size="{_FONT}" fill="{_INK}">',
            f"<title>{escape(title)}</title>",
            f'<rect width="100%" height="100%" fill="{_PAPER}"/>',
            f'<text x="{_MARGIN}" y="{_MARGIN + 16}" font-size="16" font-weight="600">{escape(title)}</text>',
            *_row_labels(query, left, top),
            *_column_labels(key, left, top),
            *_cells(heat_map, most, left, top),
            *_legend(most, left, top + len(query) * _CELL + 14),
            "</svg>",
            "",
        ]
    )


def _row_labels(labels: list[str], left: float, top: float) -> Iterator[str]:
    for index, label in enumerate(labels):
        y = top + index * _CELL + _CELL / 2 + _FONT / 3
        yield f'<text class="query" x="{left - 8:g}" y="{y:.1f}" text-anchor="end">{escape(label)}</text>'


def _column_labels(labels: list[str], left: float, top: float) -> Iterator[str]:
    for index, label in enumerate(labels):
        x, y = left + index * _CELL + _CELL / 2 + _FONT / 3, top - 8
        yield f'<text class="key" transform="translate({x:.1f} {y:g}) rotate(-90)">{escape(label)}</text>'


def _cells(heat_map: HeatMap, most: float, left: float, top: float) -> Iterator[str]:
    for row, query in enumerate(heat_map.query):
        for column, key in enumerate(heat_map.key):
            weight = float(heat_map.weights[row, column])
            told = escape(_clean(f"{query} looks at {key}: {weight:.3f}"))
            yield (
                f'<rect class="cell" x="{left + column * _CELL + 1:g}" y="{top + row * _CELL + 1:g}" '
                f'width="{_CELL - 2}" height="{_CELL - 2}" rx="3" fill="{_colour(weight, most)}">'
                f"<title>{told}</title></rect>"
            )


def _legend(most: float, left: float, y: float) -> Iterator[str]:
    steps = 10
    for step in range(steps):
        colour = _colour((step + 0.5) / steps, 1.0)
        yield f'<rect class="legend" x="{left + step * 12:g}" y="{y:g}" width="12" height="10" fill="{colour}"/>'
    for x, text in ((left, "0"), (left + steps * 12, f"{most:.2f}")):
        anchor = "start" if x == left else "end"
        yield f'<text x="{x:g}" y="{y + 24:g}" fill="{_QUIET}" font-size="11" text-anchor="{anchor}">{text}</text>'


def _colour(weight: float, most: float) -> str:
    share = min(max(weight / most, 0.0), 1.0) if most > 0 else 0.0
    red, green, blue = (round(least + (end - least) * share) for least, end in zip(_LEAST, _MOST, strict=True))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _label(piece: str) -> str:
    text = _clean(piece).replace("▁", "·")
    used = 0
    for index, character in enumerate(text):
        used += _units(character)
        if used > _LABEL_UNITS:
            return text[:index] + "…"
    return text


def _clean(text: str) -> str:
    return text.translate(_NOT_IN_XML)


def _widest(labels: list[str]) -> int:
    return math.ceil(max((sum(map(_units, label)) for label in labels), default=0) * _UNIT)


def _units(character: str) -> int:
    """Chinese characters and emoji are two Latin letters wide, combining marks stand above others."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
