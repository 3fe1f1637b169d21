"""Beam search of many sentences at once, advanced one step at a time by whoever runs the model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from app.engine.hypotheses import Hypothesis, SearchOptions, finished_hypothesis
from app.engine.scoring import Float64, best_first, extend, length_normalised
from app.engine.step_model import Candidates, Int64

_FIRST_POSITIONS = 32


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
        self._bos_id = bos_id
        self._eos_id = eos_id
        self._options: list[SearchOptions] = []
        self._ended: list[list[_Ended]] = []
        self.last_ids: Int64 = np.zeros((0, width), np.int64)
        self._log_probs: Float64 = np.zeros((0, width))
        self._worst: Float64 = np.zeros(0)
        self._lengths: Int64 = np.zeros(0, np.int64)
        self._longest = 0
        self._target_lens: Int64 = np.zeros(0, np.int64)
        # [sentences, positions, width]: what was chosen at each step, and which row it went on from.
        self._ids: npt.NDArray[np.int32] = np.zeros((0, _FIRST_POSITIONS, width), np.int32)
        self._parents: npt.NDArray[np.int32] = np.zeros_like(self._ids)

    def __len__(self) -> int:
        return len(self._options)

    def join(self, options: Sequence[SearchOptions]) -> None:
        """Begins as many searches, each of beam size ``width``."""
        count = len(options)
        # All rows start alike: only the first may compete in the first step.
        log_probs = np.full((count, self._width), -np.inf)
        log_probs[:, 0] = 0.0
        self._options += options
        self._ended += [[] for _ in options]
        self.last_ids = np.concatenate([self.last_ids, np.full(log_probs.shape, self._bos_id)])
        self._log_probs = np.concatenate([self._log_probs, log_probs])
        self._worst = np.concatenate([self._worst, np.full(count, -np.inf)])
        self._lengths = np.concatenate([self._lengths, np.zeros(count, np.int64)])
        self._target_lens = np.concatenate([self._target_lens, [one.target_len for one in options]])
        self._ids, self._parents = (
            np.concatenate([history, np.zeros((count, *history.shape[1:]), np.int32)])
            for history in (self._ids, self._parents)
        )

    def advance(self, candidates: Candidates) -> tuple[Int64, list[int]]:
        """See ``Searches``."""
        width = self._width
        chosen, values, rows = self._best_continuations(candidates)
        self._lengths += 1
        self._longest += 1
        stops = chosen == self._eos_id
        last_step = self._lengths == self._target_lens
        if stops.any() or last_step.any():
            self._end_some(chosen, values, rows, stops | last_step[:, None])
            # Rows without a hypothesis (a tiny vocabulary) idle at minus infinity.
            values[stops] = -np.inf
            running = _flat(np.argsort(stops, axis=1, kind="stable")[:, :width], stops.shape[1])
            chosen, values, rows = chosen.take(running), values.take(running), rows.take(running)
        else:
            chosen, values, rows = chosen[:, :width], values[:, :width], rows[:, :width]
        self.last_ids, self._log_probs = chosen, values
        self._remember(rows)
        full = self._worst > -np.inf
        may_end = np.flatnonzero(last_step | full | (values[:, 0] == -np.inf)).tolist()
        return rows, [sentence for sentence in may_end if last_step[sentence] or not self._can_improve(sentence)]

    def keep(self, sentences: Sequence[int]) -> None:
        """Forgets all sentences but these."""
        self._options = [self._options[index] for index in sentences]
        self._ended = [self._ended[index] for index in sentences]
        kept = list(sentences)
        self.last_ids, self._log_probs, self._worst = self.last_ids[kept], self._log_probs[kept], self._worst[kept]
        self._lengths, self._target_lens = self._lengths[kept], self._target_lens[kept]
        self._longest = max(self._lengths.tolist(), default=0)
        self._ids, self._parents = self._ids[kept], self._parents[kept]

    def hypotheses(self, sentence: int) -> list[Hypothesis]:
        """The finished hypotheses of one sentence that were asked for, best score first."""
        best = self._ended[sentence][: 1 + self._options[sentence].alternatives]
        return [
            finished_hypothesis(self._trace(sentence, ended), ended.log_prob, ended.score, self._eos_id)
            for ended in best
        ]

    def _best_continuations(self, candidates: Candidates) -> tuple[Int64, Float64, Int64]:
        """Ids, log-probabilities and rows of the ``2 * width`` likeliest of each sentence, best first."""
        total = extend(self._log_probs, candidates.log_probs)
        order = best_first(total, 2 * self._width)
        flat = _flat(order, total.shape[1])
        return candidates.ids.take(flat), total.take(flat), order // candidates.ids.shape[1]

    def _end_some(self, chosen: Int64, values: Float64, rows: Int64, ends: npt.NDArray[np.bool_]) -> None:
        """Takes over what ``ends [sentences, k]`` of the likeliest ``width`` continuations of each sentence."""
        ended = ends[:, : self._width] & np.isfinite(values[:, : self._width])
        for sentence, rank in np.argwhere(ended).tolist():
            self._end(sentence, int(rows[sentence, rank]), int(chosen[sentence, rank]), float(values[sentence, rank]))

    def _end(self, sentence: int, row: int, last_id: int, log_prob: float) -> None:
        length = int(self._lengths[sentence])
        score = length_normalised(log_prob, length, self._options[sentence].length_penalty)
        ended = self._ended[sentence]
        ended.append(_Ended(score, log_prob, row, length, last_id))
        ended.sort(key=lambda one: -one.score)
        del ended[self._width :]
        if len(ended) == self._width:
            self._worst[sentence] = ended[-1].score

    def _remember(self, parents: Int64) -> None:
        """Records one step."""
        if self._longest > self._ids.shape[1]:
            more = ((0, 0), (0, self._ids.shape[1]), (0, 0))
            self._ids, self._parents = np.pad(self._ids, more), np.pad(self._parents, more)
        here = (np.arange(len(self)), self._lengths - 1)
        self._ids[here] = self.last_ids
        self._parents[here] = parents

    def _can_improve(self, sentence: int) -> bool:
        """Whether the best running hypothesis, if there is one, beats the worst finished one that is kept."""
        log_prob, length = float(self._log_probs[sentence, 0]), int(self._lengths[sentence])
        running = length_normalised(log_prob, length, self._options[sentence].length_penalty)
        return bool(running > self._worst[sentence])

    def _trace(self, sentence: int, ended: "_Ended") -> list[int]:
        """Follows the back-pointers of a finished hypothesis to its beginning."""
        ids = [ended.last_id]
        row = ended.row
        for step in reversed(range(ended.length - 1)):
            ids.append(int(self._ids[sentence, step, row]))
            row = int(self._parents[sentence, step, row])
        return ids[::-1]


def _flat(columns: Int64, row_length: int) -> Int64:
    """Places in the flattened array of ``columns`` of every row."""
    return columns + np.arange(len(columns))[:, None] * row_length


@dataclass(frozen=True)
class _Ended:
    """A finished hypothesis: its last piece, and the row that it left after ``length - 1`` steps."""

    score: float
    log_prob: float
    row: int
    length: int
    last_id: int
