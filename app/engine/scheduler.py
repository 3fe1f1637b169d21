"""Which sentence is decoded next: policy only, without thread, tensor or clock of its own."""

from collections import OrderedDict
from collections.abc import Callable, Sequence

from app.engine.tickets import Sentence, Ticket
from app.errors import QueueFull, TooLarge

_SHORT_REQUEST_SENTENCES = 4
_SHORTS_FOR_A_LONG = 3

Turns = OrderedDict[int, OrderedDict[Sentence, list[Ticket]]]
"""What each request has waiting; the first is next."""


class Scheduler:
    """Bounded queue with turns: each request gives one sentence, then it is the next request's turn.

    Short requests take turns among themselves, so do long ones. Somebody sits before a short one, so while both
    kinds wait, three sentences of short requests are followed by one of a long one. Nobody starves: whoever is
    next in a request waits for at most four sentences for each request that is before it. All who wait for the same
    sentence get it at the first of their turns.
    """

    def __init__(self, queue_sentences: int) -> None:
        self._capacity = queue_sentences
        self._short: Turns = OrderedDict()
        self._long: Turns = OrderedDict()
        self._shorts_in_a_row = 0
        # Where each sentence waits: requests, with the turns that they take part in.
        self._places: dict[Sentence, dict[int, Turns]] = {}
        self._waiting = 0
        self._reserved = 0
        self._rows = 0

    def __len__(self) -> int:
        return self._waiting

    @property
    def rows(self) -> int:
        """Rows that all who wait will need."""
        return self._rows

    @property
    def reserved(self) -> int:
        """Sentences that wait elsewhere and count as if they waited here."""
        return self._reserved

    def add(self, tickets: Sequence[Ticket], request_sentences: int = 0) -> None:
        """Queues those sentences of a request that others have not begun, or none.

        Args:
            request_sentences: of the whole request, where that is more; its size is judged by them.

        Raises:
            TooLarge: the request would not fit in an empty queue.
            QueueFull: its sentences do not fit at the moment.
        """
        size = max(request_sentences, len(tickets))
        self._check_size(size)
        self._check_room(len(tickets))
        turns = self._short if size <= _SHORT_REQUEST_SENTENCES else self._long
        for ticket in tickets:
            turns.setdefault(ticket.request, OrderedDict()).setdefault(ticket.sentence, []).append(ticket)
            if ticket.sentence not in self._places:
                self._rows += ticket.sentence.options.beam_size
            self._places.setdefault(ticket.sentence, {})[ticket.request] = turns
        self._waiting += len(tickets)

    def reserve(self, sentences: int) -> None:
        """Takes room in the queue for sentences that wait elsewhere, until ``release``.

        Raises:
            TooLarge, QueueFull: as ``add``.
        """
        self._check_size(sentences)
        self._check_room(sentences)
        self._reserved += sentences

    def release(self, sentences: int) -> None:
        """Gives room back that was reserved."""
        self._reserved -= sentences

    def take(self, free_rows: int, wanted_rows: int) -> list[list[Ticket]]:
        """The next sentences that fit in ``free_rows``, in turns, until there are ``wanted_rows``.

        Stops at the first that does not fit instead of passing it by: a wide beam is never starved by
        narrow ones. The last may go beyond what is wanted.

        Returns:
            For each sentence all who wait for it.
        """
        taken: list[list[Ticket]] = []
        while self._places and wanted_rows > 0:
            turns = self._next_turns()
            request, queue = next(iter(turns.items()))
            sentence = next(iter(queue))
            width = sentence.options.beam_size
            if width > free_rows:
                break
            free_rows -= width
            wanted_rows -= width
            self._shorts_in_a_row = self._shorts_in_a_row + 1 if turns is self._short else 0
            taken.append(self._remove(sentence))
            if request in turns:
                turns.move_to_end(request)
        return taken

    def drop(self, unwanted: Callable[[Ticket], bool]) -> list[Ticket]:
        """Removes those who wait and shall not; returns them."""
        dropped: list[Ticket] = []
        for turns in (self._short, self._long):
            for queue in list(turns.values()):
                for group in list(queue.values()):
                    leaving = {ticket for ticket in group if unwanted(ticket)}
                    dropped += leaving
                    if len(leaving) == len(group):
                        self._forget(group[0].sentence, group[0].request)
                    elif leaving:
                        group[:] = [ticket for ticket in group if ticket not in leaving]
        self._waiting -= len(dropped)
        return dropped

    def _check_size(self, sentences: int) -> None:
        if sentences > self._capacity:
            message = f"text: {sentences:,} sentences, at most {self._capacity:,} can be queued"
            raise TooLarge(message, field="text", limit=self._capacity, value=sentences)

    def _check_room(self, sentences: int) -> None:
        waiting = self._waiting + self._reserved
        if waiting + sentences > self._capacity:
            raise QueueFull(waiting, self._capacity)

    def _next_turns(self) -> Turns:
        """Whose turn it is: short requests', but for every fourth sentence."""
        longs_turn = self._shorts_in_a_row >= _SHORTS_FOR_A_LONG or not self._short
        return self._long if self._long and longs_turn else self._short

    def _remove(self, sentence: Sentence) -> list[Ticket]:
        """Takes a sentence from all requests that wait for it; returns who does."""
        group = [ticket for request in list(self._places[sentence]) for ticket in self._forget(sentence, request)]
        self._waiting -= len(group)
        return group

    def _forget(self, sentence: Sentence, request: int) -> list[Ticket]:
        """Takes a sentence from one request."""
        places = self._places[sentence]
        turns = places.pop(request)
        if not places:
            del self._places[sentence]
            self._rows -= sentence.options.beam_size
        group = turns[request].pop(sentence)
        if not turns[request]:
            del turns[request]
        return group
