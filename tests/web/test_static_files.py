"""How browsers keep the page's files; needs no browser."""

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from app.web import pages


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = FastAPI()
    pages.add_to(app)
    return TestClient(app)


@pytest.mark.parametrize("path", ["/", "/embed", "/web/main.js", "/web/style.css", "/web/icon.svg"])
def test_nothing_is_used_again_unasked(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-cache"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_what_did_not_change_is_not_sent_again(client: TestClient) -> None:
    first = client.get("/web/main.js")
    again = client.get("/web/main.js", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["Cache-Control"] == "no-cache"
