"""What was measured about the model, as charts on the page."""

import json
import re
import urllib.request
from typing import Any

import pytest

from tests.web.test_page import translate, until

CHARTS = ("importance", "bleu", "pruning", "distance", "alignment", "roles")


@pytest.fixture
def analysis(address: str) -> Any:
    with urllib.request.urlopen(f"{address}/info") as answer:
        return json.load(answer)["model"]["analysis"]


def open_about(page: Any) -> None:
    page.goto("/")
    until(page, "!document.querySelector('#translate').disabled")
    page.click("#about-open")
    page.wait_for_selector("#chart-roles")


def cells(page: Any, chart: str) -> list[list[str]]:
    page.click(f"#chart-{chart} .chart-table summary")
    rows = page.locator(f"#chart-{chart} .chart-table tbody tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def test_charts_are_fetched_when_the_section_is_opened(page: Any) -> None:
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    translate(page)
    assert not any("chart" in address and address.endswith(".js") for address in addresses)
    page.click("#about-open")
    page.wait_for_selector("#chart-roles")
    assert any(address.endswith("chart_strip.js") for address in addresses)
    assert "about=1" in page.url


def test_each_chart_says_in_a_sentence_what_is_seen(page: Any) -> None:
    open_about(page)
    for chart in CHARTS:
        title = page.inner_text(f"#chart-{chart} h3")
        assert re.fullmatch(r".{40,}\.", title), title
        assert "undefined" not in title
        assert "NaN" not in title


def test_tables_hold_what_was_measured(page: Any, analysis: Any) -> None:
    open_about(page)
    importance = cells(page, "importance")
    assert [float(value) for _, value in importance] == pytest.approx(
        sorted((head["importance"] for head in analysis["heads"]), reverse=True), abs=1e-4
    )
    bleu = {round(each["bleu"], 1) for each in analysis["without_one"]}
    assert {float(row[1]) for row in cells(page, "bleu")} <= {value + off for value in bleu for off in (0, 0.1, -0.1)}
    assert len(cells(page, "pruning")) == sum(map(len, analysis["pruning"].values()))
    assert len(cells(page, "distance")) == sum(map(len, analysis["distance"].values()))
    assert page.locator("#chart-roles .map-cell").count() == len(analysis["heads"])


def test_dots_stand_where_their_values_are(page: Any, analysis: Any) -> None:
    open_about(page)
    assert page.locator("#chart-importance .dot").count() == len(analysis["heads"])
    assert page.locator("#chart-pruning .dot").count() == sum(map(len, analysis["pruning"].values()))
    # With all heads kept the families meet in one point, at the right end and at the top.
    boxes = [dot.bounding_box() for dot in page.locator("#chart-pruning .dot").all()]
    rightmost = [box for box in boxes if box["x"] > max(each["x"] for each in boxes) - 3]
    assert len(rightmost) == 3
    assert min(box["y"] for box in boxes) >= min(box["y"] for box in rightmost) - 2


def test_the_other_direction_of_the_alignment(page: Any, analysis: Any) -> None:
    open_about(page)
    page.check("input[name=aligned-direction][value=fr-en]")
    assert page.inner_text("#chart-alignment h3").startswith("fr → en")
    rule, layer = (analysis["alignment"][name] for name in ("alignment_rule", "alignment_layer"))
    share = analysis["alignment"]["rules"][rule]["fr-en"]["layers"][layer]
    assert f"{share:.0%}".replace("%", " %") in page.inner_text("#chart-alignment h3")


def test_badges_open_their_head(page: Any) -> None:
    translate(page)
    page.click("#about-open")
    page.wait_for_selector("#chart-roles")
    page.click("#chart-importance .chart-table summary")
    page.locator("#chart-importance .head-badge").first.click()
    page.wait_for_selector(".heat")
    assert [page.locator(".head select").nth(index).input_value() for index in range(3)] == ["cross", "0", "7"]


def test_badges_are_walked_with_arrow_keys(page: Any) -> None:
    open_about(page)
    page.locator(".map-cell").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent").startswith("Layer 2, head 2:")
    assert page.locator(".head-map").first.locator("[tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    assert "Translate something first" in page.inner_text("#status")


def test_read_speaks_of_no_heads(page: Any) -> None:
    translate(page)
    assert re.search(r"\b(head|layer)s?\b", page.inner_text("#view"), re.IGNORECASE) is None
