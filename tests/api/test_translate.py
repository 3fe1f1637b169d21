import asyncio
from dataclasses import replace
from typing import Any

import pytest

from app.explanation import ExplanationRequest
from app.main import Running, create_app
from app.settings import Settings
from app.translation import TranslateRequest, TranslateResult
from tests.api.scripted_service import ScriptedService, client_of


def test_answer_has_the_documented_shape() -> None:
    async def scenario() -> None:
        async with client_of(ScriptedService()) as client:
            body = {"text": "Hi there.\n😀 42\n", "source": "en", "target": "fr", "alternatives": 1}
            response = await client.post("/translate", json=body)
        assert response.status_code == 200
        assert response.headers["content-type"] == "application/json"
        assert response.json() == {
            "translations": [
                {
                    "text": "HI THERE.\n😀 42\n",
                    "source": "en",
                    "target": "fr",
                    "segments": [
                        {
                            "source": {"text": "Hi there.", "span": [0, 9], "pieces": ["▁a", "b"]},
                            "target": {"text": "HI THERE.", "span": [0, 9], "pieces": ["▁A"]},
                            "log_prob": -1.234568,
                            "score": -0.5,
                            "finish_reason": "eos",
                            "alternatives": [{"text": "other", "log_prob": -3.0, "score": -1.5}],
                            "recased": False,
                            "kept": [],
                        },
                        {
                            "source": {"text": "😀 42", "span": [10, 14], "pieces": []},
                            "target": {"text": "😀 42", "span": [10, 14], "pieces": []},
                            "log_prob": None,
                            "score": None,
                            "finish_reason": "copied",
                            "alternatives": [],
                            "recased": False,
                            "kept": [],
                        },
                    ],
                    "attention": None,
                }
            ],
            "model": {"id": "scripted", "revision": "r1", "precision": "float32", "provider": "none"},
            "usage": {"characters": 15, "source_pieces": 3, "target_pieces": 4},
            "offset_unit": "codepoint",
        }

    asyncio.run(scenario())


@pytest.mark.parametrize(("score", "answered"), [(-1.2345678e-9, -1.23457e-9), (-0.5, -0.5), (None, None)])
def test_a_tiny_score_keeps_its_digits(
    monkeypatch: pytest.MonkeyPatch, score: float | None, answered: float | None
) -> None:
    async def scenario() -> None:
        service = ScriptedService()
        translate = service.translate

        async def scored(*arguments: Any) -> TranslateResult:
            result = await translate(*arguments)
            first = result.translations[0]
            segments = (replace(first.segments[0], score=score), *first.segments[1:])
            return replace(result, translations=(replace(first, segments=segments),))

        monkeypatch.setattr(service, "translate", scored)
        async with client_of(service) as client:
            response = await client.post("/translate", json={"text": "Hi.", "source": "en", "target": "fr"})
        assert response.json()["translations"][0]["segments"][0]["score"] == answered

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"text": "a"}, TranslateRequest(("a",), "en", "fr")),
        ({"text": [""]}, TranslateRequest(("",), "en", "fr")),
        ({"text": ["a", "b"]}, TranslateRequest(("a", "b"), "en", "fr")),
        ({"text": "a", "beam_size": 16}, TranslateRequest(("a",), "en", "fr", beam_size=16)),
        ({"text": "a", "length_penalty": 1}, TranslateRequest(("a",), "en", "fr", length_penalty=1.0)),
        ({"text": "a", "alternatives": 3}, TranslateRequest(("a",), "en", "fr", alternatives=3)),
        ({"text": "a", "attention": None, "beam_size": None}, TranslateRequest(("a",), "en", "fr")),
        (
            {"text": "a", "alignment": {}, "offset_unit": "utf16"},
            TranslateRequest(("a",), "en", "fr", offset_unit="utf16", explain=ExplanationRequest(None, True, "utf16")),
        ),
        (
            {"text": "a", "head_mask": {"cross": [[0, 0.5], [1, 1]]}},
            TranslateRequest(("a",), "en", "fr", head_mask={"cross": ((0.0, 0.5), (1.0, 1.0))}),
        ),
    ],
)
def test_request_reaches_the_service(fields: dict[str, object], expected: TranslateRequest) -> None:
    async def scenario() -> None:
        service = ScriptedService()
        async with client_of(service) as client:
            response = await client.post("/translate", json={"source": "en", "target": "fr", **fields})
        assert response.status_code == 200
        assert service.requests == [expected]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("options", "families", "layers", "heads"),
    [
        ({}, ("cross",), None, None),
        ({"layers": [0, -1], "heads": "all"}, ("cross",), (0, -1), None),
        ({"families": ["encoder", "decoder", "encoder"], "heads": [7]}, ("encoder", "decoder"), None, (7,)),
    ],
)
def test_attention_options_reach_the_service(
    options: dict[str, object], families: tuple[str, ...], layers: tuple[int, ...] | None, heads: tuple[int, ...] | None
) -> None:
    async def scenario() -> None:
        service = ScriptedService()
        async with client_of(service) as client:
            body = {"text": "a", "source": "en", "target": "fr", "attention": options}
            assert (await client.post("/translate", json=body)).status_code == 200
        explain = service.requests[0].explain
        assert explain is not None
        selection = explain.attention
        assert selection is not None
        assert (selection.families, selection.layers, selection.heads) == (families, layers, heads)

    asyncio.run(scenario())


def test_service_is_stopped_with_the_application() -> None:
    async def scenario() -> None:
        service = ScriptedService()
        async with client_of(service) as client:
            assert (await client.get("/health/ready")).json() == {"status": "ready"}
            assert service.stopped == 0
        assert service.stopped == 1

    asyncio.run(scenario())


def test_client_that_leaves_cancels_its_request() -> None:
    async def scenario() -> None:
        service = ScriptedService(hangs=True)
        app = create_app(Settings(), lambda _: Running(service, 4, service.stop))
        body = b'{"text": "a", "source": "en", "target": "fr"}'
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "path": "/translate",
            "raw_path": b"/translate",
            "query_string": b"",
            "root_path": "",
            "headers": [(b"content-type", b"application/json")],
        }
        sent: list[dict[str, object]] = []
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, object]:
            if messages:
                return messages.pop()
            await service.started.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, object]) -> None:
            sent.append(message)

        async with app.router.lifespan_context(app):
            await asyncio.wait_for(app(scope, receive, send), timeout=10)
        await asyncio.sleep(0)
        assert service.cancelled
        assert sent[0]["status"] == 499

    asyncio.run(scenario())
