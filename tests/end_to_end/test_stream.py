"""``POST /translate/stream`` of a real server with the bundled model."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from concurrent.futures import Future
from typing import Any

import httpx
import pytest

from app.__main__ import make_server
from app.main import create_app
from app.settings import Settings

BODY = {"source": "en", "target": "fr"}
TEXT = "The cat sleeps on the chair. Where is the station?\n\n42"


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[tuple[Any, httpx.AsyncClient]]:
    """The application and a client of it, over a socket."""
    settings = Settings(port=0)
    app = create_app(settings)
    server = make_server(settings, app)
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    async with httpx.AsyncClient(base_url=server.address(), timeout=60) as client:
        yield app, client
    server.should_exit = True
    await asyncio.wait_for(running, 30)


async def events_of(client: httpx.AsyncClient, body: dict[str, Any]) -> list[tuple[str, Any]]:
    found = []
    async with client.stream("POST", "/translate/stream", json={**BODY, **body}) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        name = ""
        async for line in response.aiter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
    return found


@pytest.mark.parametrize("beam_size", [1, 3])
def test_pieces_and_segments_add_up_to_the_result(beam_size: int) -> None:
    async def scenario() -> None:
        async with serving() as (_, client):
            body = {"text": [TEXT, "Good morning."], "beam_size": beam_size}
            events = await events_of(client, body)
            plain = (await client.post("/translate", json={**BODY, **body})).json()
            assert events[-1] == ("result", plain)
            pieces: dict[tuple[int, int], list[str]] = {}
            for name, data in events[:-1]:
                place = data["text"], data["segment"]
                segment = plain["translations"][place[0]]["segments"][place[1]]
                if name == "piece":
                    pieces.setdefault(place, []).append(data["piece"])
                else:
                    assert (name, data["target"]) == ("segment", segment["target"]["text"])
                    assert pieces.get(place, segment["target"]["pieces"]) == segment["target"]["pieces"]
            assert [name for name, _ in events].count("segment") == 4
            assert len(pieces) == (3 if beam_size == 1 else 0)

    asyncio.run(scenario())


def test_a_request_that_is_refused_has_its_status() -> None:
    async def scenario() -> None:
        async with serving() as (_, client):
            answer = await client.post("/translate/stream", json={**BODY, "text": "a", "target": "xx"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_input")

    asyncio.run(scenario())


def test_a_client_that_leaves_frees_its_rows() -> None:
    async def scenario() -> None:
        async with serving() as (app, client):
            engine = app.state.service._engine
            submit, answers = engine.submit, list[Future[Any]]()

            def note(*arguments: Any) -> list[Future[Any]]:
                answers.extend(submit(*arguments))
                return answers

            engine.submit = note
            # Each another, or one decode would do for all and might be over before the client leaves.
            text = " ".join(f"We walk {number} miles, and then we talk about the weather." for number in range(400))
            body = {**BODY, "text": text}
            async with client.stream("POST", "/translate/stream", json={**body, "beam_size": 1}) as response:
                await anext(response.aiter_lines())
            while any(worker.rows for worker in engine._workers) or len(engine._scheduler):
                await asyncio.sleep(0.01)
            assert sum(answer.cancelled() for answer in answers) > 100

    asyncio.run(scenario())


def test_the_last_piece_of_a_sentence_that_is_cut_is_told_too() -> None:
    async def scenario() -> None:
        async with serving() as (_, client):
            for text in ("ha " * 50, "xqz " * 40, "😀 x " * 20):
                events = await events_of(client, {"text": text, "beam_size": 1})
                for number, segment in enumerate(events[-1][1]["translations"][0]["segments"]):
                    told = [data["piece"] for name, data in events if name == "piece" and data["segment"] == number]
                    assert told == segment["target"]["pieces"]

    asyncio.run(scenario())
