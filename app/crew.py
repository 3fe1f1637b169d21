"""Work on the items of a list in several threads at once: results in order, the first error ends it."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Crew:
    """Callers work themselves; ``helpers`` threads, shared by all callers, join in where they are free.

    However many call, no more than ``helpers`` threads are started, and nobody waits for one of them to get free.

    Attributes:
        helpers: how many.
    """

    def __init__(self, helpers: int) -> None:
        self.helpers = helpers
        self._pool = ThreadPoolExecutor(helpers, "crew") if helpers else None

    def map(self, work: Callable[[T], R], items: Sequence[T], check: Callable[[], None]) -> list[R]:
        """``work`` of every item, in order; ``check`` is called before each, in the same thread.

        Once one of the two has raised no other item is begun. Nothing runs on after the call.

        Raises:
            Exception: what ``check`` or ``work`` raised, of the earliest item if of several.
        """
        job = _Job(work, items, check)
        asked = min(self.helpers, len(items) - 1)
        calls = [self._pool.submit(job.run) for _ in range(asked)] if self._pool else []
        try:
            job.run()
        finally:
            # Who has not come yet need not come; the others end with the item that they are at.
            wait([call for call in calls if not call.cancel()])
        return job.results()

    def begin(self, work: Callable[[T], R], item: T) -> "Future[R]":
        """``work`` of one item in a helper's thread; there must be helpers.

        Cancel the future before you wait for it: where that succeeds no helper has come to it, and none will.
        """
        assert self._pool is not None
        return self._pool.submit(work, item)


class _Job(Generic[T, R]):
    """One list; every thread that calls ``run`` takes items until there are none left."""

    def __init__(self, work: Callable[[T], R], items: Sequence[T], check: Callable[[], None]) -> None:
        self._work = work
        self._items = items
        self._check = check
        self._numbers = iter(range(len(items)))
        self._lock = threading.Lock()
        self._found: dict[int, R] = {}
        self._errors: dict[int, Exception] = {}

    def run(self) -> None:
        """Returns when no item is left to begin; raises nothing."""
        while (number := self._next()) is not None:
            try:
                self._check()
                self._found[number] = self._work(self._items[number])
            except Exception as error:  # raised again in the caller's thread
                self._errors[number] = error

    def results(self) -> list[R]:
        """What ``Crew.map`` returns or raises; nothing is kept.

        A cancelled call stays in the pool's queue, and so does this job, until a helper comes by.
        """
        found, errors, count = self._found, self._errors, len(self._items)
        self._items, self._found, self._errors = (), {}, {}
        try:
            if errors:
                raise errors[min(errors)]
            return [found[number] for number in range(count)]
        finally:
            # An error knows this frame, which must not know the error.
            del errors

    def _next(self) -> int | None:
        with self._lock:
            return None if self._errors else next(self._numbers, None)
