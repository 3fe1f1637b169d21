"""Equal sentences in flight share one decode."""

from collections.abc import Callable, Iterable, Sequence

from app.engine.tickets import Sentence, Ticket


class Decode:
    """One sentence that a thread decodes, and all who wait for it; with nobody left it ends at the next step."""

    def __init__(self, waiting: Sequence[Ticket]) -> None:
        self.sentence = waiting[0].sentence
        self.waiting = list(waiting)

    def tell(self, piece: int) -> None:
        """Reports what greedy search has decided to those who listen."""
        for ticket in tuple(self.waiting):
            if ticket.decided is not None:
                ticket.decided(piece)


class Sharing:
    """What is being decoded. The engine has one model, so that equal sentences have equal answers.

    Those who wait in the queue for the same sentence begin it together, at the turn of whoever is first; who comes
    later joins while it runs. Who listens to the pieces must hear all: they join nothing that has begun.

    Not safe for threads: the engine's lock guards it.

    Attributes:
        shared: tickets that got, or will get, what another one began.
    """

    def __init__(self) -> None:
        self._newest: dict[Sentence, Decode] = {}
        self.shared = 0

    def begin(self, waiting: Sequence[Ticket]) -> Decode:
        """Begins what all of them wait for."""
        decode = Decode(waiting)
        self._newest[decode.sentence] = decode
        self.shared += len(waiting) - 1
        return decode

    def running(self, ticket: Ticket) -> Decode | None:
        """What ``ticket`` may join."""
        return self._newest.get(ticket.sentence) if ticket.decided is None else None

    def join(self, ticket: Ticket, decode: Decode) -> None:
        """Lets ``ticket`` wait for what has begun."""
        decode.waiting.append(ticket)
        self.shared += 1

    def leave(self, decodes: Iterable[Decode], unwanted: Callable[[Ticket], bool]) -> list[Ticket]:
        """Takes away who shall not wait any longer; nobody can join a decode that nobody waits for."""
        left: list[Ticket] = []
        for decode in decodes:
            leaving = {ticket for ticket in decode.waiting if unwanted(ticket)}
            if leaving:
                left += leaving
                decode.waiting = [ticket for ticket in decode.waiting if ticket not in leaving]
            if not decode.waiting:
                self.end(decode)
        return left

    def end(self, decode: Decode) -> list[Ticket]:
        """Forgets a decode; returns who waits for it."""
        if self._newest.get(decode.sentence) is decode:
            del self._newest[decode.sentence]
        return decode.waiting
