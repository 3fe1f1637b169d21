"""A request that is cut because the server stops is told so, in the one shape of errors."""

import asyncio
import contextlib
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.errors import error_response
from app.api.stream import EVENTS, error_event
from app.errors import NotReady

# Who does not read is not waited for.
_SECONDS = 1.0


class CutOff:
    """ASGI middleware: who is cancelled while the server stops gets 503, or ``error`` as the last event of a stream."""

    def __init__(self, app: ASGIApp, leaving: Callable[[], bool]) -> None:
        self._app = app
        self._leaving = leaving

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the class."""
        started: Message | None = None
        complete = False

        async def send_noted(message: Message) -> None:
            nonlocal started, complete
            started = started or message
            complete = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        except asyncio.CancelledError:
            if scope["type"] != "http" or not self._leaving():
                raise
            # Not raised again: the client knows, and a trace in the log would say no more.
            if not complete:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_SECONDS):
                        await _last_words(started, scope, receive, send)


async def _last_words(started: Message | None, scope: Scope, receive: Receive, send: Send) -> None:
    """What still can be said after ``started``: nothing in the middle of a body that is no stream of events."""
    answer = error_response(NotReady("the server stops and could not wait for this"))
    if started is None:
        await answer(scope, receive, send)
    elif Headers(raw=started["headers"]).get("content-type", "").startswith(EVENTS):
        await send({"type": "http.response.body", "body": error_event(answer).encode()})
