"""Long work in threads, a few at a time, that ends soon after its caller has gone."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
Check = Callable[[], None]


class _Abandoned(Exception):
    """Nobody waits for the work any more."""


class Abandonable:
    """At most ``at_once`` pieces of work run; others wait their turn within their deadlines.

    The event loop's threads also serve plain requests: they must not all be taken by long work.
    """

    def __init__(self, at_once: int) -> None:
        self._turns = asyncio.Semaphore(at_once)

    async def run(self, work: Callable[[Check], T], begun: Callable[[], None] = lambda: None) -> T:
        """What ``work`` returns.

        Args:
            work: calls the function that it is given now and then; once this call was cancelled, that raises.
            begun: called on the event loop when it is the work's turn.
        """
        gone = threading.Event()

        def check() -> None:
            if gone.is_set():
                raise _Abandoned

        def checked() -> T:
            check()
            return work(check)

        await self._turns.acquire()
        begun()
        working = asyncio.create_task(asyncio.to_thread(checked))
        working.add_done_callback(self._ended)
        try:
            return await asyncio.shield(working)
        finally:
            gone.set()

    def _ended(self, done: "asyncio.Task[T]") -> None:
        """The turn ends with the thread, which goes on to its next check when the caller has gone."""
        self._turns.release()
        if not done.cancelled():
            done.exception()  # looked at, so that work that nobody waits for is not a fault of the event loop's
