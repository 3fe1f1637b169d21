"""Sentences of one width that share every step: join, step, retire, drop."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np

from app.engine.search import SentenceSearch, candidates_per_row
from app.engine.step_model import Decoding, Int64

Owner = TypeVar("Owner")


class RunningBatch(Generic[Owner]):
    """In-flight batching (Yu et al. 2022, Orca, section 3): sentences join and leave between steps.

    ``Owner`` is whatever the caller wants back with a finished search.
    """

    def __init__(self, vocab_size: int, width: int) -> None:
        self._vocab_size = vocab_size
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

    def join(self, newcomers: Decoding, searches: Sequence[SentenceSearch], owners: Sequence[Owner]) -> None:
        """Lets encoded sentences take part from the next step on."""
        if self._decoding is None:
            self._decoding = newcomers
        else:
            self._decoding.join(newcomers)
        self._searches += searches
        self._owners += owners

    def step(self) -> list[tuple[Owner, SentenceSearch]]:
        """Moves every sentence one piece on; returns and forgets those that finished.

        Raises:
            FloatingPointError: the model's numbers have overflowed.
        """
        if self._decoding is None:
            return []
        last_ids = np.concatenate([search.last_ids for search in self._searches])
        candidates = self._decoding.step(last_ids, candidates_per_row(self._width, self._vocab_size))
        if not np.isfinite(candidates.log_probs[:, 0]).all():
            raise FloatingPointError("the model gave something else than probabilities")
        parents = np.arange(self.rows)
        for index, search in enumerate(self._searches):
            first = index * self._width
            rows = slice(first, first + self._width)
            parents[rows] = first + search.advance(candidates.ids[rows], candidates.log_probs[rows])
        both = zip(self._owners, self._searches, strict=True)
        finished = [(owner, search) for owner, search in both if search.finished]
        self._retire([not search.finished for search in self._searches], parents)
        return finished

    def drop(self, unwanted: Callable[[Owner], bool]) -> list[Owner]:
        """Ends sentences before their time; returns their owners."""
        stays = [not unwanted(owner) for owner in self._owners]
        dropped = [owner for owner, wanted in zip(self._owners, stays, strict=True) if not wanted]
        if dropped:
            self._retire(stays, np.arange(self.rows))
        return dropped

    def clear(self) -> list[Owner]:
        """Forgets everything, the model's state included."""
        owners, self._owners, self._searches, self._decoding = self._owners, [], [], None
        return owners

    def _retire(self, stays: Sequence[bool], parents: Int64) -> None:
        """Keeps the sentences that stay, their rows going on from ``parents [rows]``.

        The model goes first: if it raises, nobody has been forgotten and ``clear`` still returns everybody.
        """
        kept = [index for index, wanted in enumerate(stays) if wanted]
        if kept and self._decoding is not None:
            if len(kept) < len(self):
                self._decoding.keep(kept)
            within = (parents.reshape(-1, self._width) % self._width)[kept]
            kept_parents = (np.arange(len(kept))[:, None] * self._width + within).ravel()
            if not np.array_equal(kept_parents, np.arange(len(kept_parents))):
                self._decoding.reorder(kept_parents)
        else:
            self._decoding = None
        self._searches = [self._searches[index] for index in kept]
        self._owners = [self._owners[index] for index in kept]
