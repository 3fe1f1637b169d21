"""Greedy and beam search of one sentence, advanced one step at a time by whoever runs the model."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.engine.hypotheses import FinishReason, Hypothesis, SearchOptions
from app.engine.scoring import Float64, best_first, extend, length_normalised
from app.engine.step_model import Float32, Int64


class SentenceSearch(Protocol):
    """One sentence on its way through the steps of a model.

    Attributes:
        last_ids: ``[width]``, what each row is fed next.
        finished: no further step is wanted.
    """

    last_ids: Int64
    finished: bool

    def advance(self, ids: Int64, log_probs: Float32) -> Int64:
        """Takes the candidates ``[width, k]`` of one step; returns which row each row goes on from, ``[width]``."""

    def hypotheses(self) -> list[Hypothesis]:
        """The finished hypotheses asked for, best score first."""


def start_search(options: SearchOptions, bos_id: int, eos_id: int) -> SentenceSearch:
    """The search that ``options`` asks for, before its first step."""
    if options.beam_size == 1:
        return GreedySearch(options, bos_id, eos_id)
    return BeamSearch(options, bos_id, eos_id)


def candidates_per_row(width: int, vocab_size: int) -> int:
    """How many candidates a step must give per row.

    Greedy search takes the best. Beam search needs twice its width: even if the likeliest ``width``
    continuations all end, as many running ones are left.
    """
    return 1 if width == 1 else min(2 * width, vocab_size)


class GreedySearch:
    """Takes the likeliest piece at every step."""

    def __init__(self, options: SearchOptions, bos_id: int, eos_id: int) -> None:
        self.last_ids: Int64 = np.array([bos_id])
        self.finished = False
        self._options = options
        self._eos_id = eos_id
        self._ids: list[int] = []
        self._log_prob = 0.0

    def advance(self, ids: Int64, log_probs: Float32) -> Int64:
        """See ``SentenceSearch``."""
        self.last_ids = ids[0, :1]
        self._ids.append(int(ids[0, 0]))
        self._log_prob += float(log_probs[0, 0])
        self.finished = self._ids[-1] == self._eos_id or len(self._ids) == self._options.target_len
        return np.zeros(1, dtype=np.int64)

    def hypotheses(self) -> list[Hypothesis]:
        """See ``SentenceSearch``."""
        score = length_normalised(self._log_prob, len(self._ids), self._options.length_penalty)
        return [finished_hypothesis(self._ids, self._log_prob, score, self._eos_id)]


class BeamSearch:
    """Keeps the ``beam_size`` likeliest running hypotheses and as many of the best finished ones.

    A continuation that ends is taken if it is among the likeliest ``beam_size`` of its step. The search
    ends when ``beam_size`` hypotheses are finished and the best running one, scored at its present
    length, does not beat the worst of them. At ``target_len`` what runs is taken as it stands.
    """

    def __init__(self, options: SearchOptions, bos_id: int, eos_id: int) -> None:
        width = options.beam_size
        self.last_ids: Int64 = np.full(width, bos_id)
        self.finished = False
        self._options = options
        self._eos_id = eos_id
        # All rows start alike: only the first may compete in the first step.
        self._log_probs = np.full(width, -np.inf)
        self._log_probs[0] = 0.0
        self._parents: list[Int64] = []
        self._ids: list[Int64] = []
        self._ended: list[_Ended] = []

    def advance(self, ids: Int64, log_probs: Float32) -> Int64:
        """See ``SentenceSearch``."""
        width = self._options.beam_size
        total = extend(self._log_probs, log_probs)
        rows, columns = best_first(total, 2 * width)
        chosen, values = ids[rows, columns], total[rows, columns]
        last_step = len(self._ids) + 1 == self._options.target_len
        ends = (chosen == self._eos_id) | last_step
        for rank in np.flatnonzero(ends[:width]):
            self._end(int(rows[rank]), int(chosen[rank]), float(values[rank]))
        if last_step:
            self.finished = True
            return np.arange(width)
        running = np.flatnonzero(chosen != self._eos_id)[:width]
        parents = self._continue(rows[running], chosen[running], values[running])
        self.finished = not np.isfinite(self._log_probs[0]) or self._cannot_improve()
        return parents

    def hypotheses(self) -> list[Hypothesis]:
        """See ``SentenceSearch``."""
        best = sorted(self._ended, key=lambda ended: -ended.score)[: 1 + self._options.alternatives]
        return [finished_hypothesis(self._trace(ended), ended.log_prob, ended.score, self._eos_id) for ended in best]

    def _end(self, row: int, last_id: int, log_prob: float) -> None:
        if not np.isfinite(log_prob):
            return
        length = len(self._ids) + 1
        score = length_normalised(log_prob, length, self._options.length_penalty)
        self._ended.append(_Ended(score, log_prob, row, length, last_id))
        self._ended.sort(key=lambda ended: -ended.score)
        del self._ended[self._options.beam_size :]

    def _continue(self, parents: Int64, ids: Int64, log_probs: Float64) -> Int64:
        """Records one step; rows without a hypothesis (a tiny vocabulary) idle at minus infinity."""
        if missing := self._options.beam_size - len(ids):
            parents = np.pad(parents, (0, missing))
            ids = np.pad(ids, (0, missing), constant_values=self._eos_id)
            log_probs = np.pad(log_probs, (0, missing), constant_values=-np.inf)
        self.last_ids = ids
        self._log_probs = log_probs
        self._parents.append(parents)
        self._ids.append(ids)
        return parents

    def _cannot_improve(self) -> bool:
        if len(self._ended) < self._options.beam_size:
            return False
        running = length_normalised(float(self._log_probs[0]), len(self._ids), self._options.length_penalty)
        return self._ended[-1].score >= running

    def _trace(self, ended: "_Ended") -> list[int]:
        """Follows the back-pointers of a finished hypothesis to its beginning."""
        ids = [ended.last_id]
        row = ended.row
        for step in reversed(range(ended.length - 1)):
            ids.append(int(self._ids[step][row]))
            row = int(self._parents[step][row])
        return ids[::-1]


@dataclass(frozen=True)
class _Ended:
    """A finished hypothesis: its last piece, and the row that it left after ``length - 1`` steps."""

    score: float
    log_prob: float
    row: int
    length: int
    last_id: int


def finished_hypothesis(ids: list[int], log_prob: float, score: float, eos_id: int) -> Hypothesis:
    """Ends a list of produced ids: the end of sentence is no piece of the text."""
    ended = ids[-1] == eos_id
    reason: FinishReason = "eos" if ended else "length"
    return Hypothesis(tuple(ids[:-1] if ended else ids), log_prob, score, reason)
