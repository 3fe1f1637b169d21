"""Counts what was answered, for ``GET /metrics``."""

import time
from collections.abc import Sequence

from starlette.routing import Match, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.metrics import AnsweredRequests

# What clients choose freely must not become labels: a monitoring system keeps every one for ever.
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_OTHER = "other"
_CLIENT_CLOSED_REQUEST = 499


class CountRequests:
    """ASGI middleware: tells ``answered`` the route, method, status and duration of every request."""

    def __init__(self, app: ASGIApp, routes: Sequence[Route | Mount], answered: AnsweredRequests) -> None:
        self._app = app
        self._routes = routes
        self._answered = answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the class."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        route = self._route(scope)
        method = scope["method"] if scope["method"] in _METHODS else _OTHER
        status = _CLIENT_CLOSED_REQUEST
        begun = time.monotonic()

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        finally:
            self._answered.count(route, method, status, time.monotonic() - begun)

    def _route(self, scope: Scope) -> str:
        """The template that the path follows, whatever the method."""
        return next((route.path for route in self._routes if route.matches(scope)[0] is not Match.NONE), _OTHER)
