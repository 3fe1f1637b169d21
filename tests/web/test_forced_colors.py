"""High-contrast mode, in which the system's few colours replace those of the page."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.web.test_page import SENTENCE

SYSTEM = """() => {
  const probe = document.body.appendChild(document.createElement('i'));
  const colour = (name) => { probe.style.color = name; return getComputedStyle(probe).color; };
  const found = { Canvas: colour('Canvas'), CanvasText: colour('CanvasText'), Highlight: colour('Highlight') };
  probe.remove();
  return found;
}"""


@pytest.fixture(params=["light", "dark"])
def contrast(request: pytest.FixtureRequest, browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(
        forced_colors="active",
        reduced_motion="reduce",
        color_scheme=request.param,
        base_url=address,
        viewport={"width": 1280, "height": 900},
    )
    yield context.new_page()
    context.close()


def open_view(page: Any, view: str, more: str = "") -> dict[str, str]:
    page.goto("about:blank")
    page.goto(f"/#view={view}&text={SENTENCE}&source=en&target=fr{more}")
    page.wait_for_selector("#view[aria-busy=false] .view")
    return dict(page.evaluate(SYSTEM))


def style(page: Any, selector: str, name: str) -> str:
    return str(page.locator(selector).first.evaluate(f"element => getComputedStyle(element).{name}"))


def test_the_open_tab_and_chosen_options_stand_out(contrast: Any) -> None:
    colours = open_view(contrast, "head")
    assert style(contrast, "[role=tab][aria-selected=true]", "backgroundColor") == colours["Highlight"]
    assert style(contrast, "[role=tab][aria-selected=false]", "borderBottomColor") == colours["Canvas"]
    assert style(contrast, ".choice input:checked + span", "backgroundColor") == colours["Highlight"]
    assert style(contrast, ".choice input:not(:checked) + span", "backgroundColor") != colours["Highlight"]


def test_only_doubtful_words_are_underlined(contrast: Any) -> None:
    colours = open_view(contrast, "read")
    assert style(contrast, ".words .word:not(.unsure, .doubtful)", "borderBottomColor") == colours["Canvas"]
    assert style(contrast, ".legend .unsure", "borderBottomColor") == colours["CanvasText"]
    contrast.locator(".word").nth(5).click()
    assert style(contrast, ".word.chosen", "backgroundColor") == colours["Highlight"]
    assert style(contrast, ".word.lit", "outlineColor") == colours["Highlight"]


def test_colours_that_are_data_stay(contrast: Any) -> None:
    open_view(contrast, "head")
    assert style(contrast, ".heat canvas", "forcedColorAdjust") == "none"
    colours = open_view(contrast, "steps")
    assert style(contrast, ".rivals .bar i", "backgroundColor") == colours["CanvasText"]
    open_view(contrast, "grid")
    assert style(contrast, ".tile canvas", "forcedColorAdjust") == "none"


def test_marks_of_charts_can_be_seen(contrast: Any) -> None:
    colours = open_view(contrast, "grid", "&about=1")
    contrast.wait_for_selector("#chart-roles")
    assert style(contrast, ".dot.kind-0", "backgroundColor") == colours["CanvasText"]
    assert style(contrast, ".dot.kind-1", "backgroundColor") == colours["Canvas"]
    assert style(contrast, ".dot.kind-1", "borderTopColor") == colours["CanvasText"]
    assert style(contrast, ".series.kind-0", "stroke") == colours["CanvasText"]
