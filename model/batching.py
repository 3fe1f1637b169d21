"""Batches by token budget over sentences of similar length, both directions of every pair."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from app.text.tokenizer import SpecialIds
from model.config import TrainingConfig
from model.dataset import Corpus
from model.noise import SourceNoise

_POOL_EXAMPLES = 50_000


@dataclass(frozen=True)
class Batch:
    """One teacher-forced batch; padding is id ``pad``.

    Attributes:
        source_ids: ``[rows, source_len]``: tag, pieces, end of sentence.
        source_mask: ``[rows, source_len]``, True = real.
        target_ids: ``[rows, target_len]``, what the decoder is fed: beginning of sentence, pieces.
        real_positions: ``[pieces]``, where the flattened ``[rows * target_len]`` is not padding.
        next_ids: ``[pieces]``, what it shall predict there: pieces, end of sentence.
    """

    source_ids: Tensor
    source_mask: Tensor
    target_ids: Tensor
    real_positions: Tensor
    next_ids: Tensor

    def to(self, device: torch.device) -> "Batch":
        """The same batch on ``device``."""
        return Batch(*(tensor.to(device, non_blocking=True) for tensor in vars(self).values()))


@dataclass(frozen=True)
class Example:
    """One direction of one pair."""

    corpus: int
    pair: int
    source_side: int


class BatchMaker:
    """Deals epochs of shuffled batches; the same seed and epoch give the same batches."""

    def __init__(
        self,
        corpora: Sequence[Corpus],
        weights: Sequence[float],
        tag_ids: tuple[int, int],
        special: SpecialIds,
        config: TrainingConfig,
        noise: SourceNoise | None = None,
    ) -> None:
        """``noise`` makes noisy sources, in an epoch as many as ``source_noise`` says; without it all are clean."""
        self._corpora = corpora
        self._weights = weights
        self._tag_ids = tag_ids
        self._special = special
        self._config = config
        self._noise = noise

    def epoch(self, number: int) -> Iterator[Batch]:
        """All batches of one epoch: each corpus as often as its weight says, a fraction at random."""
        random = np.random.default_rng((self._config.seed, number))
        examples = self._draw(random)
        for start in range(0, len(examples), _POOL_EXAMPLES):
            pool = examples[start : start + _POOL_EXAMPLES]
            sources = self._sources(pool, self._config.source_noise, random)
            groups = self._groups(pool, sources)
            for index in random.permutation(len(groups)):
                yield self._collate(pool, sources, groups[index])

    def held_out(self, corpus: int, source_noise: float = 0.0) -> Iterator[Batch]:
        """Batches of the pairs that are never trained on, shortest first; the same noise in every call."""
        random = np.random.default_rng(self._config.seed)
        pairs = np.arange(self._corpora[corpus].held_out)
        both = [(np.full_like(pairs, corpus), pairs, np.full_like(pairs, side)) for side in (0, 1)]
        examples = np.concatenate([np.stack(one, axis=1) for one in both])
        sources = self._sources(examples, source_noise, random)
        for group in self._groups(examples, sources):
            yield self._collate(examples, sources, group)

    def _draw(self, random: np.random.Generator) -> npt.NDArray[np.int64]:
        """Examples of one epoch, ``[examples, (corpus, pair, source_side)]``, shuffled."""
        parts = []
        for number, (corpus, weight) in enumerate(zip(self._corpora, self._weights, strict=True)):
            trained = np.arange(corpus.held_out, len(corpus))
            whole, fraction = int(weight), weight - int(weight)
            some = random.choice(trained, size=round(fraction * len(trained)), replace=False)
            pairs = np.concatenate([np.repeat(trained, whole), some])
            parts += [
                np.stack([np.full_like(pairs, number), pairs, np.full_like(pairs, side)], axis=1) for side in (0, 1)
            ]
        examples = np.concatenate(parts)
        return examples[random.permutation(len(examples))]

    def _sources(self, examples: npt.NDArray[np.int64], noise: float, random: np.random.Generator) -> list[list[int]]:
        """Source pieces of every example; noise comes before batches are cut, because it makes sources longer.

        One that would be longer than ``max_pieces`` stays clean.
        """
        sources = []
        for corpus, pair, side in examples:
            source = self._corpora[corpus].sides[side][pair].tolist()
            if self._noise and random.random() < noise:
                noisy = self._noise.noisy(source, random)
                source = noisy if len(noisy) <= self._config.max_pieces else source
            sources.append(source)
        return sources

    def _groups(self, examples: npt.NDArray[np.int64], sources: Sequence[Sequence[int]]) -> list[npt.NDArray[np.int64]]:
        """Places in ``examples``, by length, so that no batch holds more than ``batch_tokens`` a side."""
        source, target = np.array([len(one) for one in sources]), self._target_lengths(examples)
        order = np.lexsort((source, target))
        groups, first, longest = [], 0, 0
        for position, index in enumerate(order):
            longest = max(longest, source[index] + 2, target[index] + 1)
            if (position - first + 1) * longest > self._config.batch_tokens and position > first:
                groups.append(order[first:position])
                first, longest = position, max(source[index] + 2, target[index] + 1)
        groups.append(order[first:])
        return groups

    def _target_lengths(self, examples: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        lengths = np.zeros(len(examples), dtype=np.int64)
        for number, corpus in enumerate(self._corpora):
            chosen = examples[:, 0] == number
            by_side = np.stack([side.lengths() for side in corpus.sides])
            lengths[chosen] = by_side[1 - examples[chosen, 2], examples[chosen, 1]]
        return lengths

    def _collate(
        self, examples: npt.NDArray[np.int64], sources: Sequence[Sequence[int]], group: npt.NDArray[np.int64]
    ) -> Batch:
        read, targets = [], []
        for index in group:
            corpus, pair, side = examples[index]
            target = self._corpora[corpus].sides[1 - side][pair].tolist()
            read.append([self._tag_ids[1 - side], *sources[index], self._special.eos])
            targets.append([self._special.bos, *target, self._special.eos])
        return collate(read, targets, self._special.pad)


def collate(sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], pad: int) -> Batch:
    """Pads sentences to a batch; ``targets`` have both beginning and end of sentence."""
    source_ids = pad_rows(sources, pad)
    full = pad_rows(targets, pad)
    lengths = torch.tensor([len(target) - 1 for target in targets])
    real = torch.arange(full.shape[1] - 1) < lengths[:, None]
    source_lengths = torch.tensor([len(source) for source in sources])
    source_mask = torch.arange(source_ids.shape[1]) < source_lengths[:, None]
    return Batch(
        source_ids=source_ids,
        source_mask=source_mask,
        target_ids=full[:, :-1],
        real_positions=real.flatten().nonzero().squeeze(1),
        next_ids=full[:, 1:][real],
    )


def pad_rows(rows: Sequence[Sequence[int]], pad: int) -> Tensor:
    """``[rows, longest]`` int64."""
    padded = np.full((len(rows), max(map(len, rows))), pad, dtype=np.int64)
    for row, ids in zip(padded, rows, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(padded)
