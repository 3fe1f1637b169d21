"""A body that is too large is refused before it is read, parsed or kept; one that does not come is not waited for."""

import asyncio
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.errors import error_response
from app.errors import DeadlineExceeded, TooLarge

# Escaped as two surrogates, "\\ud83d\\ude00", a character takes twelve bytes of JSON.
_MOST_BYTES_PER_CHARACTER = 12
_BYTES_BESIDES_TEXT = 65_536


def most_body_bytes(max_characters: int) -> int:
    """Room for ``max_characters``, however escaped, and the other fields; not for endless white space between them."""
    return _MOST_BYTES_PER_CHARACTER * max_characters + _BYTES_BESIDES_TEXT


class BodyLimit:
    """Reads the body up to ``max_bytes``, then hands the request on; answers 413 if there is more, 504 if it is late.

    Args:
        seconds: from the beginning of a request to the end of its body.
        reading: is kept to the tasks that wait for the body of their request.
    """

    def __init__(self, app: ASGIApp, max_bytes: int, seconds: float, reading: "set[asyncio.Task[Any]]") -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._reading = reading

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = _content_length(scope)
        if declared > self._max_bytes:
            await self._refuse(declared, scope, receive, send)
            return
        try:
            body = await self._read(receive)
        except TimeoutError:
            await self._give_up(scope, receive, send)
            return
        if body is None:
            return
        if len(body) > self._max_bytes:
            await self._refuse(len(body), scope, receive, send)
            return
        await self._app(scope, _replay(body, receive), send)

    async def _read(self, receive: Receive) -> bytes | None:
        """The body, or as much of it as shows that it is too large; None where the client is gone.

        Raises:
            TimeoutError: it is late.
        """
        task = asyncio.current_task()
        assert task is not None
        self._reading.add(task)
        body, more = bytearray(), True
        try:
            async with asyncio.timeout(self._seconds):
                while more and len(body) <= self._max_bytes:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
        finally:
            self._reading.discard(task)
        return bytes(body)

    async def _give_up(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = error_response(DeadlineExceeded(self._seconds, "the body did not arrive"))
        # What is still to come of the body would be taken for the beginning of the next request, or waited for.
        answer.headers["Connection"] = "close"
        await answer(scope, receive, send)

    async def _refuse(self, size: int, scope: Scope, receive: Receive, send: Send) -> None:
        message = f"the body has {size} bytes or more, at most {self._max_bytes} are read"
        error = TooLarge(message, field="body", limit=self._max_bytes, value=size)
        await error_response(error)(scope, receive, send)


def _content_length(scope: Scope) -> int:
    value: bytes = dict(scope["headers"]).get(b"content-length", b"")
    return int(value) if value.isdigit() else 0


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again
