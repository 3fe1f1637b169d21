import asyncio
import json
import logging
from typing import Any

import httpx
import pytest

from app.errors import (
    DeadlineExceeded,
    EngineFailed,
    InvalidInput,
    NotReady,
    QueueFull,
    TooLarge,
)
from app.settings import Settings
from app.streaming import Progress, Tell
from app.translation import TranslateRequest, TranslateResult
from tests.api.scripted_service import ScriptedService, client_of

VALID = {"text": "a", "source": "en", "target": "fr"}
FIELDS = [
    *("alignment", "alternatives", "attention", "beam_size", "head_mask", "length_penalty", "offset_unit", "source"),
    *("target", "text"),
]


def post(service: ScriptedService, settings: Settings | None = None, **request: Any) -> httpx.Response:
    async def scenario() -> httpx.Response:
        async with client_of(service, settings) as client:
            return await client.post("/translate", **request)

    return asyncio.run(scenario())


def error_of(response: httpx.Response) -> dict[str, Any]:
    answer = response.json()
    assert list(answer) == ["error"]
    assert list(answer["error"]) == ["code", "message", "field", "limit", "value"]
    error: dict[str, Any] = answer["error"]
    return error


@pytest.mark.parametrize(
    ("fields", "field", "limit", "value"),
    [
        ({"text": None}, "text", None, None),
        ({"text": 4}, "text", None, 4),
        ({"text": False}, "text", None, False),
        ({"text": {"a": 1}}, "text", None, '{"a": 1}'),
        ({"text": []}, "text", 1, "[]"),
        ({"text": ["a", "b", "c", 4]}, "text[3]", None, 4),
        ({"text": ["a", None]}, "text[1]", None, None),
        ({"source": 1}, "source", None, 1),
        ({"source": "xx"}, "source", ["en", "fr"], "xx"),
        ({"source": "EN"}, "source", ["en", "fr"], "EN"),
        ({"target": "x" * 1000}, "target", ["fr"], "x" * 99 + "…"),
        ({"target": "en"}, "target", ["fr"], "en"),
        ({"beam_size": 0}, "beam_size", 1, 0),
        ({"beam_size": 17}, "beam_size", 16, 17),
        ({"beam_size": 10**30}, "beam_size", 16, str(10**30)),
        ({"beam_size": "4"}, "beam_size", None, "4"),
        ({"beam_size": False}, "beam_size", None, False),
        ({"beam_size": 2.0}, "beam_size", None, 2.0),
        ({"length_penalty": True}, "length_penalty", None, True),
        ({"length_penalty": -0.5}, "length_penalty", 0, -0.5),
        ({"length_penalty": "1"}, "length_penalty", None, "1"),
        ({"alternatives": -1}, "alternatives", 0, -1),
        ({"alternatives": 4}, "alternatives", 3, 4),
        ({"alternatives": 1, "beam_size": 1}, "alternatives", 0, 1),
        ({"alternatives": None}, "alternatives", None, None),
        ({"attention": True}, "attention", None, True),
        ({"attention": {"layers": "some"}}, "attention.layers", ["all"], "some"),
        ({"attention": {"layers": []}}, "attention.layers", 1, "[]"),
        ({"attention": {"layers": [0, "1"]}}, "attention.layers[1]", None, "1"),
        ({"attention": {"heads": [True]}}, "attention.heads[0]", None, True),
        ({"attention": {"families": []}}, "attention.families", 1, "[]"),
        ({"attention": {"families": ["self"]}}, "attention.families[0]", ["encoder", "decoder", "cross"], "self"),
        ({"attention": {"depth": 1}}, "attention.depth", None, 1),
        ({"offset_unit": "bytes"}, "offset_unit", ["codepoint", "utf16", "utf8"], "bytes"),
        ({"q": "text"}, "q", FIELDS, "text"),
        ({"<q": "text"}, "<q", FIELDS, "text"),
    ],
)
def test_invalid_field(fields: dict[str, object], field: str, limit: object, value: object) -> None:
    service = ScriptedService()
    response = post(service, json=VALID | fields)
    error = error_of(response)
    assert response.status_code == 422
    assert (error["code"], error["field"], error["limit"]) == ("invalid_input", field, limit)
    assert error["value"] == value
    assert type(error["value"]) is type(value)
    assert error["message"].startswith(field)
    assert service.requests == []


