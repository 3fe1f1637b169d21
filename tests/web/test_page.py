"""The page in a browser, against the running service with the bundled model."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

SENTENCE = "The old man gave his red book to the children."


def until(page: Any, expression: str) -> None:
    """Waits in Python: the page's Content-Security-Policy forbids Playwright to evaluate strings inside it."""
    end = time.monotonic() + 30
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(20)


def translate(page: Any, text: str = SENTENCE, view: str = "read") -> None:
    page.goto("/")
    page.fill("#text", text)
    page.click("#translate")
    page.wait_for_selector("#view[aria-busy=false] .words")
    if view != "read":
        page.click(f"#tab-{view}")
        page.wait_for_selector(f".view.{view if view != 'grid' else 'grid-view'}")


def test_pointing_at_a_word_shows_its_partners_on_the_other_side(page: Any) -> None:
    translate(page)
    source, target = page.locator(".words").nth(0), page.locator(".words").nth(1)
    source.get_by_role("button", name="children").hover()
    assert "enfants" in target.locator(".lit").all_inner_texts()
    assert "enfants" in page.inner_text(".readout")
    target.locator("button").nth(1).hover()
    assert source.locator(".lit").count() > 0


def test_a_kept_word_stays_until_escape(page: Any) -> None:
    translate(page)
    words = page.locator(".words").nth(0).locator("button")
    words.nth(2).click()
    words.nth(8).hover()
    assert page.inner_text(".readout").startswith("man")
    page.keyboard.press("Escape")
    assert page.locator(".word.chosen").count() == 0


