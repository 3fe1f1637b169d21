"""Every answer has an id, the client's or one of ours; where the fault is ours the log names it."""

import re
import uuid

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "X-Request-Id"

# What can be written into a header and a log without a second look.
_ALLOWED = re.compile(r"[A-Za-z0-9._-]{1,128}")


class RequestIds:
    """ASGI middleware: takes the id of the request, or makes one where there is none that is allowed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the class."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        request_id = given if _ALLOWED.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        await self._app(scope, receive, send_with_id)


def request_id_of(request: Request) -> str:
    """The id that the answer to ``request`` will have."""
    request_id: str = request.state.request_id
    return request_id
