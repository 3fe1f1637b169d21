"""What a model makes of text that users paste: ``python -m model.samples MODEL``.

``samples.tsv`` has sixty inputs, each with its language: single words, headings, capitals, lists, numbers, addresses,
code, emoji, quotations, typing errors. The command prints them with their translations as a table for a person to read.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from app.engine.hypotheses import SearchOptions
from app.engine.step_model import StepModel
from app.text.tokenizer import Tokenizer
from model.corpus import read_lines
from model.evaluate import open_model, translate_lines
from model.scoring import Direction

SAMPLES = Path(__file__).with_name("samples.tsv")


def translate_samples(model: StepModel, tokenizer: Tokenizer, languages: Sequence[str]) -> list[tuple[str, str, str]]:
    """Direction, input and translation of every sample, in file order; ``languages`` are the two of the samples."""
    options = SearchOptions(4, 1.0, 0, model.limits.target_len)
    samples = [line.split("\t") for line in read_lines(SAMPLES)]
    rows: dict[int, tuple[str, str, str]] = {}
    for source, target in (tuple(languages), tuple(reversed(languages))):
        numbers = [number for number, (language, _) in enumerate(samples) if language == source]
        texts = [samples[number][1] for number in numbers]
        direction = Direction(source, target)
        found = translate_lines(model, tokenizer, texts, direction, options)
        rows |= {n: (str(direction), text, new) for n, text, new in zip(numbers, texts, found, strict=True)}
    return [rows[number] for number in sorted(rows)]


def table(rows: Sequence[tuple[str, str, str]]) -> str:
    """Markdown, one row for each sample."""
    lines = ["| | Input | Translation |", "|---|---|---|"]
    for row in rows:
        direction, *texts = (cell.replace("|", "\\|") for cell in row)
        # A code span keeps what Markdown would take for markup.
        cells = [f"`` {text} ``" if "`" in text else f"`{text}`" for text in texts]
        lines.append(f"| {direction} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a checkpoint or a model directory")
    model, tokenizer = open_model(parser.parse_args().model, "int8")
    print(table(translate_samples(model, tokenizer, ("en", "fr"))))


if __name__ == "__main__":
    main()
