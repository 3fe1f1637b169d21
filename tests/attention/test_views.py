import base64
import re
import struct
import zlib

import numpy as np
import pytest

from app.attention.axes import Axis
from app.attention.drawing import document, pixels
from app.attention.maps import AttentionMap
from app.attention.svg import HeatMap, draw_heat_map
from app.attention.views import Line, draw_grid, draw_lines, strongest_lines


def positions(svg: str, kind: str) -> list[float]:
    return [float(x) for x in re.findall(rf'class="{kind}" x="([\d.]+)"', svg)]


@pytest.mark.parametrize(
    ("words", "rightwards"),
    [(("The", "cat"), True), (("القطة", "تنام"), False), (("我", "猫"), True), (("🎉", "👩‍🚀"), True)],
)
def test_rows_run_the_way_their_script_does(words: tuple[str, str], rightwards: bool) -> None:
    svg = document([draw_lines("lines", words, ("a", "b"), [Line(0, 1, 0.5)])])
    first, second = positions(svg, "upper")
    assert (first < second) == rightwards
    for word in words:
        assert word in svg


def test_the_strongest_lines_are_kept() -> None:
    weights = np.array([[0.7, 0.29, 0.01]], dtype=np.float32)
    lines = strongest_lines(HeatMap("", ("q",), ("a", "b", "c"), weights))
    assert [(line.upper, line.lower) for line in lines] == [(0, 0), (1, 0)]
    many = strongest_lines(HeatMap("", ("q",) * 60, ("k",) * 60, np.full((60, 60), 0.5, np.float32)))
    assert len(many) == 500


def test_a_large_map_is_one_image() -> None:
    weights = np.random.default_rng(0).random((60, 60), dtype=np.float32)
    svg = document([draw_heat_map(HeatMap("large", ("q",) * 60, ("k",) * 60, weights))])
    assert svg.count("<image") == 1
    assert 'class="cell"' not in svg


def test_pixels_are_the_weights() -> None:
    image = pixels(np.array([[0.0, 1.0]], dtype=np.float32), 1.0, 0, 0, 1)
    data = re.search(r"base64,([^\"]+)", image)
    assert data is not None
    png = base64.b64decode(data[1])
    assert struct.unpack(">II", png[16:24]) == (2, 1)
    start = png.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", png[start - 8 : start - 4])
    assert list(zlib.decompress(png[start : start + length])) == [0, 242, 239, 232, 176, 32, 76]


def test_the_grid_has_a_thumbnail_for_every_head() -> None:
    axis = Axis("source.tokens", ((0,), (1,)), ("a", "b"))
    values = np.full((3, 4, 2, 2), 0.5, np.float32)
    values[0, 0] = np.nan
    one = AttentionMap("encoder", (0, 2, 5), (0, 1, 2, 3), axis, axis, values, None, True)
    svg = document([draw_grid("grid", one)])
    assert svg.count("<image") == 12
    assert [int(label) for label in re.findall(r'class="layer"[^>]*>(\d)', svg)] == [0, 2, 5]


def test_the_grid_says_how_heads_and_layers_were_put_together() -> None:
    axis = Axis("source.tokens", ((0,), (1,)), ("a", "b"))
    values = np.full((1, 1, 2, 2), 0.5, np.float32)
    one = AttentionMap("encoder", (0, 1), (0, 1, 2), axis, axis, values, None, True, ("rollout", "max"))
    svg = document([draw_grid("grid", one)])
    assert re.findall(r'class="(layer|head)"[^>]*>(\w+)<', svg) == [("head", "max"), ("layer", "rollout")]
