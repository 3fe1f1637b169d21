"""The loop: one thread that admits, steps and retires sentences of all requests."""

import itertools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass
from enum import Enum

from app.engine.batch_search import search_batch
from app.engine.hypotheses import Hypothesis, SearchOptions
from app.engine.running_batch import RunningBatch
from app.engine.scheduler import Scheduler, Ticket
from app.engine.search import start_search
from app.engine.step_model import ModelLimits, StepModel
from app.errors import DeadlineExceeded, EngineFailed, NotReady

_log = logging.getLogger(__name__)

# The queue may hold thousands: looking through it at every step would cost more than the step.
_QUEUE_CHECK_SECONDS = 0.05


@dataclass(frozen=True)
class EngineSettings:
    """Sizes of the engine.

    Attributes:
        batch_rows: most rows (sentences times beam size) that one step computes.
        queue_sentences: most sentences that may wait.
    """

    batch_rows: int
    queue_sentences: int


class EngineState(Enum):
    """What the engine does with requests: only ``READY`` takes them."""

    STARTING = "starting"
    READY = "ready"
    DRAINING = "draining"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Sentence:
    """A sentence to decode: ids with tag and end of sentence, and how."""

    source: tuple[int, ...]
    options: SearchOptions


class Engine:
    """Decodes sentences for everybody who submits; answers through futures.

    When the model raises, every sentence of that batch (of one beam size) is answered with ``EngineFailed``.
    Then the engine probes the model with a trivial sentence: if that works, the fault was the batch's and
    it goes on; else all who wait are answered too and it takes no more requests.
    """

    def __init__(self, model: StepModel, settings: EngineSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._model = model
        self._settings = settings
        self._clock = clock
        self._scheduler = Scheduler(settings.queue_sentences)
        self._batches: dict[int, RunningBatch[Ticket]] = {}
        self._request_numbers = itertools.count()
        self._next_queue_check = clock()
        self._changed = threading.Condition()
        self._state = EngineState.STARTING
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    @property
    def state(self) -> EngineState:
        """What the engine does with requests now."""
        return self._state

    @property
    def limits(self) -> ModelLimits:
        """The model's."""
        return self._model.limits

    def start(self) -> None:
        """Warms the model up with one decode, then takes requests.

        Raises:
            EngineFailed: the model cannot decode.
        """
        try:
            self._probe()
        except Exception as error:
            self._state = EngineState.FAILED
            raise EngineFailed("the model fails its first decode") from error
        self._state = EngineState.READY
        self._thread.start()

    def submit(self, sentences: Sequence[Sentence], seconds: float) -> "list[Future[list[Hypothesis]]]":
        """Queues the sentences of one request, all or none.

        Cancelling a future frees its rows before the next step.

        Raises:
            NotReady: the engine is not ``READY``.
            TooLarge: more sentences than the queue ever holds.
            QueueFull: too many sentences wait.
        """
        deadline = self._clock() + seconds
        request = next(self._request_numbers)
        tickets = [Ticket(request, item.source, item.options, deadline, seconds) for item in sentences]
        with self._changed:
            if self._state is not EngineState.READY:
                raise NotReady(f"the engine is {self._state.value}")
            self._scheduler.add(tickets)
            self._changed.notify()
        return [ticket.answer for ticket in tickets]

    def stop(self, drain_seconds: float) -> None:
        """Takes no more requests and finishes those it has; after ``drain_seconds`` the rest get ``NotReady``."""
        with self._changed:
            if self._state is EngineState.READY:
                self._state = EngineState.DRAINING
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(drain_seconds)
        with self._changed:
            self._state = EngineState.STOPPED
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while self._wait_for_work():
            self._drop_expired()
            self._admit()
            for batch in list(self._batches.values()):
                self._step(batch)
            self._batches = {width: batch for width, batch in self._batches.items() if len(batch)}
        self._answer_everybody(NotReady(f"the engine is {self._state.value}"))

    def _wait_for_work(self) -> bool:
        """Blocks while there is nothing to do; False when the loop shall end."""
        with self._changed:
            while self._state is EngineState.READY and not self._busy():
                self._changed.wait()
            return self._state is EngineState.READY or (self._state is EngineState.DRAINING and self._busy())

    def _busy(self) -> bool:
        return len(self._scheduler) > 0 or any(len(batch) for batch in self._batches.values())

    def _drop_expired(self) -> None:
        """Drops what nobody waits for any more."""
        now = self._clock()

        def unwanted(ticket: Ticket) -> bool:
            return ticket.answer.cancelled() or ticket.deadline <= now

        if now >= self._next_queue_check:
            self._next_queue_check = now + _QUEUE_CHECK_SECONDS
            with self._changed:
                waiting = self._scheduler.drop(unwanted)
            for ticket in waiting:
                _reject(ticket, DeadlineExceeded(ticket.allowed_seconds))
        for batch in list(self._batches.values()):
            try:
                for ticket in batch.drop(unwanted):
                    _reject(ticket, DeadlineExceeded(ticket.allowed_seconds))
            except Exception as error:
                self._recover(batch.clear(), error)

    def _admit(self) -> None:
        """Lets as many sentences join as there are rows for."""
        used = sum(batch.rows for batch in self._batches.values())
        with self._changed:
            tickets = self._scheduler.take(self._settings.batch_rows - used)
        by_width: dict[int, list[Ticket]] = {}
        for ticket in tickets:
            by_width.setdefault(ticket.options.beam_size, []).append(ticket)
        limits = self._model.limits
        for width, group in by_width.items():
            batch = self._batches.setdefault(width, RunningBatch(limits.vocab_size, width))
            try:
                newcomers = self._model.encode([ticket.source for ticket in group], width)
            except Exception as error:
                self._recover(group, error)
                continue
            try:
                searches = [start_search(ticket.options, limits.bos_id, limits.eos_id) for ticket in group]
                batch.join(newcomers, searches, group)
            except Exception as error:
                self._recover([*batch.clear(), *group], error)

    def _step(self, batch: RunningBatch[Ticket]) -> None:
        """Moves one batch one piece on and answers what finished."""
        try:
            finished = batch.step()
        except Exception as error:
            self._recover(batch.clear(), error)
            return
        for ticket, search in finished:
            _resolve(ticket, search.hypotheses())

    def _recover(self, failed: Sequence[Ticket], error: Exception) -> None:
        """Answers the sentences that the model failed on; goes on if it still works."""
        _log.error("the model raised while decoding", exc_info=error)
        for ticket in failed:
            _reject(ticket, EngineFailed("the model failed while decoding this batch"), error)
        try:
            self._probe()
        except Exception:
            _log.exception("the model fails a trivial sentence: no more requests are taken")
            with self._changed:
                self._state = EngineState.FAILED
            self._answer_everybody(EngineFailed("the model has failed"), error)

    def _answer_everybody(self, reason: Exception, cause: Exception | None = None) -> None:
        with self._changed:
            waiting = self._scheduler.drop(lambda _: True)
        for batch in self._batches.values():
            waiting += batch.clear()
        for ticket in waiting:
            _reject(ticket, reason, cause)

    def _probe(self) -> None:
        """One short decode of an empty sentence."""
        options = SearchOptions(beam_size=1, length_penalty=1.0, alternatives=0, target_len=2)
        search_batch(self._model, [(self._model.limits.eos_id,)], options)


def _resolve(ticket: Ticket, hypotheses: list[Hypothesis]) -> None:
    try:
        ticket.answer.set_result(hypotheses)
    except InvalidStateError:  # cancelled since the last look
        return


def _reject(ticket: Ticket, reason: Exception, cause: Exception | None = None) -> None:
    reason.__cause__ = cause
    try:
        ticket.answer.set_exception(reason)
    except InvalidStateError:  # cancelled since the last look
        return
