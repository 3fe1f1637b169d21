import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator

import httpx
import pytest

from app.__main__ import Server, make_server
from app.main import Running, create_app
from app.settings import Settings
from app.streaming import Tell
from app.translation import TranslateRequest, TranslateResult
from tests.api.scripted_service import ScriptedService


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


@contextlib.asynccontextmanager
async def serving(service: ScriptedService) -> AsyncIterator[tuple[Server, httpx.AsyncClient, "asyncio.Task[None]"]]:
    settings = Settings(port=0)
    server = make_server(settings, create_app(settings, lambda _: Running(service, 4, service.stop)))
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    async with httpx.AsyncClient(base_url=server.address(), timeout=10) as client:
        yield server, client, running
    await asyncio.wait_for(running, 10)


def test_draining_server_says_so_and_answers_what_it_has(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        service = SlowToStop()
        async with serving(service) as (server, client, _):
            assert (await client.get("/health/ready")).status_code == 200
            body = {"text": "a", "source": "en", "target": "fr"}
            waiting = asyncio.create_task(client.post("/translate", json=body))
            await service.started.wait()
            server.should_exit = True  # what SIGTERM does
            while service.stopped == 0:
                await asyncio.sleep(0.01)
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
