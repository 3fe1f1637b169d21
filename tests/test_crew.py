"""Several threads on one list: order, bound, errors, and an end."""

import contextlib
import gc
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.crew import Crew


def nothing() -> None:
    """A check that always passes."""


class Result:
    """Something that can be seen to be forgotten."""


class Counting:
    """Counts who works at the same time; ``seconds`` says how long an item takes."""

    def __init__(self, seconds: Callable[[int], float] = lambda _: 0.005) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._running = 0
        self.most = 0
        self.begun: list[int] = []

    def __call__(self, item: int) -> int:
        with self._lock:
            self._running += 1
            self.most = max(self.most, self._running)
            self.begun.append(item)
        time.sleep(self._seconds(item))
        with self._lock:
            self._running -= 1
        return item * item


@pytest.mark.parametrize("helpers", [0, 1, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_results_are_in_order_however_long_each_takes(helpers: int, count: int) -> None:
    work = Counting(lambda item: 0.001 * (item % 4))
    assert Crew(helpers).map(work, range(count), nothing) == [item * item for item in range(count)]
    assert sorted(work.begun) == list(range(count))
    assert work.most <= helpers + 1


def test_the_helpers_do_work_at_the_same_time() -> None:
    together = threading.Barrier(3, timeout=10)
    assert len(Crew(2).map(lambda _: together.wait(), range(3), nothing)) == 3


def test_all_callers_share_the_helpers() -> None:
    work = Counting()
    crew = Crew(2)
    with ThreadPoolExecutor(4) as callers:
        found = list(callers.map(lambda _: crew.map(work, range(12), nothing), range(4)))
    assert found == [[item * item for item in range(12)]] * 4
    assert work.most <= 4 + 2


def test_a_caller_does_not_wait_for_helpers_that_others_keep_busy() -> None:
    crew = Crew(1)
    busy, free = threading.Semaphore(0), threading.Event()

    def hold(_: int) -> bool:
        busy.release()
        return free.wait(10)

    with ThreadPoolExecutor(1) as other:
        held = other.submit(crew.map, hold, range(2), nothing)
        for _ in range(2):
            assert busy.acquire(timeout=10)
        assert crew.map(lambda item: item, range(5), nothing) == list(range(5))
        assert not held.done()
        free.set()
        assert held.result(10) == [True, True]


@pytest.mark.parametrize("helpers", [0, 1, 3])
@pytest.mark.parametrize("bad", [0, 4, 39])
def test_an_error_ends_the_others_and_nothing_runs_on(helpers: int, bad: int) -> None:
    finished: list[int] = []

    def work(item: int) -> None:
        time.sleep(0.002)
        if item == bad:
            raise ValueError(f"item {item}")
        finished.append(item)

    with pytest.raises(ValueError, match=f"item {bad}"):
        Crew(helpers).map(work, range(40), nothing)
    before = len(finished)
    assert bad <= before <= bad + 2 * helpers
    time.sleep(0.02)
    assert len(finished) == before


def test_of_two_errors_the_earlier_item_s_is_raised() -> None:
    together = threading.Barrier(2, timeout=10)

    def work(item: int) -> None:
        together.wait()
        time.sleep(0.02 * (1 - item))
        raise ValueError(f"item {item}")

    with pytest.raises(ValueError, match="item 0"):
        Crew(1).map(work, range(2), nothing)


def test_what_the_check_raises_ends_all() -> None:
    gone = threading.Event()
    work = Counting()

    def check() -> None:
        if len(work.begun) >= 6:
            gone.set()
        if gone.is_set():
            raise TimeoutError

    with pytest.raises(TimeoutError):
        Crew(2).map(work, range(1000), check)
    assert len(work.begun) <= 6 + 3


def test_a_crew_works_on_after_an_error() -> None:
    crew = Crew(1)
    for _ in range(20):
        with pytest.raises(ZeroDivisionError):
            crew.map(lambda item: 1 // item, range(3), nothing)
    assert crew.map(lambda item: item, range(9), nothing) == list(range(9))


def test_a_finished_call_is_forgotten_while_the_helpers_are_busy() -> None:
    crew, free = Crew(1), threading.Event()
    busy = crew.begin(lambda _: free.wait(10), 0)
    try:
        found = crew.map(lambda _: Result(), range(3), lambda: None)
        kept = [weakref.ref(one) for one in found]
        del found
        gc.collect()
        assert [one() for one in kept] == [None] * 3
    finally:
        free.set()
    assert busy.result(10)


def test_a_failed_call_leaves_no_cycle() -> None:
    kept = []

    def work(number: int) -> Result:
        if number == 2:
            raise ZeroDivisionError
        result = Result()
        kept.append(weakref.ref(result))
        return result

    gc.disable()
    try:
        with contextlib.suppress(ZeroDivisionError):
            Crew(0).map(work, range(3), lambda: None)
        assert [one() for one in kept] == [None] * 2
    finally:
        gc.enable()
