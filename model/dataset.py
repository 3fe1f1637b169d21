"""Parallel text as piece ids, tokenised once into flat arrays that are mapped, not loaded."""

import hashlib
import json
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from app.text.tokenizer import Tokenizer
from model.config import ConfigError, RunConfig
from model.corpus import FilterCounts, corpus_files, read_pairs

Ids = npt.NDArray[np.uint16]
_CHUNK_PAIRS = 20_000


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


@dataclass(frozen=True)
class Corpus:
    """One corpus, both languages; its first ``held_out`` pairs are never trained on."""

    name: str
    sides: tuple[Side, Side]
    held_out: int

    def __len__(self) -> int:
        return len(self.sides[0].offsets) - 1


def prepare(
    config: RunConfig, corpora: Path, tokenizer: Tokenizer, folder: Path, excluded: Sequence[Collection[str]] = ()
) -> list[Corpus]:
    """Opens the tokenised corpora in ``folder``; tokenises those that are not there yet.

    Args:
        excluded: for each language the bare forms of sentences to leave out, see ``read_pairs``.

    Raises:
        ConfigError: ``[corpora]`` names a file that does not exist, the vocabulary is too large, or what lies in
            ``folder`` was made otherwise than it would be now.
    """
    if tokenizer.vocab_size > np.iinfo(np.uint16).max + 1:
        raise ConfigError(f"transformer.vocab_size must be at most 65,536, not {tokenizer.vocab_size}")
    files = corpus_files(corpora)
    if missing := sorted(set(config.corpora) - set(files)):
        raise ConfigError(f"[corpora] names files that are not in {corpora}: {', '.join(missing)}")
    names = sorted(config.corpora) or sorted(files)
    max_pieces = config.training.max_pieces
    for name in names:
        record, path = folder / f"{name}.json", files[name]
        made_with: dict[str, int | str] = {
            "max_pieces": max_pieces,
            "excluded": _digest(excluded),
            "corpus_bytes": path.stat().st_size,
        }
        if record.exists():
            _check_record(record, made_with)
            continue
        counts = _tokenise(path, tokenizer, folder / name, max_pieces, excluded)
        record.write_text(json.dumps({"kept": counts.kept, "dropped": counts.dropped, **made_with}, indent=1))
        print(f"{name}: {counts}", flush=True)
    return [open_corpus(name, folder, config.training.held_out_pairs) for name in names]


def open_corpus(name: str, folder: Path, held_out_pairs: int) -> Corpus:
    """A corpus that ``prepare`` has tokenised; at most a tenth of it is held out."""
    sides = tuple(
        Side(np.load(folder / f"{name}.{side}.ids.npy", mmap_mode="r"), np.load(folder / f"{name}.{side}.offsets.npy"))
        for side in (0, 1)
    )
    pairs = len(sides[0].offsets) - 1
    return Corpus(name, (sides[0], sides[1]), min(held_out_pairs, pairs // 10))


def _check_record(record: Path, made_with: dict[str, int | str]) -> None:
    """Compares what the record holds; what it does not hold is not known, and accepted."""
    stored = json.loads(record.read_text(encoding="utf-8"))
    for key, value in made_with.items():
        if stored.get(key, value) != value:
            raise ConfigError(
                f"{record} was made with {key} {stored[key]}, now it is {value}: delete it or change back"
            )


def _digest(excluded: Sequence[Collection[str]]) -> str:
    """Tells one choice of excluded sentences from another."""
    text = json.dumps([sorted(forms) for forms in excluded])
    return hashlib.sha256(text.encode()).hexdigest()


def _tokenise(
    path: Path, tokenizer: Tokenizer, stem: Path, max_pieces: int, excluded: Sequence[Container[str]]
) -> FilterCounts:
    stem.parent.mkdir(parents=True, exist_ok=True)
    counts = FilterCounts()
    writers = (_SideWriter(), _SideWriter())
    pairs = list(read_pairs(path, counts, excluded))
    for start in range(0, len(pairs), _CHUNK_PAIRS):
        chunk = pairs[start : start + _CHUNK_PAIRS]
        for first, second in zip(
            *(tokenizer.encode_batch([pair[side] for pair in chunk]) for side in (0, 1)), strict=True
        ):
            if max(len(first), len(second)) > max_pieces:
                counts.kept -= 1
                counts.dropped["too many pieces"] += 1
                continue
            writers[0].append(first)
            writers[1].append(second)
    for side, writer in enumerate(writers):
        writer.save(stem, side)
    return counts


class _SideWriter:
    def __init__(self) -> None:
        self._parts: list[Ids] = []

    def append(self, ids: Sequence[int]) -> None:
        self._parts.append(np.asarray(ids, dtype=np.uint16))

    def save(self, stem: Path, side: int) -> None:
        lengths: npt.NDArray[Any] = np.array([0, *map(len, self._parts)], dtype=np.int64)
        np.save(stem.with_name(f"{stem.name}.{side}.ids.npy"), np.concatenate(self._parts or [np.empty(0, np.uint16)]))
        np.save(stem.with_name(f"{stem.name}.{side}.offsets.npy"), lengths.cumsum())
