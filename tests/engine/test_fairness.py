"""Who waits how long, on a clock that counts steps: a huge request beside many small ones, deadlines, sharing.

The simulation is one engine thread without a model: between steps it admits what the scheduler gives, as the engine
does, and a sentence holds its rows for as many steps as it has pieces.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from app.engine.hypotheses import SearchOptions
from app.engine.scheduler import Scheduler
from app.engine.sharing import Decode, Sharing
from app.engine.tickets import Sentence, Ticket

ROWS = 8
LONGEST = 12
"""Steps that a sentence takes at most."""


@dataclass
class Simulation:
    """Times are in steps; ``begun`` and ``ended`` say when each ticket's decode did."""

    now: int = 0
    scheduler: Scheduler = field(default_factory=lambda: Scheduler(100_000))
    sharing: Sharing = field(default_factory=Sharing)
    running: list[Decode] = field(default_factory=list)
    begun: dict[Ticket, int] = field(default_factory=dict)
    ended: dict[Ticket, int] = field(default_factory=dict)
    expired: dict[Ticket, int] = field(default_factory=dict)
    requests: int = 0
    steps: dict[Decode, int] = field(default_factory=dict)

    def request(self, sentences: Sequence[Sequence[int]], width: int = 1, seconds: int = 1_000_000) -> list[Ticket]:
        """Asks for sentences, each as many steps long as it has ids."""
        options = SearchOptions(width, 1.0, 0, LONGEST)
        self.requests += 1
        tickets = [
            Ticket(self.requests, Sentence(tuple(one), options), self.now + seconds, seconds) for one in sentences
        ]
        running = [(ticket, self.sharing.running(ticket)) for ticket in tickets]
        self.scheduler.add([ticket for ticket, decode in running if decode is None], len(tickets))
        for ticket, decode in running:
            if decode is not None:
                self.sharing.join(ticket, decode)
                self.begun[ticket] = self.now
        return tickets

    def step(self) -> None:
        self._drop()
        free = ROWS - sum(decode.sentence.options.beam_size for decode in self.running)
        for group in self.scheduler.take(free, free):
            self.running.append(self.sharing.begin(group))
            self.begun |= dict.fromkeys(group, self.now)
        assert sum(decode.sentence.options.beam_size for decode in self.running) <= ROWS
        self.now += 1
        for decode in list(self.running):
            self.steps[decode] = self.steps.get(decode, 0) + 1
            if self.steps[decode] == len(decode.sentence.source):
                self.running.remove(decode)
                self.ended |= dict.fromkeys(self.sharing.end(decode), self.now)

    def _drop(self) -> None:
        def late(ticket: Ticket) -> bool:
            return ticket.deadline <= self.now

        dropped = self.scheduler.drop(late) + self.sharing.leave(self.running, late)
        self.expired |= dict.fromkeys(dropped, self.now)
        self.running = [decode for decode in self.running if decode.waiting]

    def finish(self) -> None:
        while self.running or len(self.scheduler):
            self.step()


LENGTHS = st.lists(st.integers(1, LONGEST), min_size=1, max_size=4)
ARRIVALS = st.lists(st.lists(LENGTHS, max_size=3), min_size=1, max_size=25)


def unlike(simulation: Simulation, lengths: Sequence[int]) -> list[list[int]]:
    """Sentences of these lengths, equal to no others."""
    return [[simulation.requests, number, *[0] * LONGEST][: max(2, length)] for number, length in enumerate(lengths)]


@given(ARRIVALS, st.lists(st.integers(1, LONGEST), min_size=50, max_size=120))
def test_small_requests_hardly_notice_a_huge_one(arrivals: list[list[list[int]]], huge: list[int]) -> None:
    """A small request's sentence begins before four sentences have begun for each small request that is there."""
    simulation = Simulation()
    simulation.request(unlike(simulation, huge))
    small: list[list[Ticket]] = []
    for wave in arrivals:
        small += [simulation.request(unlike(simulation, lengths)) for lengths in wave]
        simulation.step()
    simulation.finish()
    for request in small:
        came = request[0].deadline - request[0].allowed_seconds
        waited = max(simulation.begun[ticket] for ticket in request) - came
        # Each of ROWS places is free again after LONGEST steps at most.
        turns = 4 * sum(len(other) for other in small) + ROWS
        assert waited <= LONGEST * (turns // ROWS + 1)


@given(ARRIVALS, st.integers(20, 60))
def test_the_huge_request_goes_on_while_small_ones_keep_coming(arrivals: list[list[list[int]]], size: int) -> None:
    simulation = Simulation()
    huge = simulation.request(unlike(simulation, [3] * size))
    for wave in arrivals:
        for lengths in wave:
            simulation.request(unlike(simulation, lengths))
        simulation.step()
    simulation.finish()
    order = sorted(simulation.begun, key=lambda ticket: (simulation.begun[ticket], ticket.request))
    last = max(index for index, ticket in enumerate(order) if ticket in set(huge))
    # Three short ones before each of its sentences, and what was begun in the same step.
    assert last + 1 <= 4 * size + ROWS
    assert len(simulation.ended) == len(simulation.begun)


@given(st.lists(st.integers(2, LONGEST), min_size=70, max_size=90), st.integers(2, ROWS))
def test_a_wide_beam_is_begun_although_narrow_ones_keep_coming(lengths: list[int], width: int) -> None:
    """Those that come later do not take the rows that it waits for."""
    simulation = Simulation()
    for length in lengths[:ROWS]:
        simulation.request(unlike(simulation, [length]))
    simulation.step()
    (wide,) = simulation.request([[7] * 5], width)
    for length in lengths[ROWS:]:
        simulation.request(unlike(simulation, [length]))
        simulation.request(unlike(simulation, [LONGEST]))
        simulation.step()
    simulation.finish()
    assert simulation.begun[wide] <= LONGEST


@given(st.lists(st.tuples(LENGTHS, st.integers(1, 40)), min_size=1, max_size=30))
def test_nobody_waits_beyond_a_deadline(requests: list[tuple[list[int], int]]) -> None:
    simulation = Simulation()
    tickets = [
        ticket for lengths, seconds in requests for ticket in simulation.request([[1] * n for n in lengths], 1, seconds)
    ]
    simulation.finish()
    for ticket in tickets:
        assert (ticket in simulation.ended) is not (ticket in simulation.expired)
        if ticket in simulation.expired:
            assert simulation.expired[ticket] == ticket.deadline
        else:
            assert simulation.ended[ticket] <= ticket.deadline


@given(st.lists(st.tuples(LENGTHS, st.integers(1, 3), st.booleans()), min_size=1, max_size=30))
def test_sharing_makes_nobody_wait_longer(requests: list[tuple[list[int], int, bool]]) -> None:
    """Everybody gets their own sentence, and all together take no more steps than without sharing."""
    shared, apart = Simulation(), Simulation()
    for lengths, width, steps_between in requests:
        shared.request([[1] * n for n in lengths], width)
        apart.request([[1000 * apart.requests + 10 + number, *[1] * n][:n] for number, n in enumerate(lengths)], width)
        if steps_between:
            shared.step()
            apart.step()
    shared.finish()
    apart.finish()
    assert len(shared.ended) == sum(len(lengths) for lengths, _, _ in requests)
    assert shared.now <= apart.now + LONGEST