def test_missing_field() -> None:
    error = error_of(post(ScriptedService(), json={"text": "a", "source": "en"}))
    assert (error["field"], error["value"]) == ("target", None)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_number_that_is_none(number: str) -> None:
    content = json.dumps(VALID)[:-1] + f', "length_penalty": {number}}}'
    response = post(ScriptedService(), content=content, headers={"content-type": "application/json"})
    assert response.status_code == 422
    assert error_of(response)["field"] == "length_penalty"


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (r'{"text": "a\ud800b", "source": "en", "target": "fr"}', "text"),
        (r'{"text": "a", "source": "\ud800", "target": "fr"}', "source"),
        (r'{"text": "a", "source": "en", "target": "fr", "\udc00": 1}', "body"),
    ],
)
def test_lone_surrogate(content: str, field: str) -> None:
    response = post(ScriptedService(), content=content, headers={"content-type": "application/json"})
    assert response.status_code == 422
    assert error_of(response)["field"] == field


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"text": }', b"\xff\xfe", b'{"text": "\xe9"}', b"[" * 200_000, b"{'text': 1}"]
)
def test_malformed_json(content: bytes) -> None:
    response = post(ScriptedService(), content=content, headers={"content-type": "application/json"})
    error = error_of(response)
    assert (response.status_code, error["code"], error["field"]) == (400, "malformed_json", "body")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"text": }', "Expecting value at character 9"),
        (b'{"text": "\xe9"}', "it is not in UTF-8"),
        (b"[" * 200_000, "it is nested too deeply"),
        (b'{"beam_size": ' + b"9" * 5000 + b"}", "a number has too many digits"),
    ],
)
def test_reason_why_json_cannot_be_read(content: bytes, reason: str) -> None:
    response = post(ScriptedService(), content=content, headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert error_of(response)["message"] == f"the body cannot be read as JSON: {reason}"


@pytest.mark.parametrize("content", [b"4", b'"text"', b"null", b"[]"])
def test_json_that_is_no_object(content: bytes) -> None:
    response = post(ScriptedService(), content=content, headers={"content-type": "application/json"})
    assert response.status_code == 422
    assert error_of(response)["field"] == "body"


def test_body_that_does_not_say_it_is_json() -> None:
    response = post(ScriptedService(), data=VALID)
    error = error_of(response)
    assert (response.status_code, error["code"], error["field"]) == (415, "unsupported_media_type", "Content-Type")
    assert error["value"] == "application/x-www-form-urlencoded"


@pytest.mark.parametrize("content_type", ["text/json", "text/plain", "application/jsonp", "json", ""])
def test_only_json_is_read(content_type: str) -> None:
    response = post(ScriptedService(), content=json.dumps(VALID), headers={"content-type": content_type})
    error = error_of(response)
    assert (response.status_code, error["limit"], error["value"]) == (415, "application/json", content_type or None)


@pytest.mark.parametrize("content_type", ["Application/JSON; charset=utf-8", "application/problem+json"])
def test_json_by_other_names_is_read(content_type: str) -> None:
    response = post(ScriptedService(), content=json.dumps(VALID), headers={"content-type": content_type})
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("text", "limit", "value"), [(["a"] * 129, 128, 129), (["é" * 26_000, "😀" * 24_001], 50_000, 50_001)]
)
def test_too_large(text: list[str], limit: int, value: int) -> None:
    response = post(ScriptedService(), json=VALID | {"text": text})
    error = error_of(response)
    assert (response.status_code, error["code"], error["field"]) == (413, "too_large", "text")
    assert (error["limit"], error["value"]) == (limit, value)


def test_largest_request_passes_the_body_limit() -> None:
    settings = Settings(max_characters=10_000)
    content = json.dumps(VALID | {"text": "😀" * 10_000}, ensure_ascii=True)
    response = post(ScriptedService(), settings, content=content, headers={"content-type": "application/json"})
    assert response.status_code == 200


