"""Nobody works for a client that has left."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request

Answer = TypeVar("Answer")


class ClientDisconnected(Exception):
    """The client closed the connection before it had its answer."""


async def until_disconnect(request: Request, work: Coroutine[Any, Any, Answer]) -> Answer:
    """Awaits ``work``, which is cancelled as soon as the client of ``request`` is gone.

    Raises:
        ClientDisconnected: it went first.
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnected
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
