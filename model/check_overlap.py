"""Training text against test sets: ``python -m model.check_overlap CORPORA EVALUATION_FOLDER``.

A sentence's letters-and-digits form is what is left after case folding when everything but letters and
digits is dropped. The command lists every training sentence whose form equals that of a test sentence of
the same language, and exits 1 if there is one. EVALUATION_FOLDER holds ``NAME.LANGUAGE`` files; the columns
of the corpora are in the order of ``--languages``.
"""

import argparse
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.corpus import corpus_files, read_lines


@dataclass(frozen=True)
class Overlap:
    """One training sentence that a test set has as well."""

    corpus: str
    line: int
    language: str
    test_set: str
    text: str


def bare_form(text: str) -> str:
    """Letters and digits of ``text``, case folded: ``Don't stop, No. 5!`` is ``dontstopno5``."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


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


def overlaps(name: str, path: Path, forms: Sequence[dict[str, str]], languages: Sequence[str]) -> Iterator[Overlap]:
    """Every sentence of one corpus that equals a test sentence of its language."""
    for number, line in enumerate(read_lines(path), start=1):
        for text, known, language in zip(line.split("\t"), forms, languages, strict=False):
            if test_set := known.get(bare_form(text)):
                yield Overlap(name, number, language, test_set, text)


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("evaluation", type=Path)
    parser.add_argument("--languages", nargs=2, default=("en", "fr"))
    arguments = parser.parse_args()
    forms = evaluation_forms(arguments.evaluation, arguments.languages)
    for language, known in zip(arguments.languages, forms, strict=True):
        if not known:
            parser.error(f"no test sentence: {arguments.evaluation} has no *.{language}")
    counts: Counter[tuple[str, str, str]] = Counter()
    for name, path in corpus_files(arguments.corpora).items():
        for overlap in overlaps(name, path, forms, arguments.languages):
            counts[overlap.corpus, overlap.language, overlap.test_set] += 1
            print(f"{overlap.corpus}:{overlap.line} [{overlap.language}] is in {overlap.test_set}: {overlap.text}")
        found = sum(count for (corpus, _, _), count in counts.items() if corpus == name)
        print(f"{name}: {found} sentences that are also in a test set", flush=True)
    for (corpus, language, test_set), count in sorted(counts.items()):
        print(f"{count:6d}  {corpus} [{language}] in {test_set}")
    sys.exit(1 if counts else 0)


if __name__ == "__main__":
    main()
