"""Parallel text on disk: two-column TSV files, plain or compressed, filtered with every drop counted."""

import bz2
import gzip
import lzma
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from app.text.normalise import normalise
from model.config import ConfigError

Pair = tuple[str, str]

WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
"""Letters, with hyphens between them."""

_OPENERS: dict[str, Callable[..., IO[str]]] = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}
_LONGEST_CHARACTERS = 2_000
_LARGEST_RATIO = 3.0
_RATIO_FREE_CHARACTERS = 20

LEFT_ALONE = 5_000
"""So many first pairs of a corpus, from which the held-out pairs come, are not used for making others."""


@dataclass
class FilterCounts:
    """How many pairs a corpus had, how many were kept and why the others were dropped."""

    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(self.dropped.items()))
        return f"kept {self.kept:,}; dropped {self.dropped.total():,}" + (f" ({reasons})" if reasons else "")


def corpus_files(folder: Path) -> dict[str, Path]:
    """The corpora of a folder and its sub-folders, by name: ``tatoeba.tsv.xz`` is ``tatoeba``.

    Raises:
        ConfigError: there is none, or two have the same name.
    """
    files: dict[str, Path] = {}
    for path in sorted(folder.rglob("*.tsv*")):
        if path.suffix != ".tsv" and path.suffix not in _OPENERS:
            continue
        name = path.name.split(".")[0]
        if name in files:
            raise ConfigError(f"two corpora are named {name!r}: {files[name]} and {path}")
        files[name] = path
    if not files:
        raise ConfigError(f"no *.tsv, *.tsv.xz, *.tsv.gz or *.tsv.bz2 under {folder}")
    return files


def read_lines(path: Path) -> Iterator[str]:
    """Lines of a plain or compressed UTF-8 file, without their line end."""
    opener = _OPENERS.get(path.suffix, open)
    with opener(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.rstrip("\n")


def read_columns(path: Path) -> list[Pair]:
    """Every line of a file of two columns, as it stands.

    Raises:
        ValueError: a line does not have two columns; the message names file and line.
    """
    pairs: list[Pair] = []
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) != 2:
            raise ValueError(f"{path}, line {number}: every line must have 2 columns, this one has {len(columns)}")
        pairs.append((columns[0], columns[1]))
    return pairs


def read_pairs(path: Path, counts: FilterCounts, excluded: Sequence[Container[str]] = ()) -> Iterator[Pair]:
    """``fit_pairs`` of a file."""
    return fit_pairs(read_lines(path), counts, excluded)


def fit_pairs(lines: Iterable[str], counts: FilterCounts, excluded: Sequence[Container[str]] = ()) -> Iterator[Pair]:
    """Normalised sentence pairs that pass the filters, in order; ``counts`` is filled on the way.

    Args:
        excluded: for each side the bare forms (``bare_form``) of sentences that must not be trained on.
    """
    for line in lines:
        columns = line.split("\t")
        if len(columns) != 2:
            counts.dropped["not two columns"] += 1
            continue
        pair = normalise(columns[0]), normalise(columns[1])
        if reason := drop_reason(*pair):
            counts.dropped[reason] += 1
            continue
        if any(bare_form(text) in forms for text, forms in zip(pair, excluded, strict=False)):
            counts.dropped["in a test set"] += 1
            continue
        counts.kept += 1
        yield pair


def bare_form(text: str) -> str:
    """Letters and digits of ``text``, case folded: ``Don't stop, No. 5!`` is ``dontstopno5``."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


def drop_reason(first: str, second: str) -> str | None:
    """Why a normalised pair is unfit for training, or None."""
    if not first or not second:
        return "empty side"
    if "\ufffd" in first or "\ufffd" in second:
        return "broken encoding"
    shorter, longer = sorted((len(first), len(second)))
    if longer > _LONGEST_CHARACTERS:
        return "too long"
    if longer > _RATIO_FREE_CHARACTERS and longer > _LARGEST_RATIO * shorter:
        return "length ratio"
    return None