def test_arrow_keys_walk_over_words(page: Any) -> None:
    translate(page)
    words = page.locator(".words").nth(0).locator("button")
    words.nth(0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.innerText") == "man"
    assert page.locator(".words").nth(0).locator("[tabindex='0']").count() == 1


def test_hovering_a_cell_reads_it_and_a_click_keeps_it(page: Any) -> None:
    translate(page, view="head")
    field = page.locator(".heat-field")
    field.hover(position={"x": 30, "y": 80})
    before = page.inner_text(".readout")
    assert "Le" in before
    field.click(position={"x": 30, "y": 80})
    field.hover(position={"x": 200, "y": 200})
    assert page.inner_text(".readout").startswith(before)
    assert page.locator(".heat.locked").count() == 1
    page.keyboard.press("Escape")
    assert page.locator(".heat.locked").count() == 0


def test_the_matrix_is_one_tab_stop_and_is_read_aloud(page: Any) -> None:
    translate(page, view="head")
    assert page.locator(".heat [tabindex='0']").count() == 1
    page.locator(".heat-cell").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    until(page, "document.querySelector('#spoken').textContent.startsWith('Le:')")
    cell = page.locator(".heat-cell")
    assert cell.get_attribute("aria-label").startswith("Le at .:")
    assert page.locator(".heat-row").get_attribute("aria-rowindex") == "2"
    assert page.locator(".heat canvas").get_attribute("aria-hidden") == "true"


def test_rows_of_the_table_sum_to_one(page: Any) -> None:
    translate(page, view="head")
    page.check("input[name=draw][value=table]")
    rows = page.locator(".table-scroll tbody tr").all()
    assert len(rows) > 5
    for row in rows:
        assert sum(float(cell) for cell in row.locator("td").all_inner_texts()) == pytest.approx(1, abs=0.01)


def test_keys_change_view_layer_head_and_unit(page: Any) -> None:
    translate(page)
    page.click(".read .readout")
    page.keyboard.press("2")
    page.wait_for_selector(".heat")
    page.locator(".heat-cell").focus()
    for key in ("]", "]", "PageDown", "w", "s"):
        page.keyboard.press(key)
    until(page, "location.hash.includes('special=keep')")
    for part in ("head=1", "layer=0", "unit=pieces"):
        assert part in page.url
    page.keyboard.press("m")
    until(page, "!location.hash.includes('layer')")


def test_keys_change_nothing_outside_the_viewer(page: Any) -> None:
    translate(page)
    before = page.url
    for place in ("#translate", "#about summary"):
        page.focus(place)
        for key in ("2", "s", "w", "m", "]", "?"):
            page.keyboard.press(key)
    page.locator("body").click(position={"x": 2, "y": 2})
    page.keyboard.press("3")
    assert page.url == before
    assert page.locator("#help").is_hidden()


def test_the_viewer_keeps_the_focus_when_a_view_goes_away(page: Any) -> None:
    translate(page, view="grid")
    page.focus('[data-head="cross.1.2"]')
    page.keyboard.press("Enter")
    page.wait_for_selector(".heat")
    until(page, "document.querySelector('#look').contains(document.activeElement)")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.wait_for_selector(".view.read")


def test_the_slider_leaves_only_the_heaviest_weights(page: Any) -> None:
    translate(page, view="head")
    page.check("input[name=draw][value=table]")
    full = sum(float(cell) > 0 for cell in page.locator(".table-scroll td:not(:empty)").all_inner_texts())
    page.locator(".mass input").fill("50")
    until(page, "location.hash.includes('mass=50')")
    few = sum(float(cell) > 0 for cell in page.locator(".table-scroll td:not(:empty)").all_inner_texts())
    assert 0 < few < full / 2


def test_what_end_marks_hide_is_printed(page: Any) -> None:
    translate(page, view="head")
    assert "% hidden" in page.inner_text(".checks")
    page.uncheck(".checks label:nth-child(2) input")
    until(page, "!document.querySelector('.checks').innerText.includes('hidden')")
    assert "end of sentence" in page.inner_text(".heat-columns")


def test_muting_heads_changes_the_translation(page: Any) -> None:
    translate(page, view="grid")
    page.check("input[name=doing][value=mute]")
    for head in range(6):
        page.click(f'[data-head="cross.1.{head}"]')
    page.wait_for_selector("ins")
    assert page.locator(".tile.muted").count() == 6
    before, after = page.locator(".before-after dd").all_inner_texts()
    assert before != after
    page.click("text=Unmute all")
    page.wait_for_selector(".muted-panel", state="hidden")


def test_a_head_of_the_grid_opens(page: Any) -> None:
    translate(page, view="grid")
    page.select_option(".grid-view select", "encoder")
    page.click('[data-head="encoder.3.2"]')
    page.wait_for_selector(".heat")
    assert page.locator(".head select").nth(1).input_value() == "3"
    assert page.locator(".head select").nth(2).input_value() == "2"


def test_steps_say_what_was_fed_and_what_came_out(page: Any) -> None:
    translate(page, view="steps")
    page.wait_for_selector(".triangle")
    first = page.inner_text(".chip.strong")
    page.click("[aria-label='Step on']")
    until(page, "document.querySelector('.step-place').textContent.startsWith('Step 2')")
    assert page.locator(".fed-predicted .chip").first.inner_text() == first
    assert 5 <= page.locator(".rivals li").count() <= 6
    assert page.locator(".step-self .strip li").count() == 2


def test_an_edited_translation_is_compared(page: Any) -> None:
    translate(page, view="compare")
    page.fill(".edit textarea", "Le vieil homme a donné son livre rouge aux enfants.")
    page.click(".edit button")
    page.wait_for_selector(".coverage")
    panes = page.locator(".compare-pane")
    assert panes.count() == 2
    panes.nth(0).locator(".words").nth(0).get_by_role("button", name="red").hover()
    assert all("rouge" in panes.nth(index).locator(".lit").all_inner_texts() for index in range(2))


def test_an_edit_is_of_one_sentence(page: Any) -> None:
    translate(page, "She reads a book. He forgot his keys.", view="compare")
    page.fill(".edit textarea", "Zut.")
    page.click(".edit button")
    page.wait_for_selector(".coverage")
    assert "(< 1 % a piece)" in page.locator(".compare-pane").nth(1).inner_text()
    page.select_option("#sentence", "1")
    until(page, "document.querySelector('.edit textarea').value.startsWith('Il')")
    assert page.locator(".coverage").count() == 0


def test_everything_can_be_downloaded(page: Any, tmp_path: Path) -> None:
    translate(page, view="head")
    found = {}
    for kind in ("json", "csv", "svg", "png", "html"):
        page.click(".menu summary")
        with page.expect_download() as download:
            page.click(f"[data-kind={kind}]")
        found[kind] = tmp_path / f"attention.{kind}"
        download.value.save_as(found[kind])
    assert json.loads(found["json"].read_text("utf-8"))["segment"]["source"]["text"] == SENTENCE
    assert found["csv"].read_text("utf-8-sig").startswith(",The,old,man")
    assert found["svg"].read_text("utf-8").startswith("<svg")
    assert found["png"].read_bytes().startswith(b"\x89PNG")
    text = found["html"].read_text("utf-8")
    assert "http://127" not in text
    page.goto(found["html"].as_uri())
    assert page.locator("svg text").count() > 10


def test_the_fragment_holds_the_state_and_the_text_is_in_no_address(page: Any) -> None:
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url.partition("#")[0]))
    translate(page, "She reads a book.", view="head")
    url = page.url
    assert "#" in url
    page.goto("about:blank")
    page.goto(url)
    page.wait_for_selector(".heat")
    assert page.input_value("#text") == "She reads a book."
    assert not any("reads" in address for address in addresses)


