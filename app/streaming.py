"""What a translation says of itself before it is finished."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from app.engine.hypotheses import Hypothesis
from app.text.kept import KeptPart
from app.text.tokenizer import Tokenizer
from app.text.tokens import kept_texts, written_text


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
    """Where a sentence stands: see ``Progress``.

    Attributes:
        copied: the engine does not get it.
        sentence: what stands in the translation where there is no other.
        kept: parts of the sentence that the translation must contain as they are.
    """

    text: int
    segment: int
    recased: bool
    copied: bool
    sentence: str
    kept: tuple[KeptPart, ...] = ()


Tell = Callable[[Progress], None]


class Watch:
    """Turns what engine threads report into ``Progress`` on the event loop that made the watch, in order.

    Args:
        places: of every sentence.
    """

    def __init__(self, tell: Tell, tokenizer: Tokenizer, places: Sequence[Place]) -> None:
        self._loop = asyncio.get_running_loop()
        self._tell = tell
        self._tokenizer = tokenizer
        self._places = [place for place in places if not place.copied]
        self._runs = _runs(places)

    def decided(self, sentence: int, piece_id: int) -> None:
        """A piece of a sentence is decided; called by an engine thread."""
        place = self._places[sentence]
        piece = self._tokenizer.pieces([piece_id], kept_texts(place.kept))[0]
        self._hand_over(Progress(place.text, place.segment, piece, None, place.recased))

    def follow(self, answers: "Sequence[Future[list[Hypothesis]]]") -> None:
        """Tells of every sentence that finishes, then of the copied ones after it."""
        if not answers:
            self._finished(self._runs[0], ())
        for run, answer in zip(self._runs, answers, strict=False):
            answer.add_done_callback(lambda done, run=run: self._answered(run, done))  # type: ignore[misc]

    def _answered(self, run: Sequence[Place], answer: "Future[list[Hypothesis]]") -> None:
        if not answer.cancelled() and answer.exception() is None:
            self._finished(run, answer.result()[0].ids)

    def _finished(self, run: Sequence[Place], ids: Sequence[int]) -> None:
        for place in run:
            written = "" if place.copied else written_text(self._tokenizer, ids, place.recased, place.kept)
            # Translated to nothing it is copied.
            target, recased = written or place.sentence, place.recased and bool(written)
            self._hand_over(Progress(place.text, place.segment, None, target, recased))

    def _hand_over(self, progress: Progress) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._tell, progress)


def _runs(places: Sequence[Place]) -> list[list[Place]]:
    """For each sentence that the engine gets those to tell of when it is finished: itself and the copied ones after it.

    In the first run also those before it. Told of earlier, they would begin a stream that may yet have to be refused.
    """
    runs: list[list[Place]] = [[]]
    decoded = False
    for place in places:
        if decoded and not place.copied:
            runs.append([])
        decoded = decoded or not place.copied
        runs[-1].append(place)
    return runs
