"""How many requests of one kind are inside at once; the next is told to come again."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.errors import QueueFull


class Places:
    """``limit`` places for ``what``; used on one event loop."""

    def __init__(self, limit: int, what: str) -> None:
        self._limit = limit
        self._what = what
        self._taken = 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """A place while the context lasts.

        Raises:
            QueueFull: all are taken.
        """
        if self._taken >= self._limit:
            raise QueueFull(self._taken, self._limit, self._what)
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1
