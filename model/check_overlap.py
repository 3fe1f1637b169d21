"""Training text against test sets: ``python -m model.check_overlap TEXT EVALUATION_FOLDER``.

TEXT is a folder of corpora, or the folder of a training run: then what that run reads is checked.

A sentence's letters-and-digits form is what is left after case folding when everything but letters and
digits is dropped. The command lists every training sentence whose form equals that of a test sentence of
the same language, and exits 1 if there is one. EVALUATION_FOLDER holds ``NAME.LANGUAGE`` files; the columns
of the corpora are in the order of ``--languages``. Training leaves such sentences out when it is given
``--exclude EVALUATION_FOLDER``. Where a test set has what a model should know all the same ("Thank you!"), the test has
to do without: ``--write FOLDER`` writes the test sets without the lines that TEXT has too, in either language.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.text.kept import KeptPart
from app.text.tokenizer import KEPT_PIECES, TOKENIZER_FILE, Tokenizer
from model.corpus import bare_form, corpus_files, read_lines
from model.dataset import open_corpus

# What a kept part was is not stored; without any word in its place another sentence would be left.
_NAMES = [KeptPart(piece, glued=False, apart=True) for piece in KEPT_PIECES]


@dataclass(frozen=True)
class Overlap:
    """One training sentence that a test set has as well."""

    corpus: str
    line: int
    language: str
    test_set: str
    text: str


def evaluation_forms(folder: Path, languages: Sequence[str]) -> list[dict[str, str]]:
    """For each language: bare form to the name of a test set that has it."""
    forms: list[dict[str, str]] = []
    for language in languages:
        known: dict[str, str] = {}
        for path in sorted(folder.glob(f"*.{language}")):
            for line in read_lines(path):
                known.setdefault(bare_form(line), path.name)
        known.pop("", None)
        forms.append(known)
    return forms


def corpus_pairs(folder: Path) -> dict[str, Iterator[Sequence[str]]]:
    """The columns of every line of every corpus in ``folder``, by name; of a training run, what it reads."""
    if not (folder / TOKENIZER_FILE).exists():
        return {name: (line.split("\t") for line in read_lines(path)) for name, path in corpus_files(folder).items()}
    tokenizer = Tokenizer(folder / TOKENIZER_FILE)
    names = sorted(path.stem for path in (folder / "data").glob("*.json"))
    return {name: _decoded(name, folder / "data", tokenizer) for name in names}


def _decoded(name: str, folder: Path, tokenizer: Tokenizer) -> Iterator[Sequence[str]]:
    corpus = open_corpus(name, folder)
    for pair in range(len(corpus)):
        yield [tokenizer.spell_kept(side[pair].tolist(), _NAMES)[0].put_back() for side in corpus.sides]


def overlaps(
    name: str, pairs: Iterable[Sequence[str]], forms: Sequence[dict[str, str]], languages: Sequence[str]
) -> Iterator[Overlap]:
    """Every sentence of one corpus that equals a test sentence of its language."""
    for number, columns in enumerate(pairs, start=1):
        for text, known, language in zip(columns, forms, languages, strict=False):
            if test_set := known.get(bare_form(text)):
                yield Overlap(name, number, language, test_set, text)


def write_unseen(evaluation: Path, folder: Path, languages: Sequence[str], seen: Mapping[str, Container[str]]) -> None:
    """Copies the test sets without the lines of which one language is in ``seen``, bare forms by language."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(evaluation.glob(f"*.{languages[0]}")):
        columns = [list(read_lines(path.with_suffix(f".{language}"))) for language in languages]
        lines = list(zip(*columns, strict=True))
        kept = [
            line
            for line in lines
            if not any(bare_form(text) in seen[language] for text, language in zip(line, languages, strict=True))
        ]
        for index, language in enumerate(languages):
            text = "".join(f"{line[index]}\n" for line in kept)
            (folder / f"{path.stem}.{language}").write_text(text, encoding="utf-8", newline="\n")
        print(f"{path.stem}: {len(kept):,} of {len(lines):,} lines")


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("evaluation", type=Path)
    parser.add_argument("--languages", nargs=2, default=("en", "fr"))
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write the test sets without these lines")
    arguments = parser.parse_args()
    forms = evaluation_forms(arguments.evaluation, arguments.languages)
    for language, known in zip(arguments.languages, forms, strict=True):
        if not known:
            parser.error(f"no test sentence: {arguments.evaluation} has no *.{language}")
    counts: Counter[tuple[str, str, str]] = Counter()
    seen: dict[str, set[str]] = {language: set() for language in arguments.languages}
    for name, pairs in corpus_pairs(arguments.text).items():
        for overlap in overlaps(name, pairs, forms, arguments.languages):
            counts[overlap.corpus, overlap.language, overlap.test_set] += 1
            seen[overlap.language].add(bare_form(overlap.text))
            print(f"{overlap.corpus}:{overlap.line} [{overlap.language}] is in {overlap.test_set}: {overlap.text}")
        found = sum(count for (corpus, _, _), count in counts.items() if corpus == name)
        print(f"{name}: {found} sentences that are also in a test set", flush=True)
    for (corpus, language, test_set), count in sorted(counts.items()):
        print(f"{count:6d}  {corpus} [{language}] in {test_set}")
    if arguments.write:
        write_unseen(arguments.evaluation, arguments.write, arguments.languages, seen)
        return
    sys.exit(1 if counts else 0)


if __name__ == "__main__":
    main()
