"""Pictures as PNG, by resvg, which the extra ``png`` installs.

A process of its own draws each. Resvg keeps Python's lock while it draws, so that in a thread it would hold up all that
the server does; and where memory is short it ends its process.
"""

import importlib.util
import os
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
COMMAND = (sys.executable, "-P", os.fspath(Path(__file__).with_name("png_process.py")))
"""The process that draws: ``picture_input`` goes in, ``picture_of`` understands what comes out."""

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_NO_FONT = re.compile(r"No match for .* font-family")
_NO_GLYPH = re.compile(r"No fonts with a \S*/U\+([0-9A-F]+) character")
_MOST_NAMED = 5
_LONGEST_REASON = 300


class PngUnavailable(VitrailError):
    """The server cannot draw this as PNG: it lacks the package or fonts."""


class PngFailed(VitrailError):
    """The process that draws could not be started, or ended without a picture."""


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
        PngFailed: it could not be drawn.
    """
    check_png_installed()
    svg = picture_input(drawings)
    try:
        done = subprocess.run(COMMAND, input=svg, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise DeadlineExceeded(SECONDS) from None
    except OSError as error:
        raise not_started(error) from error
    return picture_of(done.returncode, done.stdout, done.stderr)


def picture_input(drawings: Sequence[Drawing]) -> bytes:
    """What the process that draws them reads.

    Raises:
        TooLarge: the picture has more than ``MOST_PIXELS``.
    """
    _check_pixels(*document_size(drawings))
    return document(drawings).encode()


def picture_of(status: int, output: bytes, told: bytes) -> bytes:
    """The PNG that a process drew which ended with ``status``.

    Args:
        output: what it wrote to standard output.
        told: what it wrote to standard error.

    Raises:
        PngUnavailable: every font, or one for some character, is not installed.
        PngFailed: there is no picture.
    """
    text = told.decode(errors="replace")
    if status != 0 or not output.startswith(_SIGNATURE):
        raise PngFailed(f"no PNG was drawn, the process ended {_ending(status)}{_reason(text)}")
    _check_fonts(text)
    return output


def not_started(error: OSError) -> PngFailed:
    """That the process did not even start, for want of memory for instance."""
    return PngFailed(f"no PNG was drawn, the process did not start: {error}")


def _ending(status: int) -> str:
    return f"with status {status}" if status >= 0 else f"by signal {-status} (short of memory?)"


def _reason(told: str) -> str:
    """The last line, which of a traceback is the error."""
    lines = told.split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f": {last[:_LONGEST_REASON]}" if last else ""


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
