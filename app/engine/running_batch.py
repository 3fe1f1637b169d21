"""Sentences of one width that share every step: join, step, retire, drop."""

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import Generic, TypeVar

import numpy as np

from app.engine.greedy_search import GreedySearches
from app.engine.hypotheses import Hypothesis, SearchOptions
from app.engine.search import BeamSearches, Searches, candidates_per_row
from app.engine.step_model import Decoding, Int64, ModelLimits

Owner = TypeVar("Owner")


class RunningBatch(Generic[Owner]):
    """In-flight batching (Yu et al. 2022, Orca, section 3): sentences join and leave between steps.

    ``Owner`` is whatever the caller wants back with what was found.
    """

    def __init__(self, limits: ModelLimits, width: int) -> None:
        self._limits = limits
        self._width = width
        self._decoding: Decoding | None = None
        self._searches = self._no_searches()
        self._owners: list[Owner] = []

    def __len__(self) -> int:
        return len(self._owners)

    @property
    def rows(self) -> int:
        """Rows that a step computes."""
        return len(self) * self._width

    @property
    def source_len(self) -> int:
        """Source positions that a step reads for every row, padding included."""
        return 0 if self._decoding is None else self._decoding.source_len

    def join(self, newcomers: Decoding, options: Sequence[SearchOptions], owners: Sequence[Owner]) -> None:
        """Lets encoded sentences take part from the next step on; ``options`` are of the batch's width."""
        if self._decoding is None:
            self._decoding = newcomers
        else:
            self._decoding.join(newcomers)
        self._searches.join(options)
        self._owners += owners

    def step(self) -> list[tuple[Owner, list[Hypothesis]]]:
        """Moves every sentence one piece on; returns and forgets those that finished.

        Raises:
            FloatingPointError: the model's numbers have overflowed.
        """
        if self._decoding is None:
            return []
        last_ids = self._searches.last_ids.reshape(-1)
        candidates = self._decoding.step(last_ids, candidates_per_row(self._width, self._limits.vocab_size))
        # A number that is not finite makes the sum one, too.
        if not isfinite(sum(candidates.log_probs[:, 0].tolist())):
            raise FloatingPointError("the model gave something else than probabilities")
        parents, ended = self._searches.advance(candidates)
        finished = [(self._owners[index], self._searches.hypotheses(index)) for index in ended]
        gone = set(ended)
        self._retire([index for index in range(len(self)) if index not in gone], parents)
        return finished

    def newest(self) -> Iterator[tuple[Owner, int]]:
        """Of every sentence that goes on, what its first row is fed next: for greedy search, what is decided."""
        return zip(self._owners, self._searches.last_ids[:, 0].tolist(), strict=True)

    def drop(self, unwanted: Callable[[Owner], bool]) -> list[Owner]:
        """Ends sentences before their time; returns their owners."""
        leaves = [unwanted(owner) for owner in self._owners]
        dropped = [owner for owner, leaving in zip(self._owners, leaves, strict=True) if leaving]
        if dropped:
            stays = [index for index, leaving in enumerate(leaves) if not leaving]
            self._retire(stays, None)
        return dropped

    def clear(self) -> list[Owner]:
        """Forgets everything, the model's state included."""
        owners, self._owners, self._decoding = self._owners, [], None
        self._searches = self._no_searches()
        return owners

    def _retire(self, stays: Sequence[int], parents: Int64 | None) -> None:
        """Keeps the sentences that stay, each row going on from row ``parents [sentences, width]`` of its sentence.

        The model goes first: if it raises, nobody has been forgotten and ``clear`` still returns everybody.
        """
        if not stays or self._decoding is None:
            self.clear()
            return
        if len(stays) < len(self):
            self._decoding.keep(stays)
            parents = None if parents is None else parents[stays]
        if parents is not None:
            first_rows = np.arange(len(stays))[:, None] * self._width
            self._decoding.reorder((first_rows + parents).reshape(-1))
        if len(stays) < len(self):
            self._searches.keep(stays)
            self._owners = [self._owners[index] for index in stays]

    def _no_searches(self) -> Searches:
        if self._width == 1:
            return GreedySearches(self._limits.bos_id, self._limits.eos_id)
        return BeamSearches(self._width, self._limits.bos_id, self._limits.eos_id)
