"""Sentences of one width that share every step: join, step, retire, drop."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np

from app.engine.search import SentenceSearch, candidates_per_row
from app.engine.step_model import Decoding, Int64, StepModel

Owner = TypeVar("Owner")


class RunningBatch(Generic[Owner]):
    """In-flight batching (Yu et al. 2022, Orca, section 3): sentences join and leave between steps.

    ``Owner`` is whatever the caller wants back with a finished search.
    """

    def __init__(self, model: StepModel, width: int) -> None:
        self._model = model
        self._width = width
        self._decoding: Decoding | None = None
        self._searches: list[SentenceSearch] = []
        self._owners: list[Owner] = []

    def __len__(self) -> int:
        return len(self._searches)

    @property
    def rows(self) -> int:
        """Rows that a step computes."""
        return len(self) * self._width

    @property
    def owners(self) -> Sequence[Owner]:
        """Whose sentences are running."""
        return tuple(self._owners)

    def join(
        self, sources: Sequence[Sequence[int]], searches: Sequence[SentenceSearch], owners: Sequence[Owner]
    ) -> None:
        """Encodes sentences and lets them take part from the next step on."""
        newcomers = self._model.encode(sources, self._width)
        if self._decoding is None:
            self._decoding = newcomers
        else:
            self._decoding.join(newcomers)
        self._searches += searches
        self._owners += owners

    def step(self) -> list[tuple[Owner, SentenceSearch]]:
        """Moves every sentence one piece on; returns and forgets those that finished."""
        if self._decoding is None:
            return []
        last_ids = np.concatenate([search.last_ids for search in self._searches])
        k = candidates_per_row(self._width, self._model.limits.vocab_size)
        candidates = self._decoding.step(last_ids, k)
        parents = np.arange(self.rows)
        for index, search in enumerate(self._searches):
            first = index * self._width
            rows = slice(first, first + self._width)
            parents[rows] = first + search.advance(candidates.ids[rows], candidates.log_probs[rows])
        finished = [
            (owner, search) for owner, search in zip(self._owners, self._searches, strict=True) if search.finished
        ]
        kept_parents = self._keep_indices([not search.finished for search in self._searches], parents)
        if self._decoding is not None and not np.array_equal(kept_parents, np.arange(self.rows)):
            self._decoding.reorder(kept_parents)
        return finished

    def drop(self, unwanted: Callable[[Owner], bool]) -> list[Owner]:
        """Ends sentences before their time; returns their owners."""
        wanted = [not unwanted(owner) for owner in self._owners]
        dropped = [owner for owner, stays in zip(self._owners, wanted, strict=True) if not stays]
        if dropped:
            self._keep_indices(wanted, np.arange(self.rows))
        return dropped

    def clear(self) -> list[Owner]:
        """Forgets everything, the model's state included."""
        owners, self._owners, self._searches, self._decoding = self._owners, [], [], None
        return owners

    def _keep_indices(self, stays: Sequence[bool], parents: Int64) -> Int64:
        """Keeps the sentences that stay; returns ``parents`` of their rows in the new numbering."""
        kept = [index for index, keep in enumerate(stays) if keep]
        if len(kept) == len(self._searches):
            return parents
        within = (parents.reshape(-1, self._width) % self._width)[kept]
        self._searches = [self._searches[index] for index in kept]
        self._owners = [self._owners[index] for index in kept]
        if not kept:
            self._decoding = None
        elif self._decoding is not None:
            self._decoding.keep(kept)
        return (np.arange(len(kept))[:, None] * self._width + within).ravel()
