"""Views ask for what they show, and for nothing else."""

import json
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.web.test_page import SENTENCE, translate, until


def listen(page: Any) -> list[dict[str, Any]]:
    """Bodies of the requests for attention, as they are made."""
    asked: list[dict[str, Any]] = []
    page.on("request", lambda sent: asked.append(sent.post_data_json) if sent.url.endswith("/attention") else None)
    return asked


def is_one_matrix(body: dict[str, Any]) -> bool:
    axes = ("layers", "heads")
    return all(len(body[axis]) == 1 if body["aggregate"][axis] == "none" else True for axis in axes) and all(
        body[axis] != "all" or body["aggregate"][axis] != "none" for axis in axes
    )


def open_tab(page: Any, view: str) -> None:
    page.click(f"#tab-{view}")
    page.wait_for_selector(f"#view[aria-busy=false] .view.{'grid-view' if view == 'grid' else view}")


@pytest.mark.parametrize("view", ["read", "steps", "compare"])
def test_views_without_single_heads_fetch_none(page: Any, view: str) -> None:
    asked = listen(page)
    page.goto(f"/#view={view}&text={SENTENCE}&source=en&target=fr")
    page.wait_for_selector("#view[aria-busy=false] .view")
    assert all(is_one_matrix(body) for body in asked)
    assert [body["families"] for body in asked] == [["cross"], *([["decoder"]] if view == "steps" else [])]


def test_an_edit_is_compared_by_means(page: Any) -> None:
    asked = listen(page)
    translate(page, view="compare")
    page.fill(".edit textarea", "Le vieil homme a donné son livre rouge aux enfants.")
    page.click(".edit button")
    page.wait_for_selector(".coverage")
    assert len(asked) == 2
    assert all(is_one_matrix(body) for body in asked)


def test_head_fetches_the_one_that_it_shows_and_remembers_it(page: Any) -> None:
    asked = listen(page)
    page.goto(f"/#view=head&layer=1&head=3&text={SENTENCE}&source=en&target=fr")
    page.wait_for_selector("#view[aria-busy=false] .heat")
    assert [(body["families"], body["layers"], body["heads"]) for body in asked] == [(["cross"], [1], [3])]
    page.locator(".heat-cell").focus()
    page.keyboard.press("]")
    until(page, "location.hash.includes('head=4')")
    page.wait_for_selector("#view[aria-busy=false]")
    assert asked[-1]["heads"] == [4]
    page.keyboard.press("[")
    page.wait_for_timeout(200)
    assert len(asked) == 2


def test_running_over_heads_ends_at_the_last_one(page: Any) -> None:
    translate(page, view="head")
    page.locator(".heat-cell").focus()
    for _ in range(8):
        page.keyboard.press("]")
    page.keyboard.press("PageDown")
    page.wait_for_selector("#view[aria-busy=false]")
    until(page, "document.querySelectorAll('.head select')[2].value === '7'")
    page.check("input[name=draw][value=table]")
    assert "layer 1, head 8" in page.inner_text(".table-scroll caption")


def test_grid_fetches_a_family_and_head_then_needs_no_more(page: Any) -> None:
    asked = listen(page)
    translate(page, view="grid")
    assert asked[-1]["families"] == ["cross"]
    assert (asked[-1]["layers"], asked[-1]["aggregate"]["layers"]) == ("all", "none")
    before = len(asked)
    page.click('[data-head="cross.1.2"]')
    page.wait_for_selector("#view[aria-busy=false] .heat")
    assert len(asked) == before


def test_a_reduction_is_the_same_by_the_server_and_by_the_page(page: Any) -> None:
    """Head shows the server's mean before Grid was opened, and one of its own afterwards."""
    shown = []
    for first in ("read", "grid"):
        page.goto("about:blank")
        page.goto(f"/#view={first}&layer=1&head=max&table=1&text={SENTENCE}&source=en&target=fr")
        page.wait_for_selector("#view[aria-busy=false] .view")
        open_tab(page, "head")
        shown.append([float(cell) for cell in page.locator(".table-scroll td:not(:empty)").all_inner_texts()])
    assert shown[0] == pytest.approx(shown[1], abs=0.0015)


