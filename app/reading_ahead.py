"""Sources that are read while their translations are still being decoded."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager

from app.crew import Crew
from app.engine.step_model import ReadSource

SourceIds = tuple[int, ...]
Read = Callable[[SourceIds], ReadSource]


class Reader:
    """Reads the sources of one request; any thread may call it."""

    def __init__(self, read: Read, begun: Mapping[SourceIds, "Future[ReadSource]"]) -> None:
        self._read = read
        self._begun = begun

    def __call__(self, source_ids: SourceIds) -> ReadSource:
        """What was read ahead or is being read; a source that no helper has come to is read here.

        Raises:
            Exception: what reading it raised.
        """
        begun = self._begun.get(source_ids)
        if begun is None or begun.cancel():
            return self._read(source_ids)
        try:
            return begun.result()
        finally:
            # An error knows this frame, which must not know the error's future.
            del begun


class ReadingAhead:
    """Helpers of a crew read; of all requests together no more sources at a time than there are helpers.

    That bounds what is held for requests that wait to be decoded. It is also all that helps: where many sentences are
    decoded every core is busy, and reading them earlier would only move the work.
    """

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._room = threading.Semaphore(crew.helpers)

    @contextmanager
    def begin(self, read: Read, sources: Sequence[SourceIds]) -> Iterator[Reader]:
        """Begins with the first sources if there is room; those not begun by the end of the context never are."""
        distinct = dict.fromkeys(sources)
        begun = {source: self._crew.begin(read, source) for source in distinct if self._room.acquire(blocking=False)}
        try:
            yield Reader(read, begun)
        finally:
            for future in begun.values():
                future.cancel()
                self._room.release()
