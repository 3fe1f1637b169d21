"""Beam search of many sentences at once, advanced one step at a time by whoever runs the model."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import NamedTuple, Protocol

import numpy as np

from app.engine.hypotheses import Hypothesis, SearchOptions, finished_hypothesis
from app.engine.scoring import Float64, best_first, extend, length_normalised
from app.engine.step_model import Candidates, Int64


def candidates_per_row(width: int, vocab_size: int) -> int:
    """How many candidates a step must give per row.

    Greedy search takes the best. Beam search needs twice its width: even if the likeliest ``width``
    continuations all end, as many running ones are left.
    """
    return 1 if width == 1 else min(2 * width, vocab_size)


class Searches(Protocol):
    """What a running batch asks of a search; ``width`` rows a sentence, sentences in the order in which they joined.

    Attributes:
        last_ids: ``[sentences, width]``, what each row is fed next.
    """

    last_ids: Int64

    def __len__(self) -> int:
        """Sentences on their way."""

    def join(self, options: Sequence[SearchOptions]) -> None:
        """Begins as many searches."""

    def advance(self, candidates: Candidates) -> tuple[Int64 | None, list[int]]:
        """Takes the candidates ``[sentences * width, k]`` of one step.

        Returns:
            Which row of its sentence each row goes on from, ``[sentences, width]``, ``None`` where every row goes on
            from itself, and which sentences want no further step, in rising order.
        """

    def keep(self, sentences: Sequence[int]) -> None:
        """Forgets all sentences but these."""

    def hypotheses(self, sentence: int) -> list[Hypothesis]:
        """The finished hypotheses of one sentence that were asked for, best score first."""


class BeamSearches:
    """Per sentence, keeps the ``width`` likeliest running hypotheses and as many of the best finished ones.

    A continuation that ends is taken if it is among the likeliest ``width`` of its step. A search ends when
    ``width`` hypotheses are finished and the best running one, scored at its present length, does not beat
    the worst of them. At ``target_len`` what runs is taken as it stands.

    Attributes:
        last_ids: ``[sentences, width]``, what each row is fed next.
    """

    def __init__(self, width: int, bos_id: int, eos_id: int) -> None:
        self._width = width
        self._rows = list(range(width))
        self._bos_id = bos_id
        self._eos_id = eos_id
        self._searches: list[_Search] = []
        self.last_ids: Int64 = np.zeros((0, width), np.int64)
        self._log_probs: Float64 = np.zeros((0, width))

    def __len__(self) -> int:
        return len(self._searches)

    def join(self, options: Sequence[SearchOptions]) -> None:
        """Begins as many searches, each of beam size ``width``."""
        # All rows start alike: only the first may compete in the first step.
        log_probs = np.full((len(options), self._width), -inf)
        log_probs[:, 0] = 0.0
        self._searches += [_Search(one, self._width, self._eos_id) for one in options]
        self.last_ids = np.concatenate([self.last_ids, np.full(log_probs.shape, self._bos_id)])
        self._log_probs = np.concatenate([self._log_probs, log_probs])

    def advance(self, candidates: Candidates) -> tuple[Int64 | None, list[int]]:
        """See ``Searches``."""
        continuations = zip(self._searches, *self._best_continuations(candidates), strict=True)
        steps = [search.advance(ids, log_probs, rows) for search, ids, log_probs, rows in continuations]
        self.last_ids = np.array([step.ids for step in steps], np.int64)
        self._log_probs = np.array([step.log_probs for step in steps])
        ends = [sentence for sentence, search in enumerate(self._searches) if search.ended]
        if all(step.parents == self._rows for step in steps):
            return None, ends
        return np.array([step.parents for step in steps], np.int64), ends

    def keep(self, sentences: Sequence[int]) -> None:
        """Forgets all sentences but these."""
        kept = list(sentences)
        self._searches = [self._searches[sentence] for sentence in kept]
        self.last_ids, self._log_probs = self.last_ids[kept], self._log_probs[kept]

    def hypotheses(self, sentence: int) -> list[Hypothesis]:
        """The finished hypotheses of one sentence that were asked for, best score first."""
        return self._searches[sentence].hypotheses()

    def _best_continuations(self, candidates: Candidates) -> tuple[list[list[int]], list[list[float]], list[list[int]]]:
        """Ids, log-probabilities and rows of the ``2 * width`` likeliest of each sentence, best first."""
        total = extend(self._log_probs, candidates.log_probs)
        order = best_first(total, 2 * self._width)
        flat = order + np.arange(len(order))[:, None] * total.shape[1]
        rows = order // candidates.ids.shape[1]
        return candidates.ids.take(flat).tolist(), total.take(flat).tolist(), rows.tolist()


class _Step(NamedTuple):
    """What one sentence's rows go on with: ids fed next, log-probabilities so far, rows that they go on from."""

    ids: list[int]
    log_probs: list[float]
    parents: list[int]