def test_rollout_through_the_encoder(page: Any) -> None:
    asked = listen(page)
    translate(page, view="head")
    assert page.locator(".head select").nth(1).locator("[value=rollout]").count() == 0
    page.locator(".head select").nth(0).select_option("encoder")
    page.wait_for_selector(".head select option[value=rollout]", state="attached")
    page.locator(".head select").nth(1).select_option("rollout")
    until(page, "document.querySelector('.hint').innerText.includes('Rollout')")
    assert asked[-1]["aggregate"] == {"layers": "rollout", "heads": "mean"}
    assert page.locator(".head select").nth(2).is_disabled()
    page.locator(".head select").nth(0).select_option("cross")
    page.wait_for_selector("#view[aria-busy=false]")
    assert page.locator(".head select").nth(1).input_value() == "mean"


def test_pictures_are_drawn_by_the_server_as_the_view_shows_them(page: Any) -> None:
    drawn: list[dict[str, Any]] = []
    page.on("request", lambda sent: drawn.append(sent.post_data_json) if sent.url.endswith("/render") else None)
    translate(page)
    for view, name in (("read", "alignment"), ("head", "head"), ("grid", "grid"), ("steps", "head")):
        open_tab(page, view)
        page.click(".menu summary")
        with page.expect_download():
            page.click("[data-kind=svg]")
        assert drawn[-1]["view"] == name
        assert drawn[-1]["target_text"].startswith("Le vieil")


def test_pictures_count_as_the_page_does(page: Any, tmp_path: Any) -> None:
    page.goto(f"/#view=head&layer=0&head=7&text={SENTENCE}&source=en&target=fr")
    page.wait_for_selector("#view[aria-busy=false] .heat")
    for view, names in (("head", ["layer 1", "head 8"]), ("grid", [">8<", ">2<"])):
        open_tab(page, view)
        page.click(".menu summary")
        with page.expect_download() as download:
            page.click("[data-kind=svg]")
        download.value.save_as(tmp_path / "picture.svg")
        drawn = (tmp_path / "picture.svg").read_text("utf-8")
        assert all(name in drawn for name in names)
        assert not any(name in drawn for name in ("layer 0", "head 7"))
        ElementTree.fromstring(drawn)


def test_json_has_every_head(page: Any, tmp_path: Any) -> None:
    translate(page)
    page.click(".menu summary")
    with page.expect_download() as download:
        page.click("[data-kind=json]")
    download.value.save_as(tmp_path / "attention.json")
    segment = json.loads((tmp_path / "attention.json").read_text("utf-8"))["segment"]
    assert segment["attention"]["maps"]["cross"]["shape"][:2] == [2, 8]
    assert segment["alignment"]["soft"]


def test_a_view_whose_weights_are_refused_says_so(browser: Any, address: str) -> None:
    page = browser.new_page(base_url=address)
    translate(page)
    refusal = {"error": {"code": "too_large", "message": "that would be too many weights"}}
    page.route("**/attention", lambda route: route.fulfill(status=413, json=refusal))
    page.click("#tab-grid")
    page.wait_for_selector("#view .hint >> text=too many weights")
    page.unroute("**/attention")
    page.click("#tab-steps")
    page.wait_for_selector(".view.steps")
    assert "too many weights" not in page.inner_text("#view")
    page.close()


def test_a_mark_before_a_sentence_does_not_make_the_view_ask_again_and_again(page: Any) -> None:
    asked = listen(page)
    page.goto("/#view=head&segment=1&text=Wait! - I am here.&source=en&target=fr")
    page.wait_for_selector("#view[aria-busy=false] .heat")
    page.wait_for_timeout(300)
    assert [body["text"] for body in asked] == ["- I am here."]
