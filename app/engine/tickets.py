"""Sentences to decode, and who waits for them."""

from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field

from app.engine.hypotheses import Hypothesis, SearchOptions
from app.engine.step_model import ModelLimits


@dataclass(frozen=True)
class Sentence:
    """A sentence to decode: ids with tag and end of sentence, and how. Equal ones have equal translations."""

    source: tuple[int, ...]
    options: SearchOptions

    def check_sizes(self, limits: ModelLimits, batch_rows: int) -> None:
        """Refuses what would be a fault for all others in its batch.

        Raises:
            ValueError: the model, or a batch of ``batch_rows``, has no room for it.
        """
        for what, value, limit in (
            ("a source of {} ids", len(self.source), limits.source_len),
            ("a target of {} ids", self.options.target_len, limits.target_len),
            ("a beam of {} rows", self.options.beam_size, batch_rows),
        ):
            if not 1 <= value <= limit:
                raise ValueError(f"{what.format(value)}, there may be 1 to {limit}")


@dataclass(frozen=True, eq=False)
class Ticket:
    """Somebody who waits for one sentence.

    Attributes:
        request: what it belongs to; requests take turns.
        deadline: on the engine's clock, seconds.
        allowed_seconds: what the deadline was when the request came, for the message.
        decided: called by an engine thread with every piece that greedy search goes on from; None for nobody.
        answer: gets the hypotheses, best first, or an error; a cancelled one is dropped.
    """

    request: int
    sentence: Sentence
    deadline: float
    allowed_seconds: float
    decided: Callable[[int], None] | None = None
    answer: "Future[list[Hypothesis]]" = field(default_factory=Future)

    def resolve(self, hypotheses: list[Hypothesis]) -> None:
        """Gives the answer, unless it was cancelled since the last look."""
        with suppress(InvalidStateError):
            self.answer.set_result(hypotheses)

    def reject(self, reason: Exception, cause: Exception | None = None) -> None:
        """Answers with ``reason``, unless it was cancelled."""
        reason.__cause__ = cause
        with suppress(InvalidStateError):
            self.answer.set_exception(reason)
