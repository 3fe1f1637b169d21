"""Turns, room and drops, with no model and no clock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.hypotheses import SearchOptions
from app.engine.scheduler import Scheduler
from app.engine.tickets import Sentence, Ticket
from app.errors import QueueFull, TooLarge


def tickets(request: int, count: int, width: int = 1) -> list[Ticket]:
    options = SearchOptions(width, 1.0, 0, 10)
    return [Ticket(request, Sentence((request, index), options), 1.0, 1.0) for index in range(count)]


def take(scheduler: Scheduler, free_rows: int, wanted_rows: int) -> list[Ticket]:
    """What is taken where no two wait for the same."""
    taken = []
    for group in scheduler.take(free_rows, wanted_rows):
        (ticket,) = group
        taken.append(ticket)
    return taken


def test_requests_take_turns() -> None:
    scheduler = Scheduler(100)
    scheduler.add(tickets(0, 4))
    scheduler.add(tickets(1, 1))
    scheduler.add(tickets(2, 2))
    assert [ticket.request for ticket in take(scheduler, 6, 6)] == [0, 1, 2, 0, 2, 0]


def test_sentences_of_a_request_keep_their_order() -> None:
    scheduler = Scheduler(100)
    scheduler.add(tickets(0, 3))
    scheduler.add(tickets(1, 3))
    taken = take(scheduler, 6, 6)
    assert [ticket.sentence.source for ticket in taken if ticket.request == 0] == [(0, 0), (0, 1), (0, 2)]


def test_a_wide_beam_is_not_passed_by() -> None:
    scheduler = Scheduler(100)
    scheduler.add(tickets(0, 1, width=8))
    scheduler.add(tickets(1, 5))
    assert take(scheduler, 7, 7) == []
    assert [ticket.request for ticket in take(scheduler, 9, 9)] == [0, 1]


def test_all_or_none_when_full() -> None:
    scheduler = Scheduler(3)
    scheduler.add(tickets(0, 2))
    with pytest.raises(QueueFull) as caught:
        scheduler.add(tickets(1, 2))
    assert (caught.value.waiting, caught.value.limit) == (2, 3)
    assert len(scheduler) == 2


def test_more_than_the_queue_ever_holds_is_too_large() -> None:
    with pytest.raises(TooLarge) as caught:
        Scheduler(3).add(tickets(0, 4))
    assert (caught.value.field, caught.value.limit, caught.value.value) == ("text", 3, 4)


def test_drop_returns_what_it_removed() -> None:
    scheduler = Scheduler(100)
    scheduler.add(tickets(0, 3))
    scheduler.add(tickets(1, 2))
    dropped = scheduler.drop(lambda ticket: ticket.sentence.source == (0, 1) or ticket.request == 1)
    assert sorted(ticket.sentence.source for ticket in dropped) == [(0, 1), (1, 0), (1, 1)]
    assert [ticket.sentence.source for ticket in take(scheduler, 9, 9)] == [(0, 0), (0, 2)]
    assert len(scheduler) == 0


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), max_size=12), st.integers(4, 9))
def test_nobody_starves_and_nothing_is_lost(requests: list[tuple[int, int]], rows: int) -> None:
    scheduler = Scheduler(1000)
    added = []
    for number, (count, width) in enumerate(requests):
        group = tickets(number, count, width)
        scheduler.add(group)
        added += group
    taken: list[Ticket] = []
    while len(scheduler):
        turn = take(scheduler, rows, rows)
        assert turn, "an idle engine must admit something"
        assert sum(ticket.sentence.options.beam_size for ticket in turn) <= rows
        taken += turn
    assert {id(ticket) for ticket in taken} == {id(ticket) for ticket in added}
    first_turns = [ticket.request for ticket in taken[: len(requests)]]
    assert first_turns == list(range(len(requests))), "everybody's first sentence comes before anybody's second"


def test_short_requests_go_before_long_ones_but_for_every_fourth_sentence() -> None:
    scheduler = Scheduler(100)
    scheduler.add(tickets(0, 50))
    for request in range(1, 9):
        scheduler.add(tickets(request, 1))
    assert [ticket.request for ticket in take(scheduler, 12, 12)] == [1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 0, 0]


@given(st.lists(st.lists(st.integers(1, 9), max_size=3), max_size=60), st.integers(1, 4))
def test_nobody_starves_while_others_keep_coming(arrivals: list[list[int]], rows: int) -> None:
    """The clock counts sentences taken; requests of all sizes arrive between the takes, as the lists say."""
    scheduler = Scheduler(10_000)
    requests = sum(map(len, arrivals))
    now, due = 0, list[int]()
    waves = iter(arrivals)
    while (sizes := next(waves, None)) is not None or len(scheduler):
        for size in sizes or ():
            scheduler.add(tickets(len(due), size))
            due.append(now + 4 * size * requests)
        for ticket in take(scheduler, rows, rows):
            now += 1
            assert now <= due[ticket.request]
