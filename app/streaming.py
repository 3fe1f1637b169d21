"""What a translation says of itself before it is finished."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from app.engine.hypotheses import Hypothesis
from app.text.tokenizer import Tokenizer
from app.text.tokens import written_text


@dataclass(frozen=True)
class Progress:
    """News of one sentence.

    Attributes:
        text: which text of the request, counted from 0.
        segment: which sentence of it, those that are copied counted too.
        piece: decided by greedy search just now; None where the whole sentence is finished.
        target: the translation of a finished sentence; None before.
        recased: as in ``Segment``: ``piece`` is in small letters all the same, ``target`` is raised.
    """

    text: int
    segment: int
    piece: str | None
    target: str | None
    recased: bool = False


@dataclass(frozen=True)
class Place:
    """Where a sentence that the engine gets stands: see ``Progress``."""

    text: int
    segment: int
    recased: bool


Tell = Callable[[Progress], None]


class Watch:
    """Turns what engine threads report into ``Progress`` on the event loop that made the watch, in order.

    Args:
        places: of each sentence that the engine gets.
    """

    def __init__(self, tell: Tell, tokenizer: Tokenizer, places: Sequence[Place]) -> None:
        self._loop = asyncio.get_running_loop()
        self._tell = tell
        self._tokenizer = tokenizer
        self._places = places

    def decided(self, sentence: int, piece_id: int) -> None:
        """A piece of a sentence is decided; called by an engine thread."""
        place = self._places[sentence]
        piece = self._tokenizer.pieces([piece_id])[0]
        self._hand_over(Progress(place.text, place.segment, piece, None, place.recased))

    def follow(self, answers: "Sequence[Future[list[Hypothesis]]]") -> None:
        """Tells of every sentence that finishes."""
        for place, answer in zip(self._places, answers, strict=True):
            answer.add_done_callback(lambda done, place=place: self._finished(place, done))  # type: ignore[misc]

    def _finished(self, place: Place, answer: "Future[list[Hypothesis]]") -> None:
        if not answer.cancelled() and answer.exception() is None:
            target = written_text(self._tokenizer, answer.result()[0].ids, place.recased)
            # Translated to nothing it is copied.
            self._hand_over(Progress(place.text, place.segment, None, target, place.recased and bool(target)))

    def _hand_over(self, progress: Progress) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._tell, progress)
