"""What a translation says of itself before it is finished."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from app.engine.hypotheses import Hypothesis
from app.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Progress:
    """News of one sentence.

    Attributes:
        text: which text of the request, counted from 0.
        segment: which sentence of it, those that are copied counted too.
        piece: decided by greedy search just now; None where the whole sentence is finished.
        target: the translation of a finished sentence; None before.
    """

    text: int
    segment: int
    piece: str | None
    target: str | None


Tell = Callable[[Progress], None]


class Watch:
    """Turns what engine threads report into ``Progress`` on the event loop that made the watch, in order.

    Args:
        places: (text, segment) of each sentence that the engine gets.
    """

    def __init__(self, tell: Tell, tokenizer: Tokenizer, places: Sequence[tuple[int, int]]) -> None:
        self._loop = asyncio.get_running_loop()
        self._tell = tell
        self._tokenizer = tokenizer
        self._places = places

    def decided(self, sentence: int, piece_id: int) -> None:
        """A piece of a sentence is decided; called by an engine thread."""
        self._hand_over(Progress(*self._places[sentence], self._tokenizer.pieces([piece_id])[0], None))

    def follow(self, answers: "Sequence[Future[list[Hypothesis]]]") -> None:
        """Tells of every sentence that finishes."""
        for place, answer in zip(self._places, answers, strict=True):
            answer.add_done_callback(lambda done, place=place: self._finished(place, done))  # type: ignore[misc]

    def _finished(self, place: tuple[int, int], answer: "Future[list[Hypothesis]]") -> None:
        if not answer.cancelled() and answer.exception() is None:
            self._hand_over(Progress(*place, None, self._tokenizer.decode(answer.result()[0].ids)))

    def _hand_over(self, progress: Progress) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._tell, progress)
