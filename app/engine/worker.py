"""What one engine thread decodes: a running batch for every beam size that it has sentences of."""

from collections.abc import Callable, Sequence

from app.engine.hypotheses import Hypothesis
from app.engine.running_batch import RunningBatch
from app.engine.scheduler import Ticket
from app.engine.step_model import StepModel

Fault = Callable[[Sequence[Ticket], Exception], None]


class Worker:
    """Belongs to one thread, but for ``rows``, which anybody may read.

    Where the model raises, ``fault`` is called with the sentences that are lost by it, and the others go on.

    Attributes:
        rows: rows that the next step computes, those about to be admitted included.
    """

    def __init__(self, model: StepModel, fault: Fault) -> None:
        self._model = model
        self._fault = fault
        self._batches: dict[int, RunningBatch[Ticket]] = {}
        self.rows = 0

    def admit(self, tickets: Sequence[Ticket]) -> None:
        """Reads sentences; they take part from the next step on."""
        by_width: dict[int, list[Ticket]] = {}
        for ticket in tickets:
            by_width.setdefault(ticket.options.beam_size, []).append(ticket)
        for width, group in by_width.items():
            self._join(width, group)
        self._count_rows()

    def step(self) -> list[tuple[Ticket, list[Hypothesis]]]:
        """Moves every sentence one piece on; returns those that finished, with what was found."""
        finished: list[tuple[Ticket, list[Hypothesis]]] = []
        for width, batch in list(self._batches.items()):
            try:
                ended = batch.step()
                finished += ended
                if width == 1:
                    _tell(batch, ended)
            except Exception as error:
                self._fault(batch.clear(), error)
        self._count_rows()
        return finished

    def drop(self, unwanted: Callable[[Ticket], bool]) -> list[Ticket]:
        """Ends sentences before their time; returns them."""
        dropped = []
        for batch in list(self._batches.values()):
            try:
                dropped += batch.drop(unwanted)
            except Exception as error:
                self._fault(batch.clear(), error)
        self._count_rows()
        return dropped

    def clear(self) -> list[Ticket]:
        """Forgets all its sentences; returns them."""
        forgotten = [ticket for batch in self._batches.values() for ticket in batch.clear()]
        self._count_rows()
        return forgotten

    def _join(self, width: int, group: Sequence[Ticket]) -> None:
        batch = self._batches.setdefault(width, RunningBatch(self._model.limits, width))
        try:
            newcomers = self._model.encode([ticket.source for ticket in group], width)
        except Exception as error:
            self._fault(group, error)
            return
        try:
            batch.join(newcomers, [ticket.options for ticket in group], group)
        except Exception as error:
            self._fault([*batch.clear(), *group], error)

    def _count_rows(self) -> None:
        self._batches = {width: batch for width, batch in self._batches.items() if len(batch)}
        self.rows = sum(batch.rows for batch in self._batches.values())


def _tell(batch: RunningBatch[Ticket], ended: Sequence[tuple[Ticket, list[Hypothesis]]]) -> None:
    """Reports what greedy search has decided to those who listen."""
    for ticket, hypotheses in ended:
        # At the length limit the last piece is text, not an end of sentence.
        if ticket.decided is not None and hypotheses[0].finish_reason == "length":
            ticket.decided(hypotheses[0].ids[-1])
    for ticket, piece in batch.newest():
        if ticket.decided is not None:
            ticket.decided(piece)
