"""The training curve as SVG, drawn by hand: loss above, BLEU below, both against target pieces seen."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

Points = list[tuple[float, float]]

_WIDTH, _PANEL, _LEFT, _TOP, _GAP = 760, 220, 56, 28, 64
_PLOT = 500
# Mid tones with at least 3:1 against white and against near-black.
_COLOURS = ("#2f7ed8", "#d9541e", "#2e9e5b", "#b05cc6", "#9a7b00", "#c0426e", "#0d9aa5", "#7a7a7a")
_STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600 } .grid { stroke: #8c959f; stroke-opacity: .35 } .axis { stroke: #57606a }
  polyline { fill: none; stroke-width: 1.8 }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .axis { stroke: #9da7b3 } }
"""


@dataclass(frozen=True)
class Scale:
    """Maps ``[low, high]`` to pixels ``[start, end]``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Pixel of ``value``."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def draw_curve(log: Path, output: Path) -> None:
    """Draws every ``train_nll``, ``nll_*`` and ``bleu_*`` of a ``log.jsonl``; without a record it does nothing."""
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    if not records:
        return
    across = Scale(0, max(max(record["target_pieces"] for record in records), 1), _LEFT, _LEFT + _PLOT)
    panels = [
        ("Loss, nats per piece", _series(records, ("train_nll", "nll_"))),
        ("BLEU on held-out pairs, greedy", _series(records, ("bleu_",))),
    ]
    drawn = [(title, series) for title, series in panels if series]
    height = _TOP + len(drawn) * (_PANEL + _GAP)
    body = [
        line
        for number, (title, series) in enumerate(drawn)
        for line in _panel(title, series, across, _TOP + number * (_PANEL + _GAP))
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img"'
    lines = [f'{head} aria-label="Training curve">', f"<style>{_STYLE}</style>", *body, "</svg>"]
    output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers that cover ``[low, high]``: multiples of 1, 2 or 5 times a power of ten."""
    rough = max(high - low, 1e-9) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 10) for number in range(first, max(last, first + 1) + 1)]


def _series(records: Sequence[dict[str, float]], prefixes: tuple[str, ...]) -> dict[str, Points]:
    names = dict.fromkeys(name for record in records for name in record if name.startswith(prefixes))
    return {
        name: [
            (record["target_pieces"], record[name])
            for record in records
            if name in record and math.isfinite(record[name])
        ]
        for name in names
    }


def _panel(title: str, series: dict[str, Points], across: Scale, top: float) -> list[str]:
    values = [value for points in series.values() for _, value in points] or [0.0]
    marks = ticks(min(values), max(values))
    down = Scale(marks[0], marks[-1], top + _PANEL, top)
    right, bottom = _LEFT + _PLOT, top + _PANEL
    lines = [f'<text class="title" x="{_LEFT}" y="{top - 10}">{escape(title)}</text>']
    for mark in marks:
        y = down(mark)
        lines.append(f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{mark:g}</text>')
    for mark in (mark for mark in ticks(across.low, across.high) if mark <= across.high):
        label = f"{mark / 1e6:g}M" if mark else "0"
        lines.append(f'<text x="{across(mark):.1f}" y="{bottom + 18}" text-anchor="middle">{label}</text>')
    lines.append(f'<line class="axis" x1="{_LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>')
    lines.append(f'<text x="{right}" y="{bottom + 34}" text-anchor="end">target pieces</text>')
    for number, (name, points) in enumerate(series.items()):
        lines += _line(name, [(across(x), down(y)) for x, y in points], number, top)
    return lines


def _line(name: str, pixels: Points, number: int, top: float) -> list[str]:
    """One series and its entry in the legend; a series past the last colour is dashed."""
    colour = _COLOURS[number % len(_COLOURS)]
    dash = f' stroke-dasharray="{3 + 3 * (number // len(_COLOURS))}"' if number >= len(_COLOURS) else ""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in pixels)
    x, y = _LEFT + _PLOT + 16, top + 8 + 18 * number
    return [
        f'<polyline stroke="{colour}"{dash} points="{path}"/>',
        *(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2" fill="{colour}"/>' for px, py in pixels),
        f'<line stroke="{colour}" stroke-width="3"{dash} x1="{x}" x2="{x + 18}" y1="{y}" y2="{y}"/>',
        f'<text x="{x + 24}" y="{y + 4}">{escape(name.replace("_", " "))}</text>',
    ]
