"""Pictures of a sentence's attention beside the heat map: lines between two rows of words, and the grid of heads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np

from app.attention.drawing import (
    FONT,
    MOST,
    QUIET,
    Drawing,
    clean,
    label,
    pixels,
    runs_right_to_left,
    text_width,
)
from app.attention.maps import AttentionMap
from app.attention.svg import HeatMap

_GAP = 14
_HEIGHT = 140
_MOST_LINES = 500
_LEAST_WEIGHT = 0.03
_THUMBNAIL = 72
_LINE_COLOUR = "#{:02x}{:02x}{:02x}".format(*MOST)


@dataclass(frozen=True)
class Line:
    """Joins two words, ``upper`` and ``lower`` by index; ``weight`` from 0 to 1 is its strength."""

    upper: int
    lower: int
    weight: float


def draw_lines(title: str, upper: Sequence[str], lower: Sequence[str], lines: Sequence[Line]) -> Drawing:
    """Two rows of words with lines between; a row in Arabic or Hebrew runs from right to left."""
    above, below = _places(upper), _places(lower)
    width = max([x + half for _, x, half in (*above, *below)], default=0.0)
    strokes = (
        f'<path class="line" d="M{above[line.upper][1]:.1f} 22C{above[line.upper][1]:.1f} {_HEIGHT / 2:g} '
        f'{below[line.lower][1]:.1f} {_HEIGHT / 2:g} {below[line.lower][1]:.1f} {_HEIGHT - 18}" fill="none" '
        f'stroke="{_LINE_COLOUR}" stroke-width="{1 + 3 * line.weight:.2f}" stroke-linecap="round" '
        f'opacity="{0.12 + 0.88 * min(line.weight, 1):.3f}">'
        f"<title>{escape(clean(f'{lower[line.lower]} – {upper[line.upper]}: {line.weight:.3f}'))}</title></path>"
        for line in lines
    )
    elements = (*strokes, *_row(above, FONT, "upper"), *_row(below, _HEIGHT, "lower"))
    return Drawing(title, width, _HEIGHT + 8, elements)


def strongest_lines(heat_map: HeatMap) -> list[Line]:
    """Keys above, queries below: the largest weights, as many as an eye and a browser can bear."""
    weights = heat_map.weights
    order = np.argsort(-weights, axis=None, kind="stable")[:_MOST_LINES]
    rows, columns = np.unravel_index(order, weights.shape)
    found = (Line(int(key), int(query), float(weights[query, key])) for query, key in zip(rows, columns, strict=True))
    return [line for line in found if line.weight >= _LEAST_WEIGHT]


def draw_grid(title: str, attention: AttentionMap) -> Drawing:
    """A thumbnail of each head, layers from top to bottom, heads from left to right, each in its own scale."""
    layers, heads, _, _ = attention.values.shape
    step = _THUMBNAIL + 10
    elements: list[str] = []
    for column in range(heads):
        x = 28 + column * step
        head = attention.heads[column] if heads == len(attention.heads) else attention.reductions[1]
        elements.append(f'<text class="head" x="{x + _THUMBNAIL / 2:g}" y="12" text-anchor="middle">{head}</text>')
    for row in range(layers):
        y = 20 + row * step
        layer = attention.layers[row] if layers == len(attention.layers) else attention.reductions[0]
        elements.append(
            f'<text class="layer" x="20" y="{y + _THUMBNAIL / 2:g}" fill="{QUIET}" text-anchor="end">{layer}</text>'
        )
        maps = np.nan_to_num(attention.values[row])
        elements += [_thumbnail(maps[column], 28 + column * step, y) for column in range(heads)]
    return Drawing(title, 28 + heads * step, 20 + layers * step, tuple(elements))


def _thumbnail(weights: np.ndarray[tuple[int, int], np.dtype[np.float32]], x: float, y: float) -> str:
    height, width = weights.shape
    if not weights.size:
        return ""
    scale = f'<g transform="translate({x:g} {y:g}) scale({_THUMBNAIL / width:g} {_THUMBNAIL / height:g})">'
    return f"{scale}{pixels(weights, float(weights.max()), 0, 0, 1)}</g>"


def _places(words: Sequence[str]) -> list[tuple[str, float, float]]:
    """Label, centre and half width of each word."""
    x = 0.0
    labels = [label(word) for word in words]
    rightmost_first = runs_right_to_left(labels)
    places = []
    for text in reversed(labels) if rightmost_first else labels:
        half = max(text_width(text), 8) / 2
        places.append((text, x + half, half))
        x += 2 * half + _GAP
    return places[::-1] if rightmost_first else places


def _row(places: Sequence[tuple[str, float, float]], y: float, kind: str) -> Iterator[str]:
    for text, x, _ in places:
        yield f'<text class="{kind}" x="{x:.1f}" y="{y:g}" text-anchor="middle">{escape(text)}</text>'
