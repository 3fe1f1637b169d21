import asyncio
import json
import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import httpx
import pytest

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
    assert grid.attention.resolution == 64
    assert (alignment.attention, alignment.alignment) == (None, True)


def test_html_opens_alone_and_cannot_be_broken_out_of() -> None:
    nasty = "</script><script>alert(1)</script><!--"
    response = post(ScriptedService(), {"text": nasty, "view": "alignment"}, headers={"accept": "text/html"})
    assert response.headers["content-type"].startswith("text/html")
    page = response.text
    assert page.count("<script") == page.count("</script>") == 1
    assert "http-equiv" in page
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    assert "not a quality score" in page
    data = re.search(r'id="explanation">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["segments"][0]["source"]["text"] == nasty


@pytest.mark.parametrize("accept", ["image/png", "application/json"])
def test_what_cannot_be_drawn_is_told(accept: str) -> None:
    response = post(ScriptedService(), {}, headers={"accept": accept})
    assert (response.status_code, response.json()["error"]["field"]) == (422, "Accept")


def test_copied_text_is_an_empty_picture() -> None:
    assert "Nothing to show" in post(ScriptedService(), {"text": "12"}).text
