"""Parallel text as piece ids, tokenised once into flat arrays that are mapped, not loaded.

Some pairs of every corpus are held out. Both of their sentences occur in no other pair of any corpus of the run,
so training never sees either of them, not even with another translation.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.text.tokenizer import Tokenizer
from model.config import ConfigError, RunConfig
from model.corpus import corpus_files
from model.tokenise import Forms, Side, TokenisedPairs, Tokenisers, TokenisingRules

_DIGITS = 16


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
    if untouched:
        with Tokenisers(TokenisingRules(tokenizer, config.training.max_pieces, excluded)) as tokenisers:
            once = _that_stand_once([tokenisers.forms(path) for path in files.values()])
            for name in untouched:
                pairs = tokenisers.tokenise(files[name])
                held_out = _hold_out(pairs.forms, once, config.training.held_out_pairs)
                _save(pairs, held_out, folder / name)
                counts = {"kept": pairs.counts.kept, "dropped": pairs.counts.dropped, "held_out": len(held_out)}
                (folder / f"{name}.json").write_text(json.dumps(counts | made_with, indent=1))
                print(f"{name}: {pairs.counts}; held out {len(held_out):,}", flush=True)
    return [open_corpus(name, folder) for name in files]


def open_corpus(name: str, folder: Path) -> Corpus:
    """A corpus that ``prepare`` has tokenised."""
    sides = tuple(
        Side(np.load(folder / f"{name}.{side}.ids.npy", mmap_mode="r"), np.load(folder / f"{name}.{side}.offsets.npy"))
        for side in (0, 1)
    )
    record = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return Corpus(name, (sides[0], sides[1]), record["held_out"])


def _that_stand_once(corpora: Sequence[Forms]) -> tuple[Forms, Forms]:
    """For each language the hashes of sentences that only one pair of all corpora has, ascending."""
    first, second = (_single(np.concatenate([forms[side] for forms in corpora])) for side in (0, 1))
    return first, second


def _single(hashes: Forms) -> Forms:
    values, counts = np.unique(hashes, return_counts=True)
    single: Forms = values[counts == 1]
    return single


def _hold_out(forms: Forms, once: tuple[Forms, Forms], most: int) -> npt.NDArray[np.intp]:
    """The first ``most`` pairs, at most a tenth of all, whose sentences no other pair has; ascending."""
    alone = np.isin(forms[0], once[0]) & np.isin(forms[1], once[1])
    return np.flatnonzero(alone)[: min(most, forms.shape[1] // 10)]


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


def _save(pairs: TokenisedPairs, held_out: npt.NDArray[np.intp], stem: Path) -> None:
    """Writes the ids of both sides, the held-out pairs first."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    others = np.delete(np.arange(pairs.forms.shape[1]), held_out)
    order = np.concatenate([held_out, others])
    for number, side in enumerate(pairs.sides):
        sorted_side = side.take(order)
        np.save(stem.with_name(f"{stem.name}.{number}.ids.npy"), sorted_side.ids)
        np.save(stem.with_name(f"{stem.name}.{number}.offsets.npy"), sorted_side.offsets)