@pytest.mark.parametrize("declared", [True, False])
def test_body_is_not_read_beyond_its_limit(declared: bool) -> None:
    async def scenario() -> httpx.Response:
        sent = 0

        async def chunks():  # type: ignore[no-untyped-def]
            nonlocal sent
            for _ in range(100):
                sent += 1
                yield b" " * 10_000

        headers = {"content-type": "application/json"} | ({"content-length": "1000000"} if declared else {})
        async with client_of(ScriptedService(), Settings(max_characters=1)) as client:
            response = await client.post("/translate", content=chunks(), headers=headers)
        assert sent == (0 if declared else 7)
        return response

    response = asyncio.run(scenario())
    error = error_of(response)
    assert (response.status_code, error["code"], error["field"], error["limit"]) == (413, "too_large", "body", 65_548)


@pytest.mark.parametrize(
    ("failure", "status", "code", "limit", "value"),
    [
        (InvalidInput("bad", field="attention.layers", limit=6, value=7), 422, "invalid_input", 6, 7),
        (InvalidInput("bad", field="attention.heads", limit=(-8, 7), value=9), 422, "invalid_input", [-8, 7], 9),
        (TooLarge("much", field="attention", limit=10, value=20), 413, "too_large", 10, 20),
        (QueueFull(5, 6), 429, "queue_full", 6, 5),
        (NotReady("draining"), 503, "not_ready", None, None),
        (DeadlineExceeded(1.5), 504, "deadline_exceeded", 1.5, None),
    ],
)
def test_failure_of_the_service(failure: Exception, status: int, code: str, limit: object, value: object) -> None:
    response = post(ScriptedService(failure=failure), json=VALID)
    error = error_of(response)
    assert (response.status_code, error["code"]) == (status, code)
    assert (error["message"], error["limit"], error["value"]) == (str(failure), limit, value)
    retry_after = {429: "1", 503: "5"}.get(status)
    assert response.headers.get("retry-after") == retry_after


@pytest.mark.parametrize(
    ("failure", "code"), [(EngineFailed("secret"), "engine_failed"), (RuntimeError("secret"), "internal_error")]
)
def test_inner_failure_is_logged_and_not_told(failure: Exception, code: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        response = post(ScriptedService(failure=failure), json=VALID)
    assert (response.status_code, error_of(response)["code"]) == (500, code)
    assert "secret" not in response.text
    assert any(record.exc_info and record.exc_info[1] is failure for record in caplog.records)


class FailsAfterNews(ScriptedService):
    """Has something to tell before it fails: the status line is gone by then."""

    async def translate(self, request: TranslateRequest, tell: Tell | None = None) -> TranslateResult:
        assert tell is not None
        tell(Progress(text=0, segment=0, piece="A", target=None))
        raise RuntimeError("secret")


def test_failure_in_mid_stream_is_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> httpx.Response:
        async with client_of(FailsAfterNews()) as client:
            return await client.post("/translate/stream", json=VALID)

    with caplog.at_level(logging.ERROR):
        response = asyncio.run(scenario())
    assert response.status_code == 200
    assert response.headers["x-accel-buffering"] == "no"
    assert "event: piece" in response.text
    assert "event: error" in response.text
    assert "secret" not in response.text
    assert any(record.exc_info and str(record.exc_info[1]) == "secret" for record in caplog.records)


def test_unknown_path_and_method() -> None:
    async def scenario() -> None:
        async with client_of(ScriptedService()) as client:
            missing, method = await client.get("/nothing"), await client.get("/translate")
            no_file = await client.get("/web/nothing.js")
        assert (missing.status_code, error_of(missing)["code"]) == (404, "not_found")
        assert (method.status_code, error_of(method)["code"]) == (405, "method_not_allowed")
        assert method.headers["allow"] == "POST"
        assert (no_file.status_code, error_of(no_file)["code"]) == (404, "not_found")

    asyncio.run(scenario())


def test_a_path_with_a_slash_too_many_is_told_like_any_other() -> None:
    async def scenario() -> httpx.Response:
        async with client_of(ScriptedService(), None) as client:
            return await client.post("/translate/", json=VALID)

    response = asyncio.run(scenario())
    assert (response.status_code, error_of(response)["message"]) == (404, "there is nothing at /translate/")
