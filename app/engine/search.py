"""Greedy and beam search of many sentences at once, advanced one step at a time by whoever runs the model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.engine.hypotheses import FinishReason, Hypothesis, SearchOptions
from app.engine.scoring import Float64, best_first, extend, length_normalised
from app.engine.step_model import Candidates, Int64

_FIRST_POSITIONS = 32


def candidates_per_row(width: int, vocab_size: int) -> int:
    """How many candidates a step must give per row.

    Greedy search takes the best. Beam search needs twice its width: even if the likeliest ``width``
    continuations all end, as many running ones are left.
    """
    return 1 if width == 1 else min(2 * width, vocab_size)


class BeamSearches:
    """Per sentence, keeps the ``width`` likeliest running hypotheses and as many of the best finished ones.

    A continuation that ends is taken if it is among the likeliest ``width`` of its step. A search ends when
    ``width`` hypotheses are finished and the best running one, scored at its present length, does not beat
    the worst of them. At ``target_len`` what runs is taken as it stands. A width of 1 is greedy search.

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
        self._ids, self._parents = (
            np.concatenate([history, np.zeros((count, *history.shape[1:]), np.int32)])
            for history in (self._ids, self._parents)
        )

    def advance(self, candidates: Candidates) -> tuple[Int64, npt.NDArray[np.bool_]]:
        """Takes the candidates ``[sentences * width, k]`` of one step.

        Returns:
            Which row of its sentence each row goes on from, ``[sentences, width]``, and which sentences want
            no further step, ``[sentences]``.
        """
        width, k = self._width, candidates.ids.shape[1]
        total = extend(self._log_probs, candidates.log_probs)
        order = best_first(total, 2 * width)
        chosen = np.take_along_axis(candidates.ids.reshape(total.shape), order, axis=1)
        values = np.take_along_axis(total, order, axis=1)
        rows = order // k
        self._lengths += 1
        stops = chosen == self._eos_id
        last_step = self._lengths == [one.target_len for one in self._options]
        ends = (stops | last_step[:, None])[:, :width] & np.isfinite(values[:, :width])
        for sentence, rank in np.argwhere(ends).tolist():
            self._end(sentence, int(rows[sentence, rank]), int(chosen[sentence, rank]), float(values[sentence, rank]))
        # Rows without a hypothesis (a tiny vocabulary) idle at minus infinity.
        running = np.argsort(stops, axis=1, kind="stable")[:, :width]
        values[stops] = -np.inf
        parents = np.take_along_axis(rows, running, axis=1)
        self.last_ids = np.take_along_axis(chosen, running, axis=1)
        self._log_probs = np.take_along_axis(values, running, axis=1)
        self._remember(parents)
        return parents, last_step | np.isneginf(self._log_probs[:, 0]) | self._cannot_improve()

    def keep(self, sentences: Sequence[int]) -> None:
        """Forgets all sentences but these."""
        self._options = [self._options[index] for index in sentences]
        self._ended = [self._ended[index] for index in sentences]
        for name in ("last_ids", "_log_probs", "_worst", "_lengths", "_ids", "_parents"):
            setattr(self, name, getattr(self, name)[list(sentences)])

    def hypotheses(self, sentence: int) -> list[Hypothesis]:
        """The finished hypotheses of one sentence that were asked for, best score first."""
        best = self._ended[sentence][: 1 + self._options[sentence].alternatives]
        return [
            finished_hypothesis(self._trace(sentence, ended), ended.log_prob, ended.score, self._eos_id)
            for ended in best
        ]

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
        longest = int(self._lengths.max())
        if longest > self._ids.shape[1]:
            more = ((0, 0), (0, self._ids.shape[1]), (0, 0))
            self._ids, self._parents = np.pad(self._ids, more), np.pad(self._parents, more)
        here = (np.arange(len(self)), self._lengths - 1)
        self._ids[here] = self.last_ids
        self._parents[here] = parents

    def _cannot_improve(self) -> npt.NDArray[np.bool_]:
        # Python's power, number by number: a vector's may round otherwise, and scores are compared with these.
        lengths = zip(self._lengths.tolist(), self._options, strict=True)
        norms = np.array([float(length) ** one.length_penalty for length, one in lengths])
        improves_to: Float64 = self._log_probs[:, 0] / norms
        return self._worst >= improves_to

    def _trace(self, sentence: int, ended: "_Ended") -> list[int]:
        """Follows the back-pointers of a finished hypothesis to its beginning."""
        ids = [ended.last_id]
        row = ended.row
        for step in reversed(range(ended.length - 1)):
            ids.append(int(self._ids[sentence, step, row]))
            row = int(self._parents[sentence, step, row])
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
