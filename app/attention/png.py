"""Pictures as PNG, by resvg, which the extra ``png`` installs.

A process of its own draws each. Resvg keeps Python's lock while it draws, so that in a thread it would hold up all that
the server does; and where memory is short it ends its process.
"""

import importlib.util
import re
import subprocess
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from app.attention.drawing import Drawing, document, document_size
from app.errors import DeadlineExceeded, TooLarge, VitrailError

MOST_PIXELS = 16_000_000
SECONDS = 20
"""Longest time for one picture."""

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PROCESS = Path(__file__).with_name("png_process.py")
_NO_FONT = re.compile(r"No match for .* font-family")
_NO_GLYPH = re.compile(r"No fonts with a \S*/U\+([0-9A-F]+) character")
_MOST_NAMED = 5


class PngUnavailable(VitrailError):
    """The server cannot draw this as PNG: it lacks the package or fonts."""


def check_png_installed() -> None:
    """Passes where the extra ``png`` is installed.

    Raises:
        PngUnavailable: it is not.
    """
    if importlib.util.find_spec("resvg_py") is None:
        raise PngUnavailable("PNG needs the extra png, which is not installed: pip install resvg_py")


def to_png(drawings: Sequence[Drawing]) -> bytes:
    """``document(drawings)`` as PNG, one pixel for each of SVG's; blocks for up to ``SECONDS``.

    Raises:
        TooLarge: it has more than ``MOST_PIXELS``.
        PngUnavailable: the extra ``png``, every font, or one for some character is not installed.
        DeadlineExceeded: it took too long.
        RuntimeError: it could not be drawn.
    """
    check_png_installed()
    _check_pixels(*document_size(drawings))
    command = [sys.executable, "-P", str(_PROCESS)]
    try:
        done = subprocess.run(
            command, input=document(drawings).encode(), capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise DeadlineExceeded(SECONDS) from None
    told = done.stderr.decode(errors="replace")
    if done.returncode != 0 or not done.stdout.startswith(_SIGNATURE):
        raise RuntimeError(f"drawing a PNG ended with status {done.returncode}: {told[-1_000:]}")
    _check_fonts(told)
    return done.stdout


def _check_pixels(width: float, height: float) -> None:
    pixels = round(width) * round(height)
    if pixels > MOST_PIXELS:
        message = (
            f"text: its picture has {round(width):,} x {round(height):,} = {pixels:,} pixels, a PNG {MOST_PIXELS:,}: "
            "ask for words, fewer families, a shorter text, or for SVG"
        )
        raise TooLarge(message, field="text", limit=MOST_PIXELS, value=pixels)


def _check_fonts(told: str) -> None:
    """Text without a font is left out or drawn as boxes, which only what resvg told gives away."""
    if _NO_FONT.search(told):
        raise PngUnavailable("PNG needs a font such as DejaVu Sans or Noto Sans: apt-get install fonts-dejavu-core")
    characters = dict.fromkeys(chr(int(code, 16)) for code in _NO_GLYPH.findall(told))
    # Control, private and unassigned characters have no picture anywhere.
    missing = [character for character in characters if not unicodedata.category(character).startswith("C")]
    if missing:
        named = ", ".join(f"{character} (U+{ord(character):04X})" for character in missing[:_MOST_NAMED])
        more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
        raise PngUnavailable(f"PNG needs fonts: none that is installed has {named}{more}")
