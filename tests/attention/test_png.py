import importlib.util
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from app.attention import png
from app.attention.drawing import LEAST, MARGIN, MOST, TITLE, Drawing, document_size, pixels
from app.attention.png import PngFailed, PngUnavailable, to_png
from app.errors import DeadlineExceeded, TooLarge
from tests.attention.resvg import PLAIN, stand_in

needs_resvg = pytest.mark.skipif(importlib.util.find_spec("resvg_py") is None, reason="needs the extra png")


def decoded(picture: bytes) -> npt.NDArray[np.uint8]:
    """``[height, width, channel]`` of a PNG of 8 bits a channel."""
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", picture[16:29])
    assert (depth, interlaced) == (8, 0)
    channels = {2: 3, 6: 4}[kind]
    data, place = b"", 8
    while place < len(picture):
        (size,) = struct.unpack(">I", picture[place : place + 4])
        if picture[place + 4 : place + 8] == b"IDAT":
            data += picture[place + 8 : place + 8 + size]
        place += size + 12
    lines = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * channels)
    image = np.zeros((height + 1, width + 1, channels), np.int64)  # a row above and a column to the left, of zeros
    for y, line in enumerate(lines, 1):
        for x, raw in enumerate(line[1:].reshape(width, channels).astype(np.int64), 1):
            left, up, both = image[y, x - 1], image[y - 1, x], image[y - 1, x - 1]
            guesses = (0 * left, left, up, (left + up) // 2, paeth(left, up, both))
            image[y, x] = (raw + guesses[line[0]]) % 256
    return image[1:, 1:].astype(np.uint8)


def paeth(left: npt.NDArray[np.int64], up: npt.NDArray[np.int64], both: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    away = [np.abs(left + up - both - one) for one in (left, up, both)]
    chosen = np.where(away[1] <= away[2], up, both)
    return np.where((away[0] <= away[1]) & (away[0] <= away[2]), left, chosen)


@needs_resvg
def test_a_map_is_drawn_in_squares_of_its_colours() -> None:
    weights = np.array([[0, 1, 0], [1, 0, 1]], dtype=np.float32)
    drawing = Drawing("", 60, 40, (pixels(weights, 1.0, 0, 0, 20),))
    image = decoded(to_png([drawing]))
    width, height = document_size([drawing])
    assert image.shape[:2] == (height, width)
    top = MARGIN + TITLE
    shown = image[top : top + 40, MARGIN : MARGIN + 60, :3]
    expected = np.where(weights[..., None] == 1, np.array(MOST), np.array(LEAST)).repeat(20, 0).repeat(20, 1)
    np.testing.assert_array_equal(shown, expected)  # up to the edges: nothing is smoothed


@needs_resvg
@pytest.mark.parametrize(
    ("options", "element", "found"),
    [
        ("skip_system_fonts=True", "<text y='9'>a</text>", png._NO_FONT),
        ("sans_serif_family=FONT", "<text y='9' font-family='sans-serif'>\ue000</text>", png._NO_GLYPH),
    ],
)
def test_what_fonts_lack_is_told_in_the_words_that_are_looked_for(
    options: str, element: str, found: re.Pattern[str], request: pytest.FixtureRequest
) -> None:
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{element}</svg>'
    font = installed_font()
    if "FONT" in options and font is None:
        pytest.skip("needs a font")
    code = f"import resvg_py; resvg_py.svg_to_bytes(svg_string={svg!r}, log_information=True, {options})"
    done = subprocess.run([sys.executable, "-c", code.replace("FONT", repr(font))], capture_output=True, check=True)
    assert found.search(done.stdout.decode(errors="replace"))


def installed_font() -> str | None:
    """A family that draws a letter."""
    from resvg_py import svg_to_bytes

    from app.attention.png_process import FAMILIES

    letter = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text y="15" font-family="{}">a</text></svg>'
    )
    blank = svg_to_bytes(svg_string=letter.format("No such font"))
    return next((name for name in FAMILIES if svg_to_bytes(svg_string=letter.format(name)) != blank), None)


@needs_resvg
def test_text_is_drawn_with_the_fonts_there_are() -> None:
    if installed_font() is None:
        with pytest.raises(PngUnavailable, match="fonts-dejavu-core"):
            to_png([Drawing("Title", 40, 20, ())])
        return
    with_title, without = (decoded(to_png([Drawing(title, 60, 1, ())])) for title in ("Title", ""))
    assert (with_title[..., 0] < 100).sum() > 50, "no ink"
    assert (without[..., 0] > 200).all()


def test_missing_characters_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "Warning (in usvg::text::layout:1413): No fonts with a {}/U+{:X} character were found.\n"
    told = "".join(line.format(one, ord(one)) for one in "中文中\ue000")
    stand_in(tmp_path, monkeypatch, told)
    with pytest.raises(PngUnavailable, match=r"has 中 \(U\+4E2D\), 文 \(U\+6587\)$"):
        to_png([PLAIN])
    stand_in(tmp_path, monkeypatch, "".join(line.format(one, ord(one)) for one in "ABCDEFG"))
    with pytest.raises(PngUnavailable, match=r"E \(U\+0045\) and 2 more$"):
        to_png([PLAIN])
    stand_in(tmp_path, monkeypatch, line.format("\ue000", 0xE000))
    assert to_png([PLAIN]).endswith(b"<svg")


def test_no_font_at_all_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, "Warning (in usvg::text:143): No match for '\"Noto Sans\"' font-family.\n")
    with pytest.raises(PngUnavailable, match="fonts-dejavu-core"):
        to_png([PLAIN])


def test_a_drawing_that_fails_or_takes_too_long_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, then="os.abort()")
    with pytest.raises(PngFailed, match=r"by signal 6 \(short of memory\?\)$"):
        to_png([PLAIN])
    stand_in(tmp_path, monkeypatch, then="raise ValueError('no SVG')")
    with pytest.raises(PngFailed, match=r"ended with status 1: ValueError: no SVG$"):
        to_png([PLAIN])
    stand_in(tmp_path, monkeypatch, then="return b'no picture'")
    with pytest.raises(PngFailed, match=r"ended with status 0$"):
        to_png([PLAIN])
    with monkeypatch.context() as patch:
        patch.setattr(png, "COMMAND", (str(tmp_path / "none"),))
        with pytest.raises(PngFailed, match="did not start"):
            to_png([PLAIN])
    stand_in(tmp_path, monkeypatch, then="time.sleep(60)")
    monkeypatch.setattr(png, "SECONDS", 0.2)
    with pytest.raises(DeadlineExceeded):
        to_png([PLAIN])


def test_pixels_are_limited_before_anything_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "check_png_installed", lambda: None)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("drawn"))
    with pytest.raises(TooLarge, match=r"4,024 x 4,058 = 16,329,392 pixels, a PNG 16,000,000") as refused:
        to_png([Drawing("", 4_000, 4_000, ())])
    assert (refused.value.field, refused.value.limit, refused.value.value) == ("text", 16_000_000, 16_329_392)


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(PngUnavailable, match=r"extra png.*pip install resvg_py"):
        to_png([PLAIN])