@dataclass(frozen=True)
class _Ended:
    """A finished hypothesis: its last piece, and the row that it left after ``length - 1`` steps."""

    score: float
    log_prob: float
    row: int
    length: int
    last_id: int


class _Search:
    """One sentence; a step does so little for it that lists are faster than arrays.

    Attributes:
        ended: whether it wants no further step.
    """

    def __init__(self, options: SearchOptions, width: int, eos_id: int) -> None:
        self.ended = False
        self._options = options
        self._width = width
        self._eos_id = eos_id
        self._steps: list[_Step] = []
        self._finished: list[_Ended] = []

    def advance(self, ids: list[int], log_probs: list[float], rows: list[int]) -> _Step:
        """Takes the likeliest continuations, best first, of which the first ``width`` may end."""
        length = len(self._steps) + 1
        last_step = length == self._options.target_len
        running: Sequence[int] = range(self._width)
        if last_step or self._eos_id in ids:
            for rank in range(self._width):
                if (last_step or ids[rank] == self._eos_id) and isfinite(log_probs[rank]):
                    self._finish(log_probs[rank], rows[rank], length, ids[rank])
            # Rows without a hypothesis (a tiny vocabulary) idle at minus infinity.
            log_probs = [-inf if piece == self._eos_id else one for piece, one in zip(ids, log_probs, strict=True)]
            running = sorted(range(len(ids)), key=lambda rank: ids[rank] == self._eos_id)
        self.ended = last_step or not self._can_improve(log_probs[running[0]], length)
        order = [running[place] for place in rows_kept([rows[rank] for rank in running[: self._width]])]
        step = _Step([ids[i] for i in order], [log_probs[i] for i in order], [rows[i] for i in order])
        self._steps.append(step)
        return step

    def hypotheses(self) -> list[Hypothesis]:
        """The finished hypotheses that were asked for, best score first."""
        best = self._finished[: 1 + self._options.alternatives]
        return [finished_hypothesis(self._trace(one), one.log_prob, one.score, self._eos_id) for one in best]

    def _finish(self, log_prob: float, row: int, length: int, last_id: int) -> None:
        score = length_normalised(log_prob, length, self._options.length_penalty)
        self._finished.append(_Ended(score, log_prob, row, length, last_id))
        self._finished.sort(key=lambda one: -one.score)
        del self._finished[self._width :]

    def _can_improve(self, log_prob: float, length: int) -> bool:
        """Whether the best running hypothesis, if there is one, beats the worst finished one that is kept."""
        if log_prob == -inf:
            return False
        if len(self._finished) < self._width:
            return True
        return length_normalised(log_prob, length, self._options.length_penalty) > self._finished[-1].score

    def _trace(self, ended: _Ended) -> list[int]:
        """Follows the back-pointers of a finished hypothesis to its beginning."""
        ids, row = [ended.last_id], ended.row
        for step in reversed(self._steps[: ended.length - 1]):
            ids.append(step.ids[row])
            row = step.parents[row]
        return ids[::-1]


def rows_kept(parents: Sequence[int]) -> list[int]:
    """Which continuation each row goes on with, where continuation ``i`` goes on from row ``parents[i]``.

    The first one of a row stays in it, so its past need not be moved; the others take the rows that nobody goes
    on from, in order.
    """
    chosen = [-1] * len(parents)
    others = []
    for place, parent in enumerate(parents):
        if chosen[parent] < 0:
            chosen[parent] = place
        else:
            others.append(place)
    if others:
        left = iter(others)
        chosen = [next(left) if place < 0 else place for place in chosen]
    return chosen
