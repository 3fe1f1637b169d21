"""Parallel text as piece ids, tokenised once into flat arrays that are mapped, not loaded.

Some pairs of every corpus are held out. Both of their sentences occur in no other pair of any corpus of the run,
so training never sees either of them, not even with another translation.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from app.text.tokenizer import Tokenizer
from model.config import ConfigError, RunConfig
from model.corpus import FilterCounts, bare_form, corpus_files, read_pairs
from model.kept_pairs import encode_pairs

Ids = npt.NDArray[np.uint16]
SentenceCounts = tuple[Counter[int], Counter[int]]
_CHUNK_PAIRS = 20_000
_DIGITS = 16


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
    """One corpus, both languages; its first ``held_out`` pairs are not trained on."""

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
        ConfigError: ``[corpora]`` names a file that does not exist, the vocabulary is too large or not that of the
            model, or what lies in ``folder`` was made otherwise than it would be now.
    """
    vocab_size = config.transformer.vocab_size
    if tokenizer.vocab_size != vocab_size:
        raise ConfigError(f"transformer.vocab_size must be the tokenizer's, {tokenizer.vocab_size}, not {vocab_size}")
    if vocab_size > np.iinfo(np.uint16).max + 1:
        raise ConfigError(f"transformer.vocab_size must be at most 65,536, not {vocab_size}")
    files = corpus_files(corpora)
    if missing := sorted(set(config.corpora) - set(files)):
        raise ConfigError(f"[corpora] names files that are not in {corpora}: {', '.join(missing)}")
    files = {name: files[name] for name in sorted(config.corpora) or sorted(files)}
    made_with = _made_with(config, files, tokenizer, excluded)
    untouched = [name for name in files if not _is_made(folder / f"{name}.json", made_with)]
    counts = count_sentences(files.values()) if untouched else None
    for name in untouched:
        assert counts is not None
        pairs, filtered = _read(files[name], tokenizer, config.training.max_pieces, excluded)
        held_out = _hold_out(pairs, counts, config.training.held_out_pairs)
        _save(pairs, held_out, tokenizer, folder / name)
        record = {"kept": filtered.kept, "dropped": filtered.dropped, "held_out": len(held_out), **made_with}
        (folder / f"{name}.json").write_text(json.dumps(record, indent=1))
        print(f"{name}: {filtered}; held out {len(held_out):,}", flush=True)
    return [open_corpus(name, folder) for name in files]


def open_corpus(name: str, folder: Path) -> Corpus:
    """A corpus that ``prepare`` has tokenised."""
    sides = tuple(
        Side(np.load(folder / f"{name}.{side}.ids.npy", mmap_mode="r"), np.load(folder / f"{name}.{side}.offsets.npy"))
        for side in (0, 1)
    )
    record = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return Corpus(name, (sides[0], sides[1]), record["held_out"])


def count_sentences(paths: Iterable[Path]) -> SentenceCounts:
    """How many pairs of all corpora hold a sentence, by the hash of its bare form, for each language."""
    counts: SentenceCounts = (Counter(), Counter())
    for path in paths:
        for pair in read_pairs(path, FilterCounts()):
            for text, counter in zip(pair, counts, strict=True):
                counter[_form_hash(text)] += 1
    return counts


def _form_hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(bare_form(text).encode(), digest_size=8).digest())


def _hold_out(pairs: Sequence[tuple[str, str]], counts: SentenceCounts, most: int) -> set[int]:
    """The first ``most`` pairs, at most a tenth of all, whose sentences no other pair has."""
    most = min(most, len(pairs) // 10)
    chosen: set[int] = set()
    for index, pair in enumerate(pairs):
        if len(chosen) >= most:
            break
        if all(counter[_form_hash(text)] == 1 for text, counter in zip(pair, counts, strict=True)):
            chosen.add(index)
    return chosen


def _made_with(
    config: RunConfig, files: Mapping[str, Path], tokenizer: Tokenizer, excluded: Sequence[Collection[str]]
) -> dict[str, int | str]:
    """What tokenised corpora depend on: each on all files, for those decide what may be held out."""
    return {
        "max_pieces": config.training.max_pieces,
        "held_out_pairs": config.training.held_out_pairs,
        "excluded": _digest([sorted(forms) for forms in excluded]),
        "tokenizer": _digest(tokenizer.pieces(range(tokenizer.vocab_size))),
        "corpora": " ".join(f"{name}:{_file_digest(path)}" for name, path in files.items()),
    }


def _is_made(record: Path, made_with: dict[str, int | str]) -> bool:
    """Whether a corpus is there already.

    Raises:
        ConfigError: it was made otherwise than it would be now.
    """
    if not record.exists():
        return False
    stored = json.loads(record.read_text(encoding="utf-8"))
    for key, value in made_with.items():
        if stored.get(key) != value:
            raise ConfigError(
                f"{record} was made with {key} {stored.get(key)}, now it is {value}: delete it or change back"
            )
    return True


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:_DIGITS]


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:_DIGITS]


def _read(
    path: Path, tokenizer: Tokenizer, max_pieces: int, excluded: Sequence[Container[str]]
) -> tuple[list[tuple[str, str]], FilterCounts]:
    """The pairs of one file that pass all filters, the number of pieces included."""
    counts = FilterCounts()
    pairs = list(read_pairs(path, counts, excluded))
    kept: list[tuple[str, str]] = []
    for start in range(0, len(pairs), _CHUNK_PAIRS):
        chunk = pairs[start : start + _CHUNK_PAIRS]
        both = encode_pairs(tokenizer, chunk)
        kept += [pair for pair, *ids in zip(chunk, *both, strict=True) if max(map(len, ids)) <= max_pieces]
    if dropped := len(pairs) - len(kept):
        counts.dropped["too many pieces"] = dropped
    counts.kept = len(kept)
    return kept, counts


def _save(pairs: Sequence[tuple[str, str]], held_out: set[int], tokenizer: Tokenizer, stem: Path) -> None:
    """Writes the ids of both sides, the held-out pairs first."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    order = [*sorted(held_out), *(index for index in range(len(pairs)) if index not in held_out)]
    writers = (_SideWriter(), _SideWriter())
    for start in range(0, len(order), _CHUNK_PAIRS):
        chunk = [pairs[index] for index in order[start : start + _CHUNK_PAIRS]]
        for writer, sentences in zip(writers, encode_pairs(tokenizer, chunk), strict=True):
            for ids in sentences:
                writer.append(ids)
    for side, writer in enumerate(writers):
        writer.save(stem, side)


class _SideWriter:
    def __init__(self) -> None:
        self._parts: list[Ids] = []

    def append(self, ids: Sequence[int]) -> None:
        self._parts.append(np.asarray(ids, dtype=np.uint16))

    def save(self, stem: Path, side: int) -> None:
        lengths: npt.NDArray[Any] = np.array([0, *map(len, self._parts)], dtype=np.int64)
        np.save(stem.with_name(f"{stem.name}.{side}.ids.npy"), np.concatenate(self._parts or [np.empty(0, np.uint16)]))
        np.save(stem.with_name(f"{stem.name}.{side}.offsets.npy"), lengths.cumsum())
