"""One map in somebody else's page: ``/embed`` and ``<attention-map>``."""

import urllib.request
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote

import pytest

from tests.web.test_page import SENTENCE, translate

LIVE = f"text={quote(SENTENCE)}&source=en&target=fr"


def policy(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        return str(answer.headers["Content-Security-Policy"])


def test_only_the_map_may_be_shown_inside_other_pages(address: str) -> None:
    assert "frame-ancestors 'none'" in policy(f"{address}/")
    assert "frame-ancestors *" in policy(f"{address}/embed")
    assert policy(f"{address}/embed").startswith("default-src 'none'; script-src 'self'; style-src 'self'")


def test_a_live_map_from_the_fragment(page: Any) -> None:
    page.goto(f"/embed#{LIVE}&layer=1&head=4")
    page.wait_for_selector("attention-map:not([aria-busy]) .heat-columns span")
    assert "children" in page.inner_text(".heat-columns")
    assert page.inner_text("figcaption b") == "Cross, layer 2, head 5."
    assert page.locator("textarea, form").count() == 0
    page.locator(".heat-cell").focus()
    page.keyboard.press("ArrowRight")
    assert "old" in page.inner_text(".readout")
    assert "view=head" in page.get_attribute("#open", "href")


@pytest.mark.parametrize(("draw", "selector"), [("lines", ".lines path"), ("table", "table td")])
def test_other_drawings(page: Any, draw: str, selector: str) -> None:
    page.goto(f"/embed#{LIVE}&draw={draw}")
    page.wait_for_selector(selector, state="attached")
    assert page.locator(selector).count() > 8


def test_a_saved_map(page: Any, tmp_path: Path) -> None:
    translate(page, view="head")
    page.click(".menu summary")
    with page.expect_download() as download:
        page.click("[data-kind=json]")
    download.value.save_as(tmp_path / "saved.json")
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url))
    page.route("**/saved.json", lambda route: route.fulfill(path=tmp_path / "saved.json"))
    page.goto("about:blank")
    page.goto("/embed#src=/saved.json&layer=0&head=7&unit=pieces")
    page.wait_for_selector("attention-map:not([aria-busy]) .heat-columns span")
    assert "children" in page.inner_text(".heat-columns")
    assert not any(url.endswith("/attention") for url in asked)
    assert page.locator("#open").is_hidden()


def test_faults_are_told_in_words(page: Any) -> None:
    page.goto("/embed")
    assert "no text" in page.inner_text("attention-map [role=alert]")
    page.goto("/embed#text=1234&source=en&target=fr")
    page.wait_for_selector("text=Nothing was translated")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Any]:
    """Serves `index.html` of a folder from an origin of its own."""
    handler = partial(Quiet, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()

        def serve(body: str) -> str:
            (tmp_path / "index.html").write_text(f'<!doctype html><link rel="icon" href="data:,">{body}', "utf-8")
            return f"http://127.0.0.1:{server.server_port}/index.html"

        yield serve
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def test_a_map_inside_another_page(page: Any, address: str, elsewhere: Any) -> None:
    page.goto(elsewhere(f'<iframe src="{address}/embed#{LIVE}" width="800" height="600"></iframe>'))
    inner = page.frame_locator("iframe")
    inner.locator(".heat-columns span").first.wait_for()
    assert inner.locator(".heat-columns > span").count() == len(SENTENCE.split()) + 1


def test_the_page_with_the_text_box_is_shown_in_no_other(browser: Any, address: str, elsewhere: Any) -> None:
    page = browser.new_page()
    page.goto(elsewhere(f'<iframe src="{address}/"></iframe>'))
    page.wait_for_timeout(500)
    assert page.frame_locator("iframe").locator("#text").count() == 0
    page.close()


def test_the_page_gives_the_code_for_it(page: Any, address: str, elsewhere: Any) -> None:
    translate(page, view="head")
    page.locator(".head select").nth(1).select_option(label="2")
    page.wait_for_selector("#view[aria-busy=false]")
    page.click(".menu summary")
    page.click("[data-kind=embed]")
    code = page.input_value("#embed-code")
    assert code.startswith(f'<iframe src="{address}/embed#text=The+old+man')
    page.goto(elsewhere(code))
    inner = page.frame_locator("iframe")
    inner.locator(".heat-columns span").first.wait_for()
    assert "layer 2" in inner.locator("figcaption b").inner_text()
