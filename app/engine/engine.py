"""The loop: threads that admit, step and retire sentences of all requests."""

import itertools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum
from functools import partial

from app.engine.batch_search import search_batch
from app.engine.counts import EngineCounts, Positions
from app.engine.hypotheses import Hypothesis, SearchOptions
from app.engine.scheduler import Scheduler
from app.engine.sharing import Decode, Sharing
from app.engine.step_model import ModelLimits, StepModel
from app.engine.tickets import Sentence, Ticket
from app.engine.worker import Worker
from app.errors import DeadlineExceeded, EngineFailed, NotReady

_log = logging.getLogger(__name__)

# The queue may hold thousands: looking through it at every step would cost more than the step.
_QUEUE_CHECK_SECONDS = 0.05
_DEAD = "the model has failed"


@dataclass(frozen=True)
class EngineSettings:
    """Sizes of the engine.

    Attributes:
        batch_rows: most rows (sentences times beam size) that one step of one thread computes.
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


class Engine:
    """Decodes sentences for everybody who submits; answers through futures.

    There is a thread for each of ``models``, which are alike; it steps sentences of its own. Who waits is shared
    out evenly, row by row: a thread admits sentences until it has its share of all rows that run or wait. Equal
    sentences share one decode.

    When a model raises, every sentence of that batch (of one beam size) is answered with ``EngineFailed``.
    Then the engine probes that model with a trivial sentence: if that works, the fault was the batch's and
    it goes on; else all who wait are answered too and it takes no more requests.
    """

    def __init__(
        self, models: Sequence[StepModel], settings: EngineSettings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._models = models
        self._settings = settings
        self._clock = clock
        self._scheduler = Scheduler(settings.queue_sentences)
        self._sharing = Sharing()
        self._taken = 0
        self._rows_elsewhere = 0
        self._request_numbers = itertools.count()
        self._next_queue_check = clock()
        self._changed = threading.Condition()
        self._state = EngineState.STARTING
        self._workers = [Worker(model, partial(self._recover, model)) for model in models]
        self._threads = [
            threading.Thread(target=self._run, args=(worker,), name=f"engine-{number}", daemon=True)
            for number, worker in enumerate(self._workers)
        ]

    @property
    def state(self) -> EngineState:
        """What the engine does with requests now."""
        return self._state

    @property
    def limits(self) -> ModelLimits:
        """The models'."""
        return self._models[0].limits

    def start(self) -> None:
        """Warms the models up with one decode each, then takes requests.

        Raises:
            EngineFailed: a model cannot decode.
        """
        try:
            for model in self._models:
                _probe(model)
        except Exception as error:
            self._state = EngineState.FAILED
            raise EngineFailed("the model fails its first decode") from error
        self._state = EngineState.READY
        for thread in self._threads:
            thread.start()

    def counts(self) -> EngineCounts:
        """What it has done since it was made, and what it does now."""
        with self._changed:
            return EngineCounts(
                sentences=self._taken,
                shared=self._sharing.shared,
                waiting=len(self._scheduler) + self._scheduler.reserved,
                rows=sum(worker.rows for worker in self._workers) + self._rows_elsewhere,
                positions={
                    kind: sum((worker.positions[kind] for worker in self._workers), Positions())
                    for kind in self._workers[0].positions
                },
            )

    def submit(
        self, sentences: Sequence[Sentence], seconds: float, decided: Callable[[int, int], None] | None = None
    ) -> "list[Future[list[Hypothesis]]]":
        """Queues the sentences of one request, all or none.

        ``decided`` is called by engine threads with the number of a sentence and each piece that greedy search
        goes on from; it must not block or raise.

        Cancelling a future frees its rows before the next step, unless others wait for the same sentence.

        Raises:
            NotReady: the engine is not ``READY``.
            TooLarge: more sentences than the queue ever holds.
            QueueFull: too many sentences wait.
            ValueError: what the model or a batch has no room for: decoded with others, it would be their fault, too.
        """
        for item in sentences:
            item.check_sizes(self.limits, self._settings.batch_rows)
        deadline = self._clock() + seconds
        request = next(self._request_numbers)
        tickets = [
            Ticket(request, item, deadline, seconds, decided and partial(decided, number))
            for number, item in enumerate(sentences)
        ]
        with self._changed:
            self._check_ready()
            running = [(ticket, self._sharing.running(ticket)) for ticket in tickets]
            self._scheduler.add([ticket for ticket, decode in running if decode is None], len(tickets))
            for ticket, decode in running:
                if decode is not None:
                    self._sharing.join(ticket, decode)
            self._taken += len(tickets)
            self._changed.notify_all()
        return [ticket.answer for ticket in tickets]

    def reserve(self, sentences: int) -> None:
        """Takes room in the queue for sentences that are decoded elsewhere, until ``begin_reserved`` or ``release``.

        Raises:
            NotReady, TooLarge, QueueFull: as ``submit``.
        """
        with self._changed:
            self._check_ready()
            self._scheduler.reserve(sentences)

    def release(self, sentences: int) -> None:
        """Gives room back that was reserved."""
        with self._changed:
            self._scheduler.release(sentences)

    def begin_reserved(self, rows: int) -> None:
        """Counts one of the reserved sentences as decoded elsewhere, in ``rows`` rows, until ``end_reserved``."""
        with self._changed:
            self._scheduler.release(1)
            self._taken += 1
            self._rows_elsewhere += rows

    def end_reserved(self, rows: int) -> None:
        """A sentence that was begun has ended."""
        with self._changed:
            self._rows_elsewhere -= rows

    def stop(self, drain_seconds: float) -> None:
        """Takes no more requests and finishes those it has; after ``drain_seconds`` the rest get ``NotReady``."""
        with self._changed:
            if self._state is EngineState.READY:
                self._state = EngineState.DRAINING
            self._changed.notify_all()
        drained_by = time.monotonic() + drain_seconds
        running = [thread for thread in self._threads if thread.is_alive()]
        for thread in running:
            thread.join(max(0.0, drained_by - time.monotonic()))
        with self._changed:
            self._state = EngineState.STOPPED
            self._changed.notify_all()
        for thread in running:
            thread.join()

    def _check_ready(self) -> None:
        if self._state is not EngineState.READY:
            raise NotReady(f"the engine is {self._state.value}")

    def _run(self, worker: Worker) -> None:
        try:
            self._work(worker)
        except Exception:
            # Not the model, which has its own place for that: memory ran out, or the fault is ours.
            _log.exception("an engine thread has failed: no more requests are taken")
            self._fail()
        failed = self._state is EngineState.FAILED
        reason = EngineFailed(_DEAD) if failed else NotReady(f"the engine is {self._state.value}")
        self._answer_everybody(worker, reason)

    def _work(self, worker: Worker) -> None:
        while self._wait_for_work(worker):
            self._drop_expired(worker)
            worker.admit(self._take(worker))
            self._step(worker)

    def _fail(self) -> None:
        """Every thread answers those who wait once it sees this."""
        with self._changed:
            self._state = EngineState.FAILED
            self._changed.notify_all()

    def _step(self, worker: Worker) -> None:
        """A method of its own: a thread that then idles holds on to nobody's answer."""
        for decode, hypotheses in worker.step():
            for ticket in self._end([decode]):
                ticket.resolve(list(hypotheses))

    def _wait_for_work(self, worker: Worker) -> bool:
        """Blocks while there is nothing to do; False when the loop shall end."""
        with self._changed:
            while self._state is EngineState.READY and not (worker.rows or len(self._scheduler)):
                self._changed.wait()
            busy = worker.rows > 0 or len(self._scheduler) > 0
            return self._state is EngineState.READY or (self._state is EngineState.DRAINING and busy)

    def _drop_expired(self, worker: Worker) -> None:
        """Drops what nobody waits for any more."""
        now = self._clock()

        def unwanted(ticket: Ticket) -> bool:
            return ticket.answer.cancelled() or ticket.deadline <= now

        dropped: list[Ticket] = []
        with self._changed:
            if now >= self._next_queue_check:
                self._next_queue_check = now + _QUEUE_CHECK_SECONDS
                dropped += self._scheduler.drop(unwanted)
            dropped += self._sharing.leave(worker.decodes, unwanted)
        if dropped:
            worker.drop(lambda decode: not decode.waiting)
        for ticket in dropped:
            ticket.reject(DeadlineExceeded(ticket.allowed_seconds))

    def _take(self, worker: Worker) -> list[Decode]:
        """As many sentences as there are rows for, but not more than the share of one thread."""
        with self._changed:
            rows = sum(each.rows for each in self._workers) + self._scheduler.rows
            share = -(-rows // len(self._workers))
            groups = self._scheduler.take(self._settings.batch_rows - worker.rows, share - worker.rows)
            wanted = ([ticket for ticket in group if not ticket.answer.cancelled()] for group in groups)
            decodes = [self._sharing.begin(group) for group in wanted if group]
            # Counted before they are read, which takes time: the next thread's share depends on it.
            worker.rows += sum(decode.sentence.options.beam_size for decode in decodes)
        return decodes

    def _end(self, decodes: Sequence[Decode]) -> list[Ticket]:
        """Who waits for them; from now on nobody can join them."""
        with self._changed:
            return [ticket for decode in decodes for ticket in self._sharing.end(decode)]

    def _recover(self, model: StepModel, failed: Sequence[Decode], error: Exception) -> None:
        """Answers those whose sentences ``model`` failed on; goes on if it still works."""
        _log.error("the model raised while decoding", exc_info=error)
        for ticket in self._end(failed):
            ticket.reject(EngineFailed("the model failed while decoding this batch"), error)
        try:
            _probe(model)
        except Exception:
            _log.exception("the model fails a trivial sentence: no more requests are taken")
            self._fail()

    def _answer_everybody(self, worker: Worker, reason: Exception) -> None:
        with self._changed:
            waiting = self._scheduler.drop(lambda _: True)
        for ticket in waiting + self._end(worker.clear()):
            ticket.reject(reason)


def _probe(model: StepModel) -> None:
    """One short decode of an empty sentence."""
    options = SearchOptions(beam_size=1, length_penalty=1.0, alternatives=0, target_len=2)
    search_batch(model, [(model.limits.eos_id,)], options)
