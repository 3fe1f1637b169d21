"""Greedy search of many sentences at once: every row goes on with its likeliest piece."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.engine.hypotheses import Hypothesis, SearchOptions, finished_hypothesis
from app.engine.scoring import length_normalised
from app.engine.step_model import Candidates, Int64


@dataclass
class _Search:
    """One sentence: what was chosen so far, and its log-probability."""

    options: SearchOptions
    ids: list[int] = field(default_factory=list)
    log_prob: float = 0.0


class GreedySearches:
    """Implements ``app.engine.search.Searches`` for one row a sentence; the same as ``BeamSearches`` of width 1.

    A search ends with an end of sentence, or at ``target_len`` as it stands. A step does so little for a sentence
    that lists are faster than arrays up to some hundred sentences.

    Attributes:
        last_ids: ``[sentences, 1]``, what each row is fed next.
    """

    def __init__(self, bos_id: int, eos_id: int) -> None:
        self._bos_id = bos_id
        self._eos_id = eos_id
        self._searches: list[_Search] = []
        self.last_ids: Int64 = np.zeros((0, 1), np.int64)

    def __len__(self) -> int:
        return len(self._searches)

    def join(self, options: Sequence[SearchOptions]) -> None:
        """Begins as many searches, each of beam size 1."""
        self._searches += [_Search(one) for one in options]
        self.last_ids = np.concatenate([self.last_ids, np.full((len(options), 1), self._bos_id)])

    def advance(self, candidates: Candidates) -> tuple[None, list[int]]:
        """Takes the candidates ``[sentences, 1]`` of one step.

        Returns:
            ``None``, because every row goes on from itself, and which sentences want no further step.
        """
        self.last_ids = candidates.ids
        ends = []
        chosen = zip(self._searches, candidates.ids[:, 0].tolist(), candidates.log_probs[:, 0].tolist(), strict=True)
        for sentence, (search, piece, log_prob) in enumerate(chosen):
            search.ids.append(piece)
            search.log_prob += log_prob
            if piece == self._eos_id or len(search.ids) == search.options.target_len:
                ends.append(sentence)
        return None, ends

    def keep(self, sentences: Sequence[int]) -> None:
        """Forgets all sentences but these."""
        self._searches = [self._searches[sentence] for sentence in sentences]
        self.last_ids = self.last_ids[list(sentences)]

    def hypotheses(self, sentence: int) -> list[Hypothesis]:
        """The one hypothesis of a sentence that has ended."""
        search = self._searches[sentence]
        score = length_normalised(search.log_prob, len(search.ids), search.options.length_penalty)
        return [finished_hypothesis(search.ids, search.log_prob, score, self._eos_id)]
