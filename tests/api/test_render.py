import asyncio
import importlib.util
import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api import render
from app.attention.drawing import Drawing
from app.attention.png import PngFailed, PngUnavailable
from app.attention.png_queue import PngQueue
from app.errors import DeadlineExceeded, QueueFull, TooLarge
from app.main import Running, create_app
from app.settings import Settings
from tests.api.scripted_service import ScriptedService, client_of
from tests.attention.resvg import ended, hang, processes

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
        ("head", "Cross-attention, layer 5, 2 heads; rows: the piece that is predicted", "rect", 1 + 4 + 10),
        ("lines", "Cross-attention, layer 5, 2 heads; rows: the piece that is predicted", "path", 4),
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
    nasty = "A cat </script><script>alert(1)</script><!--"
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
    async def count(_: PngQueue, drawings: Callable[[], list[Drawing]]) -> bytes:
        return f"PNG of {len(drawings())}".encode()

    monkeypatch.setattr(render, "check_png_installed", lambda: None)
    monkeypatch.setattr(PngQueue, "draw", count)
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
        (QueueFull(16, 16, "pictures"), 429, "queue_full", None),
        (PngFailed("ended"), 500, "internal_error", None),
    ],
)
def test_what_goes_wrong_with_a_png_is_told(
    failure: Exception, status: int, code: str, field: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> bytes:
        raise failure

    monkeypatch.setattr(render, "check_png_installed", lambda: None)
    monkeypatch.setattr(PngQueue, "draw", fail)
    response = post(ScriptedService(), {}, headers={"accept": "image/png"})
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["field"]) == (status, code, field)


def test_above_sixteen_that_wait_pngs_are_refused_before_they_are_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = hang(tmp_path, monkeypatch)
    service = ScriptedService()

    async def scenario() -> httpx.Response:
        async with client_of(service) as client:
            headers = {"accept": "image/png"}
            asked = [
                asyncio.create_task(client.post("/attention/render", json=VALID, headers=headers)) for _ in range(18)
            ]
            running = await processes(begun, 2)
            while len(service.explained) < len(asked):
                await asyncio.sleep(0.01)
            refused = await asyncio.wait_for(client.post("/attention/render", json=VALID, headers=headers), 10)
            other = await client.post("/attention/render", json=VALID)
            assert other.headers["content-type"] == "image/svg+xml", "only PNG is refused"
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
            await asyncio.gather(*map(ended, running))
            return refused

    response = asyncio.run(scenario())
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["limit"], error["value"]) == (429, "queue_full", 16, 16)
    assert error["message"] == "16 pictures are waiting, the queue holds 16"
    assert response.headers["retry-after"] == "1"
    assert len(service.explained) == 18 + 1


def test_client_that_leaves_ends_the_drawing_of_its_png(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = hang(tmp_path, monkeypatch)
    service = ScriptedService()
    app = create_app(Settings(), lambda _: Running(service, 4, service.stop))
    headers = [(b"content-type", b"application/json"), (b"accept", b"image/png")]
    scope = {"type": "http", "method": "POST", "path": "/attention/render", "query_string": b"", "headers": headers}
    messages = [{"type": "http.request", "body": json.dumps(VALID).encode(), "more_body": False}]
    sent: list[Any] = []

    async def receive() -> dict[str, object]:
        if messages:
            return messages.pop()
        await processes(begun, 1)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    async def scenario() -> None:
        async with app.router.lifespan_context(app):
            await asyncio.wait_for(app(scope, receive, send), 30)
            (process,) = await processes(begun, 1)
            await ended(process)

    asyncio.run(scenario())
    assert sent[0]["status"] == 499


def test_copied_text_is_an_empty_picture() -> None:
    assert "Nothing to show" in post(ScriptedService(), {"text": "12"}).text
