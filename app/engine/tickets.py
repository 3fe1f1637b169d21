"""Sentences to decode, and who waits for them."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from app.engine.hypotheses import Hypothesis, SearchOptions


@dataclass(frozen=True)
class Sentence:
    """A sentence to decode: ids with tag and end of sentence, and how. Equal ones have equal translations."""

    source: tuple[int, ...]
    options: SearchOptions


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