def test_another_text_in_the_address_is_translated(page: Any) -> None:
    translate(page, "She reads a book.", view="read")
    before = page.inner_text("#translation")
    page.evaluate("location.hash = 'text=Le+chat+dort.&source=fr&target=en&beam=2&view=grid&about=1'")
    page.wait_for_function("before => document.getElementById('translation').innerText !== before", arg=before)
    assert "cat" in page.inner_text("#translation")
    assert page.input_value("#text") == "Le chat dort."
    assert (page.input_value("#direction"), page.input_value("#beam")) == ("fr en", "2")
    until(page, "document.getElementById('tab-grid').getAttribute('aria-selected') === 'true'")
    assert page.evaluate("document.getElementById('about').open")


def test_sentences_are_explained_one_at_a_time(page: Any) -> None:
    asked: list[dict[str, Any]] = []
    page.on(
        "request", lambda request: asked.append(request.post_data_json) if request.url.endswith("/attention") else None
    )
    translate(page, "She reads a book. He forgot his keys. They sleep.")
    assert [body["text"] for body in asked] == ["She reads a book."]
    assert asked[0]["families"] == ["cross"]
    page.select_option("#sentence", "2")
    until(page, "document.querySelector('.words').innerText.includes('sleep')")
    assert [body["text"] for body in asked][1:] == ["They sleep."]


def test_text_with_nothing_to_translate(page: Any) -> None:
    page.goto("/")
    page.fill("#text", "1234")
    page.click("#translate")
    until(page, "document.querySelector('#status').textContent.includes('Nothing')")
    assert page.locator("#look").is_hidden()


@pytest.mark.parametrize("width", [390, 820, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_is_wider_than_the_window(page: Any, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    translate(page)
    for view in ("read", "head", "grid", "steps", "compare"):
        page.click(f"#tab-{view}")
        page.wait_for_selector("#view[aria-busy=false] .view")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.click("#about-open")
    page.wait_for_selector("#chart-roles")
    for summary in page.locator(".chart-table summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_axe_finds_nothing_serious(page: Any) -> None:
    axe = axe_core()
    translate(page)
    page.evaluate(axe)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for view in ("read", "head", "grid", "steps", "compare"):
            page.click(f"#tab-{view}")
            page.wait_for_selector("#view[aria-busy=false] .view")
            assert violations(page) == [], view
        page.click("#about-open")
        page.wait_for_selector("#chart-roles")
        assert violations(page) == []
        page.click("#about summary")


def test_axe_finds_nothing_serious_in_an_embedded_map(page: Any) -> None:
    axe = axe_core()
    for draw in ("matrix", "lines", "table"):
        page.goto(f"/embed#text={SENTENCE}&source=en&target=fr&draw={draw}")
        page.wait_for_selector("attention-map:not([aria-busy]) figcaption b")
        page.evaluate(axe)
        assert violations(page) == []


def axe_core() -> str:
    folder = os.environ.get("AXE_CORE")
    if not folder:
        pytest.skip("AXE_CORE does not name a folder with axe.min.js: npm install axe-core")
    return Path(folder, "axe.min.js").read_text("utf-8")


def violations(page: Any) -> list[tuple[str, str]]:
    page.wait_for_timeout(300)
    found = page.evaluate("axe.run({ preload: false })")["violations"]
    return [(each["id"], node["html"][:200]) for each in found for node in each["nodes"]]
