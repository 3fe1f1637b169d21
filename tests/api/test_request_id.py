"""Every answer has an id."""

import asyncio
import logging
import re

import httpx
import pytest

from tests.api.scripted_service import ScriptedService, client_of

BODY = {"text": "a", "source": "en", "target": "fr"}


def ask(service: ScriptedService, method: str, path: str, **request: object) -> httpx.Response:
    async def scenario() -> httpx.Response:
        async with client_of(service) as client:
            return await client.request(method, path, **request)  # type: ignore[arg-type]

    return asyncio.run(scenario())


@pytest.mark.parametrize(
    ("method", "path", "request_", "status"),
    [
        ("GET", "/info", {}, 200),
        ("HEAD", "/info", {}, 200),
        ("GET", "/", {}, 200),
        ("GET", "/web/main.js", {}, 200),
        ("POST", "/translate", {"json": BODY}, 200),
        ("POST", "/translate/stream", {"json": BODY}, 200),
        ("GET", "/nothing", {}, 404),
        ("GET", "/translate", {}, 405),
        ("POST", "/translate", {"json": {}}, 422),
        ("POST", "/translate", {"content": b" " * 1_000_000}, 413),
    ],
)
def test_id_of_the_request_is_the_answers(method: str, path: str, request_: dict[str, object], status: int) -> None:
    answer = ask(ScriptedService(), method, path, headers={"x-request-id": "Ab-1_2.c"}, **request_)
    assert answer.status_code == status
    assert answer.headers.get_list("x-request-id") == ["Ab-1_2.c"]


@pytest.mark.parametrize("given", [None, "", "a b", "a" * 129, "<b>", "\u00e9".encode(), "a\tb"])
def test_without_an_allowed_one_it_is_made(given: str | bytes | None) -> None:
    headers = {} if given is None else {"x-request-id": given}
    made = {ask(ScriptedService(), "GET", "/info", headers=headers).headers["x-request-id"] for _ in range(2)}
    assert len(made) == 2
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in made)


def test_longest_id_is_taken() -> None:
    answer = ask(ScriptedService(), "GET", "/info", headers={"x-request-id": "a" * 128})
    assert answer.headers["x-request-id"] == "a" * 128


@pytest.mark.parametrize("path", ["/translate", "/translate/stream"])
def test_log_names_the_request_that_failed(path: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = ask(
            ScriptedService(failure=RuntimeError()), "POST", path, json=BODY, headers={"x-request-id": "seven"}
        )
    assert (answer.status_code, answer.headers["x-request-id"]) == (500, "seven")
    assert f"POST {path} failed, request seven" in caplog.text
