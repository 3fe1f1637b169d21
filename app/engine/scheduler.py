"""Which sentence is decoded next: policy only, without thread, tensor or clock of its own."""

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from app.engine.hypotheses import Hypothesis, SearchOptions
from app.errors import QueueFull, TooLarge

_RETRY_AFTER_SECONDS = 1
_SHORT_REQUEST_SENTENCES = 4
_SHORTS_FOR_A_LONG = 3


@dataclass(frozen=True, eq=False)
class Ticket:
    """One sentence that somebody waits for.

    Attributes:
        request: what it belongs to; requests take turns.
        source: ids with tag and end of sentence.
        deadline: on the engine's clock, seconds.
        allowed_seconds: what the deadline was when the request came, for the message.
        decided: called by an engine thread with every piece that greedy search goes on from; None for nobody.
        answer: gets the hypotheses, best first, or an error; a cancelled one is dropped.
    """

    request: int
    source: tuple[int, ...]
    options: SearchOptions
    deadline: float
    allowed_seconds: float
    decided: Callable[[int], None] | None = None
    answer: "Future[list[Hypothesis]]" = field(default_factory=Future)


Turns = OrderedDict[int, deque[Ticket]]
"""What each request has waiting; the first is next."""


class Scheduler:
    """Bounded queue with turns: each request gives one sentence, then it is the next request's turn.

    Short requests take turns among themselves, so do long ones. Somebody sits before a short one, so while both
    kinds wait, three sentences of short requests are followed by one of a long one. Nobody starves: whoever is
    next in a request waits for at most four sentences for each request that is before it.
    """

    def __init__(self, queue_sentences: int) -> None:
        self._capacity = queue_sentences
        self._short: Turns = OrderedDict()
        self._long: Turns = OrderedDict()
        self._shorts_in_a_row = 0
        self._waiting = 0
        self._rows = 0

    def __len__(self) -> int:
        return self._waiting

    @property
    def rows(self) -> int:
        """Rows that all who wait will need."""
        return self._rows

    def add(self, tickets: Sequence[Ticket]) -> None:
        """Queues all sentences of a request, or none.

        Raises:
            TooLarge: they would not fit in an empty queue.
            QueueFull: they do not fit at the moment.
        """
        if len(tickets) > self._capacity:
            message = f"text: {len(tickets):,} sentences, at most {self._capacity:,} can be queued"
            raise TooLarge(message, field="text", limit=self._capacity, value=len(tickets))
        if self._waiting + len(tickets) > self._capacity:
            raise QueueFull(self._waiting, self._capacity, _RETRY_AFTER_SECONDS)
        for ticket in tickets:
            turns = self._short if len(tickets) <= _SHORT_REQUEST_SENTENCES else self._long
            turns.setdefault(ticket.request, deque()).append(ticket)
        self._count(tickets, 1)

    def take(self, free_rows: int, wanted_rows: int) -> list[Ticket]:
        """The next sentences that fit in ``free_rows``, in turns, until there are ``wanted_rows``.

        Stops at the first that does not fit instead of passing it by: a wide beam is never starved by
        narrow ones. The last may go beyond what is wanted.
        """
        taken: list[Ticket] = []
        while (self._short or self._long) and wanted_rows > 0:
            turns = self._next_turns()
            request, queue = next(iter(turns.items()))
            width = queue[0].options.beam_size
            if width > free_rows:
                break
            free_rows -= width
            wanted_rows -= width
            taken.append(queue.popleft())
            self._shorts_in_a_row = self._shorts_in_a_row + 1 if turns is self._short else 0
            if queue:
                turns.move_to_end(request)
            else:
                del turns[request]
        self._count(taken, -1)
        return taken

    def drop(self, unwanted: Callable[[Ticket], bool]) -> list[Ticket]:
        """Removes waiting sentences; returns them."""
        dropped = _drop(self._short, unwanted) + _drop(self._long, unwanted)
        self._count(dropped, -1)
        return dropped

    def _next_turns(self) -> "Turns":
        """Whose turn it is: short requests', but for every fourth sentence."""
        longs_turn = self._shorts_in_a_row >= _SHORTS_FOR_A_LONG or not self._short
        return self._long if self._long and longs_turn else self._short

    def _count(self, tickets: Sequence[Ticket], sign: int) -> None:
        self._waiting += sign * len(tickets)
        self._rows += sign * sum(ticket.options.beam_size for ticket in tickets)


def _drop(turns: Turns, unwanted: Callable[[Ticket], bool]) -> list[Ticket]:
    dropped: list[Ticket] = []
    for request, queue in list(turns.items()):
        stays = deque(ticket for ticket in queue if not unwanted(ticket))
        if len(stays) == len(queue):
            continue
        dropped += [ticket for ticket in queue if unwanted(ticket)]
        if stays:
            turns[request] = stays
        else:
            del turns[request]
    return dropped
