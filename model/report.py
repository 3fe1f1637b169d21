"""Scores of a model directory on test sets: ``python -m model.report DIRECTORY SETS OUT.json``.

SETS holds test sets as ``NAME.LANGUAGE`` files. Every set is translated in both directions, greedily and with beam 4,
by the int8 and the float32 graphs; OUT.json gets BLEU and chrF with their signatures, and a table is printed.
"""

import argparse
import itertools
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from app.engine.hypotheses import SearchOptions
from app.engine.step_model import StepModel
from app.runtime.model_directory import ModelConfig, open_model_directory
from app.runtime.providers import Precision
from app.text.tokenizer import Tokenizer
from model.corpus import read_lines
from model.evaluate import open_model, translate_lines
from model.scoring import Direction, Scores, score

_BEAMS = (1, 4)
_PRECISIONS: tuple[Precision, ...] = ("int8", "float32")


@dataclass(frozen=True)
class Row:
    """One test set, one direction, one way to search it."""

    test_set: str
    lines: int
    direction: str
    beam_size: int
    length_penalty: float
    precision: Precision
    bleu: float
    chrf: float


@dataclass(frozen=True)
class Report:
    """All rows, for one revision of a model."""

    model: str
    revision: str
    bleu_signature: str
    chrf_signature: str
    rows: tuple[Row, ...]


def test_sets(folder: Path, languages: tuple[str, ...]) -> list[str]:
    """Names of the sets that exist in all ``languages``.

    Raises:
        FileNotFoundError: there is none.
    """
    by_language = [{path.stem for path in folder.glob(f"*.{language}")} for language in languages]
    if found := sorted(set.intersection(*by_language)):
        return found
    raise FileNotFoundError(f"no test set of {', '.join(languages)} in {folder}")


class Reporter:
    """Translates test sets with one precision of a model directory."""

    def __init__(self, directory: Path, config: ModelConfig, precision: Precision) -> None:
        self._model: StepModel
        self._tokenizer: Tokenizer
        self._model, self._tokenizer = open_model(directory, precision)
        self._config = config
        self._precision = precision

    def row(self, folder: Path, name: str, direction: Direction, beam_size: int) -> tuple[Row, Scores]:
        """One row of the report, and its scores with their signatures.

        Raises:
            ValueError: the two sides do not have as many lines.
        """
        sources, references = (
            list(read_lines(folder / f"{name}.{language}")) for language in (direction.source, direction.target)
        )
        if len(sources) != len(references):
            counts = f"{len(sources)} lines in {direction.source}, {len(references)} in {direction.target}"
            raise ValueError(f"{folder / name}: {counts}, there must be as many")
        penalty = self._config.search.length_penalty
        search = SearchOptions(beam_size, penalty, 0, self._model.limits.target_len)
        scores = score(translate_lines(self._model, self._tokenizer, sources, direction, search), references)
        bleu, chrf = round(scores.bleu, 2), round(scores.chrf, 2)
        row = Row(name, len(sources), str(direction), beam_size, penalty, self._precision, bleu, chrf)
        return row, scores


def report(directory: Path, folder: Path) -> Report:
    """Translates every set of ``folder`` in every direction of the model."""
    config = open_model_directory(directory).config
    names = test_sets(folder, config.languages)
    rows: list[Row] = []
    for precision in _PRECISIONS:
        reporter = Reporter(directory, config, precision)
        for name, (source, target), beam_size in itertools.product(names, config.directions, _BEAMS):
            row, scores = reporter.row(folder, name, Direction(source, target), beam_size)
            rows.append(row)
            print(f"{name} {row.direction} beam {beam_size} {precision}: {row.bleu} / {row.chrf}", flush=True)
    return Report(config.id, config.revision, scores.bleu_signature, scores.chrf_signature, tuple(rows))


def table(found: Report) -> str:
    """Markdown: one line for each set and way to search, both directions side by side."""
    directions = sorted({row.direction for row in found.rows})
    lines = [
        "| Test set, lines | Search, graph | " + " | ".join(f"{one} BLEU / chrF" for one in directions) + " |",
        "|---|---|" + "--:|" * len(directions),
    ]
    cells: dict[tuple[str, int, str], dict[str, Row]] = {}
    for row in found.rows:
        cells.setdefault((row.test_set, row.beam_size, row.precision), {})[row.direction] = row
    for (name, beam_size, precision), by_direction in sorted(cells.items()):
        some = next(iter(by_direction.values()))
        how = "greedy" if beam_size == 1 else f"beam {beam_size}"
        scores = [f"{by_direction[one].bleu:.1f} / {by_direction[one].chrf:.1f}" for one in directions]
        lines.append(f"| {name}, {some.lines:,} | {how}, {precision} | {' | '.join(scores)} |")
    return "\n".join(lines)


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("sets", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    found = report(arguments.directory, arguments.sets)
    arguments.output.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
    print(table(found))


if __name__ == "__main__":
    main()
