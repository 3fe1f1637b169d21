"""``python -m app``: serves what the environment says, see ``app.settings``."""

import os
import signal
import sys

# Before anything imports onnxruntime, which reports home otherwise.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
if __name__ == "__main__":
    # Until the server handles them itself. The first process of a container gets no signal that it does not handle.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))

import argparse
import asyncio
import logging
import socket
import time
from collections.abc import Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

import uvicorn
from fastapi import FastAPI
from pydantic import ValidationError

from app.errors import EngineFailed, ModelDirectoryError
from app.main import compose, create_app
from app.settings import ENVIRONMENT_PREFIX, Settings, UnknownSetting, settings_from_environment

_log = logging.getLogger("app")


# For answers that have been decided to be written to their sockets.
_LAST_WORDS_SECONDS = 1.0


class Server(uvicorn.Server):
    """When told to stop it says that it is not ready, serves on for a while (lingers), drains, then closes its sockets.

    Health is answered until the sockets are closed.
    """

    def __init__(self, config: uvicorn.Config, app: FastAPI, settings: Settings) -> None:
        super().__init__(config)
        self._app = app
        self._settings = settings
        self._drain_at: float | None = None
        app.state.leaving = lambda: self.should_exit

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Asks for the end; uvicorn's own would raise the signal again then, but to stop when told to is no failure."""
        self.force_exit = self.force_exit or (self.should_exit and sig == signal.SIGINT)
        self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Whether to drain now; asked ten times a second."""
        if not await super().on_tick(counter):
            return False
        if self._drain_at is None:
            seconds = self._settings.linger_seconds
            self._drain_at = time.monotonic() + seconds
            if seconds:
                _log.info("told to stop: not ready any more, requests are taken for %g seconds", seconds)
        return self.force_exit or time.monotonic() >= self._drain_at

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts, and says where to look."""
        await super().startup(sockets)
        if self.started:
            address = self.address()
            _log.info("translate and look:  %s/", address)
            _log.info("the interface:       %s/docs", address)
            _log.info("ready for requests:  %s/health/ready", address)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finishes what runs, then closes."""
        if self.started:
            _log.info("draining: no more requests are taken")
            await self._drain()
        await super().shutdown(sockets)
        if self.force_exit:
            # Else it would be cancelled, with a trace in the log.
            await self.lifespan.shutdown()

    async def _drain(self) -> None:
        """Waits for the engine, then for what is done outside it, explanations for instance; cuts the rest."""
        drained_by = time.monotonic() + self._settings.drain_seconds
        # In a thread of its own: those of the event loop may all be busy for requests.
        await asyncio.get_running_loop().run_in_executor(ThreadPoolExecutor(1), self._app.state.stop)
        # A body that arrives now would be refused: who still sends one is cut as soon as the others are answered.
        reading: set[asyncio.Task[None]] = self._app.state.reading
        late = await self._unanswered(max(_LAST_WORDS_SECONDS, drained_by - time.monotonic()), reading)
        if late:
            _log.warning("%d requests are cut", len(late))
        for task in late:
            task.cancel()
        await self._unanswered(_LAST_WORDS_SECONDS)

    async def _unanswered(
        self, seconds: float, not_waited_for: Set["asyncio.Task[None]"] = frozenset()
    ) -> set["asyncio.Task[None]"]:
        """Who of those inside still is after ``seconds``; not those who come meanwhile, who are refused at once."""
        waiting = set(self.server_state.tasks)
        wait_until = time.monotonic() + seconds
        while waiting - not_waited_for and not self.force_exit and time.monotonic() < wait_until:
            _, waiting = await asyncio.wait(waiting, timeout=0.1)
        return waiting

    def address(self) -> str:
        """Where a browser on this machine finds the server; every interface includes the local one."""
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        if host in ("0.0.0.0", "::"):
            host = "localhost"
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def main(arguments: Sequence[str] = ()) -> int:
    """Serves until SIGINT or SIGTERM; returns the exit status.

    ``arguments`` may ask for help and nothing else: the environment says what is served, and how.
    """
    _parser().parse_args(arguments)
    try:
        settings = settings_from_environment()
    except (UnknownSetting, ValidationError) as error:
        print(_explained(error), file=sys.stderr)
        return 2
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr
    )
    try:
        running = compose(settings)
    except ModelDirectoryError as error:
        print(f"{settings.model} cannot be served:", *error.faults, sep="\n  ", file=sys.stderr)
        return 1
    except EngineFailed as error:
        print(f"{settings.model} cannot be served: {error}", file=sys.stderr)
        return 1
    server = make_server(settings, create_app(settings, lambda _: running))
    server.run()
    return 0 if server.started else 3


def make_server(settings: Settings, app: FastAPI) -> Server:
    """A server of ``app`` that is yet to run."""
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=settings.log_level in ("info", "debug"),
        server_header=False,
        # Load balancers keep idle connections for up to 60 seconds; who closes first must be they.
        timeout_keep_alive=75,
        # Only answers being written are left by then; a client that does not read must not hold the server.
        timeout_graceful_shutdown=5,
    )
    return Server(config, app, settings)


def _explained(error: UnknownSetting | ValidationError) -> str:
    if isinstance(error, UnknownSetting):
        return str(error)
    faults = []
    for fault in error.errors():
        name = "".join(str(part) for part in fault["loc"])
        given = f"{ENVIRONMENT_PREFIX}{name.upper()}: {fault['msg']}, not {fault['input']!r}"
        faults.append(given if name else fault["msg"])
    return "\n".join(faults)


def _parser() -> argparse.ArgumentParser:
    fields = Settings.model_fields.items()
    lines = [f"  {ENVIRONMENT_PREFIX}{name.upper()}: {field.description}" for name, field in fields]
    return argparse.ArgumentParser(
        prog="python -m app",
        description="Serves translations and attention until it is told to stop.",
        epilog="\n".join(["settings, from the environment:", *lines]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
