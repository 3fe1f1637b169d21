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

    async def run(self, work: Callable[[Check], T]) -> T:
        """What ``work`` returns.

        ``work`` calls the function that it is given now and then; once this call was cancelled, that raises.
        """
        gone = threading.Event()

        def check() -> None:
            if gone.is_set():
                raise _Abandoned

        def checked() -> T:
            check()
            return work(check)

        async with self._turns:
            try:
                return await asyncio.to_thread(checked)
            finally:
                gone.set()
