import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.attention.axes import Axis
from app.attention.drawing import document
from app.attention.maps import AttentionMap
from app.attention.svg import HeatMap, draw_heat_map, map_title, mean_map

SVG = "{http://www.w3.org/2000/svg}"


def parse(heat_map: HeatMap) -> ElementTree.Element:
    return ElementTree.fromstring(document([draw_heat_map(heat_map)]))


def texts(root: ElementTree.Element, kind: str) -> list[str | None]:
    return [element.text for element in root.iter(f"{SVG}text") if element.get("class") == kind]


def cells(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [element for element in root.iter(f"{SVG}rect") if element.get("class") == "cell"]


def test_one_cell_per_weight_and_one_label_per_piece() -> None:
    weights = np.array([[0.0, 0.25, 0.75], [1.0, 0.0, 0.0]], dtype=np.float32)
    root = parse(HeatMap("Layer 6", ("<s>", "▁Le"), ("▁The", "▁cat", "</s>"), weights))
    assert texts(root, "query") == ["<s>", "·Le"]
    assert texts(root, "key") == ["·The", "·cat", "</s>"]
    told = [cell.findtext(f"{SVG}title") for cell in cells(root)]
    assert told[1] == "<s> looks at ▁cat: 0.250"
    assert len(told) == weights.size
    colours = [cell.get("fill") for cell in cells(root)]
    assert colours[0] == colours[4] == "#f2efe8"
    assert colours[3] == "#b0204c"


def test_labels_are_escaped() -> None:
    nasty = "<script>&\"'"
    root = parse(HeatMap(nasty, (nasty,), (nasty,), np.ones((1, 1), dtype=np.float32)))
    assert texts(root, "query") == texts(root, "key") == [nasty]
    assert root.findtext(f"{SVG}title") == root.get("aria-label") == nasty


def test_wide_labels_get_room_and_long_ones_are_shortened() -> None:
    def width(label: str) -> float:
        return float(parse(HeatMap("", (label,), ("a",), np.ones((1, 1), dtype=np.float32))).get("width", ""))

    assert width("猫猫") == width("abcd") == width("😀😀") > width("ab") == width("a\u0301b")
    assert width("a" * 500) == width("a" * 60) < 500


def test_long_title_gets_room() -> None:
    picture = HeatMap("title " * 20, ("a",), ("a",), np.ones((1, 1), dtype=np.float32))
    assert float(parse(picture).get("width", "")) > 120 * 9


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_piece_gives_well_formed_xml(piece: str) -> None:
    root = parse(HeatMap(piece, (piece,), (piece,), np.zeros((1, 1), dtype=np.float32)))
    assert len(cells(root)) == 1


def test_mean_over_layers_and_heads() -> None:
    values = np.array([[[[0.0, 1.0]], [[0.5, 0.5]]]], dtype=np.float32)
    query, key = Axis("target.fed", ((0,),), ("q",)), Axis("source.tokens", ((0,), (1,)), ("a", "b"))
    mean = mean_map(AttentionMap("cross", (0,), (0, 1), query, key, values, None, True), "title")
    np.testing.assert_allclose(mean.weights, [[0.25, 0.75]])


def test_rows_of_cross_attention_are_named_by_what_they_predict() -> None:
    values, key = np.ones((1, 1, 3, 1), dtype=np.float32), Axis("source.tokens", ((0,),), ("a",))
    pieces = Axis("target.fed", ((0,), (1,), (2,)), ("<s>", "▁Le", "▁chat"))
    words = Axis("target.fed", ((0,), (1, 2), (3,)), ("<s>", "Le chat", "dort"))
    shown = {
        (family, query): mean_map(
            one := AttentionMap(family, (0,), (0,), query, key, values, None, True), map_title(one)
        )
        for family, query in (("cross", pieces), ("cross", words), ("decoder", pieces))
    }
    assert shown["cross", pieces].query == ("▁Le", "▁chat", "</s>")
    assert shown["cross", pieces].title.endswith("; rows: the piece that is predicted")
    assert shown["cross", words].query == words.labels
    assert shown["decoder", pieces].query == pieces.labels
    assert "predicted" not in shown["cross", words].title + shown["decoder", pieces].title


def test_labels_must_match_the_weights() -> None:
    with pytest.raises(ValueError, match="the labels say"):
        HeatMap("", ("a",), ("b", "c"), np.zeros((2, 1), dtype=np.float32))


def test_empty_map_is_a_picture_too() -> None:
    assert cells(parse(HeatMap("", (), (), np.zeros((0, 0), dtype=np.float32)))) == []
