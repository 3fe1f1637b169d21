"""Greedy search of many sentences at once: every row goes on with its likeliest piece."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from app.engine.hypotheses import Hypothesis, SearchOptions, finished_hypothesis
from app.engine.scoring import Float64, length_normalised
from app.engine.step_model import Candidates, Int64

_FIRST_POSITIONS = 32


class GreedySearches:
    """Implements ``app.engine.search.Searches`` for one row a sentence; the same as ``BeamSearches`` of width 1.

    A search ends with an end of sentence, or at ``target_len`` as it stands.

    Attributes:
        last_ids: ``[sentences, 1]``, what each row is fed next.
    """

    def __init__(self, bos_id: int, eos_id: int) -> None:
        self._bos_id = bos_id
        self._eos_id = eos_id
        self._options: list[SearchOptions] = []
        self.last_ids: Int64 = np.zeros((0, 1), np.int64)
        self._log_probs: Float64 = np.zeros(0)
        self._lengths: Int64 = np.zeros(0, np.int64)
        self._target_lens: Int64 = np.zeros(0, np.int64)
        # [sentences, positions]: what was chosen at each step.
        self._ids: npt.NDArray[np.int32] = np.zeros((0, _FIRST_POSITIONS), np.int32)

    def __len__(self) -> int:
        return len(self._options)

    def join(self, options: Sequence[SearchOptions]) -> None:
        """Begins as many searches, each of beam size 1."""
        count = len(options)
        self._options += options
        self.last_ids = np.concatenate([self.last_ids, np.full((count, 1), self._bos_id)])
        self._log_probs = np.concatenate([self._log_probs, np.zeros(count)])
        self._lengths = np.concatenate([self._lengths, np.zeros(count, np.int64)])
        self._target_lens = np.concatenate([self._target_lens, [one.target_len for one in options]])
        self._ids = np.concatenate([self._ids, np.zeros((count, self._ids.shape[1]), np.int32)])

    def advance(self, candidates: Candidates) -> tuple[None, npt.NDArray[np.bool_]]:
        """Takes the candidates ``[sentences, 1]`` of one step.

        Returns:
            ``None``, because every row goes on from itself, and which sentences want no further step.
        """
        self.last_ids = candidates.ids
        chosen = candidates.ids[:, 0]
        self._log_probs += candidates.log_probs[:, 0]
        longest = int(self._lengths.max())
        if longest == self._ids.shape[1]:
            self._ids = np.pad(self._ids, ((0, 0), (0, longest)))
        self._ids[np.arange(len(chosen)), self._lengths] = chosen
        self._lengths += 1
        return None, (chosen == self._eos_id) | (self._lengths == self._target_lens)

    def keep(self, sentences: Sequence[int]) -> None:
        """Forgets all sentences but these."""
        self._options = [self._options[index] for index in sentences]
        kept = list(sentences)
        self.last_ids, self._log_probs, self._ids = self.last_ids[kept], self._log_probs[kept], self._ids[kept]
        self._lengths, self._target_lens = self._lengths[kept], self._target_lens[kept]

    def hypotheses(self, sentence: int) -> list[Hypothesis]:
        """The one hypothesis of a sentence that has ended."""
        length, log_prob = int(self._lengths[sentence]), float(self._log_probs[sentence])
        score = length_normalised(log_prob, length, self._options[sentence].length_penalty)
        return [finished_hypothesis(self._ids[sentence, :length].tolist(), log_prob, score, self._eos_id)]
