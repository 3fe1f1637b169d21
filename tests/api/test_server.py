import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator

import httpx
import pytest

from app.__main__ import Server, make_server
from app.main import Running, create_app
from app.settings import Settings
from app.streaming import Progress, Tell
from app.translation import TranslateRequest, TranslateResult
from tests.api.scripted_service import ScriptedService

BODY = {"text": "a", "source": "en", "target": "fr"}


class SlowToStop(ScriptedService):
    """Drains until it is told that everybody has been answered."""

    def __init__(self) -> None:
        super().__init__()
        self.drained = threading.Event()
        self.go_on = asyncio.Event()

    async def translate(self, request: TranslateRequest, tell: Tell | None = None) -> TranslateResult:
        self.started.set()
        await self.go_on.wait()
        return await super().translate(request, tell)

    def stop(self) -> None:
        super().stop()
        assert self.drained.wait(10)


class BusyOutsideTheEngine(ScriptedService):
    """Its engine stops at once; what it still does is done elsewhere, as explanations are."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()

    async def translate(self, request: TranslateRequest, tell: Tell | None = None) -> TranslateResult:
        self.started.set()
        if tell is not None:
            tell(Progress(0, 0, "▁Le", None))
        await self.go_on.wait()
        return await super().translate(request, tell)


@contextlib.asynccontextmanager
async def serving(
    service: ScriptedService, **values: float
) -> AsyncIterator[tuple[Server, httpx.AsyncClient, "asyncio.Task[None]"]]:
    settings = Settings.model_validate({"port": 0, **values})
    server = make_server(settings, create_app(settings, lambda _: Running(service, 4, service.stop)))
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    async with httpx.AsyncClient(base_url=server.address(), timeout=10) as client:
        yield server, client, running
    await asyncio.wait_for(running, 10)


async def until_stopped(service: ScriptedService) -> None:
    while service.stopped == 0:
        await asyncio.sleep(0.01)


def test_draining_server_says_so_and_answers_what_it_has(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        service = SlowToStop()
        async with serving(service) as (server, client, _):
            assert (await client.get("/health/ready")).status_code == 200
            waiting = asyncio.create_task(client.post("/translate", json=BODY))
            await service.started.wait()
            server.should_exit = True  # what SIGTERM does
            await until_stopped(service)
            async with httpx.AsyncClient(base_url=server.address(), timeout=10) as newcomer:
                assert (await newcomer.get("/health/ready")).status_code == 503
                assert (await newcomer.get("/health/live")).status_code == 200
            service.go_on.set()
            assert (await waiting).json()["translations"][0]["text"] == "A"
            service.drained.set()

    with caplog.at_level("INFO"):
        asyncio.run(scenario())
    assert "/docs" in caplog.text
    assert "draining" in caplog.text


def test_work_outside_the_engine_is_waited_for() -> None:
    async def scenario() -> None:
        service = BusyOutsideTheEngine()
        async with serving(service) as (server, client, _):
            server.config.timeout_graceful_shutdown = 0
            waiting = asyncio.create_task(client.post("/translate", json=BODY))
            await service.started.wait()
            server.should_exit = True
            await until_stopped(service)
            await asyncio.sleep(0.3)
            async with httpx.AsyncClient(base_url=server.address(), timeout=10) as newcomer:
                assert (await newcomer.get("/health/ready")).status_code == 503
            service.go_on.set()
            answer = await waiting
            assert (answer.status_code, answer.json()["translations"][0]["text"]) == (200, "A")

    asyncio.run(scenario())


def test_what_is_not_finished_in_time_is_cut_with_an_answer(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        service = BusyOutsideTheEngine()
        async with serving(service, drain_seconds=0.1) as (server, client, _):
            plain = asyncio.create_task(client.post("/translate", json=BODY))
            stream = asyncio.create_task(client.post("/translate/stream", json=BODY))
            await service.started.wait()
            await asyncio.sleep(0.1)
            server.should_exit = True
            answer, events = await plain, (await stream).text
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not_ready")
        assert answer.headers["retry-after"]
        last = events.removesuffix("\n\n").rpartition("\n\n")[2]
        assert events.startswith("event: piece\n")
        assert last == f"event: error\ndata: {answer.text}"

    with caplog.at_level("INFO"):
        asyncio.run(scenario())
    assert "2 requests are cut" in caplog.text
    assert not any(record.exc_info for record in caplog.records)
