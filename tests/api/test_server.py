import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

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
        assert self.drained.wait(60)


class BusyOutsideTheEngine(ScriptedService):
    """Its engine stops at once; what it still does is done elsewhere, as explanations are."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = 0
        self.go_on = asyncio.Event()

    async def translate(self, request: TranslateRequest, tell: Tell | None = None) -> TranslateResult:
        self.started.set()
        self.inside += 1
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
    async with httpx.AsyncClient(base_url=server.address(), timeout=60) as client:
        yield server, client, running
    await asyncio.wait_for(running, 60)


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
            async with httpx.AsyncClient(base_url=server.address(), timeout=60) as newcomer:
                assert (await newcomer.get("/health/ready")).status_code == 503
                assert (await newcomer.get("/health/live")).status_code == 200
            service.go_on.set()
            assert (await waiting).json()["translations"][0]["text"] == "A"
            service.drained.set()

    with caplog.at_level("INFO"):
        asyncio.run(scenario())
    assert "/docs" in caplog.text
    assert "draining" in caplog.text


def test_threads_that_are_busy_for_requests_do_not_hold_up_the_end() -> None:
    async def scenario() -> None:
        service, busy = ScriptedService(), threading.Event()
        async with serving(service) as (server, client, _):
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
            waiting = asyncio.create_task(asyncio.to_thread(busy.wait, 60))
            assert (await client.get("/health/ready")).status_code == 200
            server.should_exit = True
            await asyncio.wait_for(until_stopped(service), 10)
            busy.set()
            await waiting

    asyncio.run(scenario())


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
            async with httpx.AsyncClient(base_url=server.address(), timeout=60) as newcomer:
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
            while service.inside < 2:
                await asyncio.sleep(0.01)
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


@contextlib.asynccontextmanager
async def stalled_upload(server: Server) -> AsyncIterator[asyncio.StreamReader]:
    """What comes back to a client that announces more than it sends."""
    reader, writer = await asyncio.open_connection(*server.servers[0].sockets[0].getsockname())
    head = b"POST /translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
    writer.write(head + b"{")
    yield reader
    writer.close()


def test_a_body_that_does_not_arrive_is_answered_at_the_deadline_and_the_connection_closed() -> None:
    async def scenario() -> None:
        async with serving(ScriptedService(), deadline_seconds=0.1) as (server, _, _):
            async with stalled_upload(server) as reader:
                head, _, body = (await asyncio.wait_for(reader.read(), 30)).decode().partition("\r\n\r\n")
            server.should_exit = True
        assert head.startswith("HTTP/1.1 504 ")
        assert "connection: close" in head.lower().split("\r\n")
        assert json.loads(body)["error"] == {
            "code": "deadline_exceeded",
            "message": "the body did not arrive within 0.1 seconds",
            "field": None,
            "limit": 0.1,
            "value": None,
        }

    asyncio.run(scenario())


def test_draining_does_not_wait_for_bodies(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        service = BusyOutsideTheEngine()
        async with serving(service, drain_seconds=3600, deadline_seconds=3600) as (server, client, _):
            waiting = asyncio.create_task(client.post("/translate", json=BODY))
            await service.started.wait()
            async with stalled_upload(server) as reader:
                while not server._app.state.reading:
                    await asyncio.sleep(0.01)
                server.should_exit = True
                await until_stopped(service)
                service.go_on.set()
                assert (await waiting).status_code == 200
                answer = await asyncio.wait_for(reader.read(), 30)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"not_ready" in answer

    asyncio.run(scenario())
    assert "1 requests are cut" in caplog.text
    assert not any(record.exc_info for record in caplog.records)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_lingering_server_is_not_ready_and_serves_until_a_second_interrupt(
    number: signal.Signals, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        service = ScriptedService()
        async with serving(service, linger_seconds=3600) as (server, client, _):
            signal.raise_signal(number)
            assert (await client.get("/health/ready")).status_code == 503
            await asyncio.sleep(0.2)
            async with httpx.AsyncClient(base_url=server.address(), timeout=60) as newcomer:
                assert (await newcomer.get("/health/ready")).json()["error"]["code"] == "not_ready"
                assert (await newcomer.get("/health/live")).status_code == 200
                assert (await newcomer.post("/translate", json=BODY)).status_code == 200
            assert service.stopped == 0
            signal.raise_signal(signal.SIGINT)
        assert service.stopped > 0

    asyncio.run(scenario())
    assert "Traceback" not in caplog.text


def test_lingering_ends() -> None:
    async def scenario() -> None:
        service = ScriptedService()
        async with serving(service, linger_seconds=0.5):
            told = time.monotonic()
            signal.raise_signal(signal.SIGTERM)
            await until_stopped(service)
            assert time.monotonic() - told >= 0.5

    asyncio.run(scenario())


def test_idle_connections_outlive_those_of_load_balancers() -> None:
    async def scenario() -> None:
        async with serving(ScriptedService()) as (server, _, _):
            assert server.config.timeout_keep_alive > 60
            server.should_exit = True

    asyncio.run(scenario())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(
    ("options", "line"), [([], "ready for requests"), (["-X", "importtime"], "uvicorn")], ids=["ready", "importing"]
)
def test_program_that_is_told_to_stop_ends_with_0(number: signal.Signals, options: list[str], line: str) -> None:
    command = [sys.executable, *options, "-m", "app"]
    environment = {**os.environ, "VITRAIL_PORT": "0"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any(line in told for told in process.stderr)
        process.send_signal(number)
        told = process.stderr.read()
    assert process.returncode == 0, told
    assert "Traceback" not in told
