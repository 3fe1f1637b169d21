"""What all pictures share: colours, labels, pixels, and the document around them."""

import base64
import math
import struct
import unicodedata
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import numpy.typing as npt

from app.engine.step_model import Float32

FONT = 13
MARGIN = 12
TITLE = 34
UNIT = 7.8
"""Width of a Latin letter."""
INK, QUIET, PAPER = "#1d2440", "#5d6275", "#fbfaf7"
LEAST, MOST = (242, 239, 232), (176, 32, 76)

_TITLE_UNIT = 10.0
_LABEL_UNITS = 24  # longer labels are shortened

# No XML 1.0 document may hold these, escaped or not.
_NOT_IN_XML = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "�")


@dataclass(frozen=True)
class Drawing:
    """A picture without its document: elements of SVG, its size in pixels, and what it shows in words."""

    title: str
    width: float
    height: float
    elements: tuple[str, ...]


def document_size(drawings: Sequence[Drawing]) -> tuple[float, float]:
    """Width and height of ``document(drawings)`` in pixels."""
    width = max((max(one.width, _title_width(one.title)) for one in drawings), default=0) + 2 * MARGIN
    return width, MARGIN + sum(TITLE + one.height + MARGIN for one in drawings)


def document(drawings: Sequence[Drawing]) -> str:
    """A complete SVG document with the drawings below each other, each under its title."""
    width, height = document_size(drawings)
    parts: list[str] = []
    y = float(MARGIN)
    for one in drawings:
        title = clean(one.title)
        parts.append(f'<text x="{MARGIN}" y="{y + 16:g}" font-size="16" font-weight="600">{escape(title)}</text>')
        y += TITLE
        parts += [f'<g transform="translate({MARGIN} {y:g})">', *one.elements, "</g>"]
        y += one.height + MARGIN
    label = clean("; ".join(dict.fromkeys(one.title for one in drawings)) or "Nothing to show")
    size = f'width="{width:g}" height="{height:g}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" {size} '
        f'role="img" aria-label={quoteattr(label)} font-family="system-ui, sans-serif" font-size="{FONT}" '
        f'fill="{INK}">'
    )
    paper = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    return "\n".join([head, f"<title>{escape(label)}</title>", paper, *parts, "</svg>", ""])


def pixels(weights: Float32, most: float, x: float, y: float, cell: float) -> str:
    """``weights [query, key]`` as one embedded image, a pixel a weight, drawn ``cell`` wide each."""
    height, width = weights.shape
    share = (weights / most).clip(0, 1)[..., None] if most > 0 else np.zeros((height, width, 1))
    colours = np.rint(np.array(LEAST) + (np.array(MOST) - np.array(LEAST)) * share).astype(np.uint8)
    data = base64.b64encode(_png(colours)).decode("ascii")
    return (
        f'<image x="{x:g}" y="{y:g}" width="{width * cell:g}" height="{height * cell:g}" preserveAspectRatio="none" '
        f'style="image-rendering: pixelated" href="data:image/png;base64,{data}"/>'
    )


def _png(colours: npt.NDArray[np.uint8]) -> bytes:
    """An 8-bit RGB image of ``colours [height, width, 3]``."""
    height, width, _ = colours.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # every row begins with its filter, 0: none
    rows[:, 1:] = colours.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (
        _chunk(b"IHDR", header),
        _chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)),
        _chunk(b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def colour(weight: float, most: float) -> str:
    """Between paper and crimson, by the share of ``most``."""
    share = min(max(weight / most, 0.0), 1.0) if most > 0 else 0.0
    red, green, blue = (round(least + (end - least) * share) for least, end in zip(LEAST, MOST, strict=True))
    return f"#{red:02x}{green:02x}{blue:02x}"


def label(piece: str) -> str:
    """A piece or word as it is written beside a picture, shortened where it is long."""
    text = clean(piece).replace("▁", "·")
    used = 0
    for index, character in enumerate(text):
        used += units(character)
        if used > _LABEL_UNITS:
            return text[:index] + "…"
    return text


def clean(text: str) -> str:
    """``text`` with what XML cannot hold replaced."""
    return text.translate(_NOT_IN_XML)


def text_width(text: str) -> float:
    """About how wide ``text`` is drawn, in pixels."""
    return sum(map(units, text)) * UNIT


def widest(labels: Sequence[str]) -> int:
    """Width of the widest label, in whole pixels."""
    return math.ceil(max(map(text_width, labels), default=0))


def units(character: str) -> int:
    """Chinese characters and emoji are two Latin letters wide, combining marks stand above others."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def runs_right_to_left(labels: Sequence[str]) -> bool:
    """Whether most letters of ``labels`` belong to a script such as Arabic or Hebrew."""
    directions = [unicodedata.bidirectional(character) for text in labels for character in text]
    return sum(one in ("R", "AL") for one in directions) > sum(one == "L" for one in directions)


def _title_width(title: str) -> int:
    return math.ceil(sum(map(units, clean(title))) * _TITLE_UNIT)
