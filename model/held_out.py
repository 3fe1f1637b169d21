"""Writes pairs that a run never trained on: ``python -m model.held_out RUN CORPUS OUT.tsv``."""

import argparse
from pathlib import Path

from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from model.dataset import open_corpus


def held_out_pairs(run: Path, corpus: str) -> list[tuple[str, str]]:
    """The held-out pairs of one corpus of ``run``, in both languages; without those that keep parts.

    What a part was is not stored.
    """
    tokenizer = Tokenizer(run / TOKENIZER_FILE)
    opened = open_corpus(corpus, run / "data")
    first, second = ([side[pair].tolist() for pair in range(opened.held_out)] for side in opened.sides)
    whole = (pair for pair in zip(first, second, strict=True) if not set(tokenizer.kept_ids).intersection(pair[0]))
    return [(tokenizer.decode(source), tokenizer.decode(target)) for source, target in whole]


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("corpus")
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    pairs = held_out_pairs(arguments.run, arguments.corpus)
    lines = [f"{first}\t{second}\n" for first, second in pairs]
    arguments.output.write_text("".join(lines), encoding="utf-8", newline="\n")
    print(f"{len(pairs):,} pairs")


if __name__ == "__main__":
    main()
