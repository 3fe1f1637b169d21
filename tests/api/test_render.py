import asyncio
import importlib.util
import json
import re
import threading
import xml.etree.ElementTree as ElementTree
from typing import Any

import httpx
import pytest

from app.api import render
from app.attention.png import PngUnavailable
from app.errors import DeadlineExceeded, TooLarge
from tests.api.scripted_service import ScriptedService, client_of

VALID = {"text": "Hi.", "source": "en", "target": "fr"}
SVG = "{http://www.w3.org/2000/svg}"


def post(service: ScriptedService, body: dict[str, Any], **options: Any) -> httpx.Response:
    async def scenario() -> httpx.Response:
        async with client_of(service) as client:
            return await client.post("/attention/render", json=VALID | body, **options)

    return asyncio.run(scenario())


@pytest.mark.parametrize(
    ("view", "title", "kind", "count"),
    [
        ("head", "Cross-attention, layer 5, 2 heads", "rect", 1 + 4 + 10),
        ("lines", "Cross-attention, layer 5, 2 heads", "path", 4),
        ("grid", "Cross-attention, layer 5, 2 heads", "image", 2),
        ("alignment", "Word alignment", "path", 1),
    ],
)
def test_every_view_is_a_picture(view: str, title: str, kind: str, count: int) -> None:
    service = ScriptedService(reduces=view in ("head", "lines"))
    response = post(service, {"view": view})
    assert response.status_code == 200
    assert response.headers["content-type"] == "image/svg+xml"
    root = ElementTree.fromstring(response.text)
    assert root.get("aria-label") == title
    assert len(list(root.iter(f"{SVG}{kind}"))) == count


def test_selection_is_reduced_for_one_map_and_pooled_for_a_grid() -> None:
    service = ScriptedService()
    for view in ("head", "grid", "alignment"):
        post(service, {"view": view, "aggregate": {"heads": "max"}, "resolution": 300})
    head, grid, alignment = (request.wanted for request in service.explained)
    assert head.attention is not None
    assert (head.attention.reduce_heads, head.attention.reduce_layers, head.attention.resolution) == (
        "max",
        "mean",
        None,
    )
    assert grid.attention is not None
    assert (grid.attention.resolution, grid.attention.format.encoding) == (64, "picture")
    assert (alignment.attention, alignment.alignment) == (None, True)


def test_html_opens_alone_and_cannot_be_broken_out_of() -> None:
    nasty = "</script><script>alert(1)</script><!--"
    response = post(ScriptedService(), {"text": nasty, "view": "alignment"}, headers={"accept": "text/html"})
    assert response.headers["content-type"].startswith("text/html")
    page = response.text
    assert response.headers["vary"] == "Accept, Accept-Encoding"
    assert page.count("<script") == page.count("</script>") == 1
    assert "http-equiv" in page
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    assert "not a quality score" in page
    data = re.search(r'id="explanation">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["segments"][0]["source"]["text"] == nasty


@pytest.mark.parametrize("accept", ["image/gif", "application/json", "image/svg+xml;q=0"])
def test_what_cannot_be_drawn_is_told(accept: str) -> None:
    response = post(ScriptedService(), {}, headers={"accept": accept})
    assert (response.status_code, response.json()["error"]["field"]) == (422, "Accept")


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("image/png", "image/png"),
        ("image/*", "image/svg+xml"),
        ("*/*", "image/svg+xml"),
        ("image/svg+xml;q=0.5, image/png", "image/png"),
        ("image/svg+xml;q=0, image/*;q=0.1", "image/png"),
        ("text/html,application/xhtml+xml,image/png,*/*;q=0.8", "text/html"),
        ("IMAGE/PNG;Q=1", "image/png"),
    ],
)
def test_the_kind_of_picture_most_wanted_is_made(accept: str, media_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "check_png_installed", lambda: None)
    monkeypatch.setattr(render, "to_png", lambda drawings: f"PNG of {len(drawings)}".encode())
    response = post(ScriptedService(), {}, headers={"accept": accept})
    assert (response.status_code, response.headers["content-type"].split(";")[0]) == (200, media_type)
    assert response.headers["vary"].split(", ")[0] == "Accept"
    assert (response.content == b"PNG of 1") == (media_type == "image/png")


def test_without_the_extra_another_kind_is_sent_or_the_extra_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    service = ScriptedService()
    either = post(service, {}, headers={"accept": "image/png, image/svg+xml;q=0.1"})
    assert either.headers["content-type"] == "image/svg+xml"
    service = ScriptedService()
    response = post(service, {}, headers={"accept": "image/png"})
    error = response.json()["error"]
    assert (response.status_code, error["field"], error["value"]) == (422, "Accept", "image/png")
    assert error["limit"] == ["image/svg+xml", "text/html"]
    assert "extra png" in error["message"]
    assert service.explained == []


@pytest.mark.parametrize(
    ("failure", "status", "code", "field"),
    [
        (PngUnavailable("no font"), 422, "invalid_input", "Accept"),
        (TooLarge("text: large", field="text", limit=1, value=2), 413, "too_large", "text"),
        (DeadlineExceeded(20), 504, "deadline_exceeded", None),
        (RuntimeError("ended"), 500, "internal_error", None),
    ],
)
def test_what_goes_wrong_with_a_png_is_told(
    failure: Exception, status: int, code: str, field: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> bytes:
        raise failure

    monkeypatch.setattr(render, "check_png_installed", lambda: None)
    monkeypatch.setattr(render, "to_png", fail)
    response = post(ScriptedService(), {}, headers={"accept": "image/png"})
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["field"]) == (status, code, field)


def test_two_pngs_are_drawn_at_once_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most = 0, 0
    two = threading.Barrier(2, timeout=30)
    lock = threading.Lock()

    def draw(_: object) -> bytes:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        two.wait()
        with lock:
            running -= 1
        return b"PNG"

    async def scenario() -> list[httpx.Response]:
        async with client_of(ScriptedService()) as client:
            headers = {"accept": "image/png"}
            return await asyncio.gather(
                *(client.post("/attention/render", json=VALID, headers=headers) for _ in range(6))
            )

    monkeypatch.setattr(render, "check_png_installed", lambda: None)
    monkeypatch.setattr(render, "to_png", draw)
    assert [response.content for response in asyncio.run(scenario())] == [b"PNG"] * 6
    assert most == 2


def test_copied_text_is_an_empty_picture() -> None:
    assert "Nothing to show" in post(ScriptedService(), {"text": "12"}).text
