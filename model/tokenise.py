"""Corpora to ids of their pairs and to hashes of their sentences, a chunk of lines at a time, on all cores."""

import hashlib
import multiprocessing
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from app.cores import usable_cores
from app.text.tokenizer import Tokenizer
from model.corpus import FilterCounts, Pair, bare_form, fit_pairs, read_lines
from model.kept_pairs import encode_pairs

Ids = npt.NDArray[np.uint16]
Forms = npt.NDArray[np.uint64]
T = TypeVar("T")

_CHUNK_LINES = 20_000


@dataclass(frozen=True)
class Side:
    """All sentences of one language: sentence ``i`` is ``ids[offsets[i]:offsets[i + 1]]``."""

    ids: Ids
    offsets: npt.NDArray[np.int64]

    def __getitem__(self, index: int) -> Ids:
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    def lengths(self) -> npt.NDArray[np.int64]:
        """Pieces of each sentence, ``[pairs]``."""
        return np.diff(self.offsets)

    def take(self, order: npt.NDArray[np.intp]) -> "Side":
        """The sentences ``order`` names, in that order."""
        lengths = self.lengths()[order]
        offsets = np.concatenate([[0], lengths.cumsum()])
        moved = np.repeat(self.offsets[order] - offsets[:-1], lengths)
        return Side(self.ids[np.arange(offsets[-1]) + moved], offsets)


@dataclass(frozen=True)
class TokenisedPairs:
    """Pairs in the order of their file.

    Attributes:
        sides: ids of both languages.
        forms: hashes of the sentences' bare forms (``model.corpus.bare_form``), ``[2, pairs]``.
        counts: what was kept, what dropped.
    """

    sides: tuple[Side, Side]
    forms: Forms
    counts: FilterCounts


@dataclass(frozen=True)
class TokenisingRules:
    """What becomes of a line.

    Attributes:
        max_pieces: pairs with a longer side are dropped.
        excluded: for each language the bare forms of sentences to leave out, see ``model.corpus.fit_pairs``.
    """

    tokenizer: Tokenizer
    max_pieces: int
    excluded: Sequence[Container[str]] = ()

    def tokenise(self, lines: Sequence[str]) -> TokenisedPairs:
        """The pairs of ``lines`` that pass all filters, the number of pieces included."""
        counts = FilterCounts()
        pairs = list(fit_pairs(lines, counts, self.excluded))
        both = encode_pairs(self.tokenizer, pairs)
        short = [index for index, ids in enumerate(zip(*both, strict=True)) if max(map(len, ids)) <= self.max_pieces]
        if dropped := len(pairs) - len(short):
            counts.dropped["too many pieces"] = dropped
        counts.kept = len(short)
        first, second = (_side([side[index] for index in short]) for side in both)
        return TokenisedPairs((first, second), _forms([pairs[index] for index in short]), counts)


class Tokenisers:
    """Processes that share the lines of a corpus out among them; one chunk alone needs none."""

    def __init__(self, rules: TokenisingRules) -> None:
        self._rules = rules
        self._processes = usable_cores()
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def forms(self, path: Path) -> Forms:
        """Hashes of the sentences of a file that pass the filters, those of test sets too: ``[2, pairs]``."""
        return np.concatenate(list(self._map(forms_of, path)), axis=1)

    def tokenise(self, path: Path) -> TokenisedPairs:
        """The pairs of one file."""
        chunks = list(self._map(self._rules.tokenise, path))
        counts = FilterCounts(sum(one.counts.kept for one in chunks))
        for one in chunks:
            counts.dropped.update(one.counts.dropped)
        first, second = (_joined([one.sides[side] for one in chunks]) for side in (0, 1))
        return TokenisedPairs((first, second), np.concatenate([one.forms for one in chunks], axis=1), counts)

    def _map(self, work: Callable[[Sequence[str]], T], path: Path) -> Iterator[T]:
        """``work`` of every chunk of a file, in order; few chunks wait, so that a large file is never held whole."""
        chunks = _chunks(read_lines(path))
        first_two = list(islice(chunks, 2))
        if len(first_two) < 2 or self._processes == 1:
            yield from map(work, chain(first_two or [[]], chunks))
            return
        if self._pool is None:
            # Forked, a process would inherit locks that torch's threads hold.
            self._pool = ProcessPoolExecutor(self._processes, multiprocessing.get_context("spawn"))
        waiting: deque[Future[T]] = deque()
        for chunk in chain(first_two, chunks):
            waiting.append(self._pool.submit(work, chunk))
            if len(waiting) > 2 * self._processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def forms_of(lines: Sequence[str]) -> Forms:
    """See ``Tokenisers.forms``."""
    return _forms(list(fit_pairs(lines, FilterCounts())))


def _forms(pairs: Sequence[Pair]) -> Forms:
    hashes = [[_hash(bare_form(pair[side])) for pair in pairs] for side in (0, 1)]
    return np.array(hashes, dtype=np.uint64)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def _chunks(lines: Iterable[str]) -> Iterator[list[str]]:
    left = iter(lines)
    while chunk := list(islice(left, _CHUNK_LINES)):
        yield chunk


def _side(sentences: Sequence[Sequence[int]]) -> Side:
    offsets: npt.NDArray[Any] = np.array([0, *map(len, sentences)], dtype=np.int64).cumsum()
    return Side(np.fromiter(chain.from_iterable(sentences), dtype=np.uint16, count=offsets[-1]), offsets)


def _joined(sides: Sequence[Side]) -> Side:
    lengths = np.concatenate([side.lengths() for side in sides])
    return Side(np.concatenate([side.ids for side in sides]), np.concatenate([[0], lengths.cumsum()]))
