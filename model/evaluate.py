"""Scores a model: ``python -m model.evaluate MODEL SOURCE_FILE REFERENCE_FILE --source en --target fr``.

MODEL is a checkpoint (``.pt``, its tokenizer beside it) or a model directory. Line n of both files belongs
together. Text goes the way it goes in serving: lines are split into sentences that the model can read,
recased where they stand in capitals, normalised, searched and put together again. BLEU and chrF come with
their sacrebleu signatures.
"""

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from app.cores import usable_cores
from app.engine.hypotheses import SearchOptions
from app.engine.step_model import StepModel
from app.runtime.model_directory import open_model_directory
from app.runtime.onnx_step_model import OnnxStepModel
from app.runtime.providers import Precision, RuntimeOptions
from app.text.capitals import stands_in_capitals
from app.text.segments import join
from app.text.split import Sentence, split
from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from app.text.tokens import is_read, kept_parts, read_fits, read_ids, written_text
from model.checkpoint import load_checkpoint
from model.corpus import read_lines
from model.scoring import Direction, score, search_all
from model.step_model import TorchStepModel, limits_of


def translate_lines(
    model: StepModel, tokenizer: Tokenizer, lines: Sequence[str], direction: Direction, options: SearchOptions
) -> list[str]:
    """Every line as serving would translate it; a sentence that the model turns into nothing is copied."""

    def fits(text: str) -> bool:
        return read_fits(tokenizer, text, (direction.source, direction.target), model.limits.longest_whole)

    def written(sentence: Sentence, ids: Sequence[int]) -> str:
        return written_text(tokenizer, ids, stands_in_capitals(sentence.text), kept_parts(tokenizer, sentence.text))

    by_line = [split(line, direction.source, fits) for line in lines]
    chosen = [sentence for sentences in by_line for sentence in sentences if is_read(tokenizer, sentence.text)]
    sources = [read_ids(tokenizer, sentence.text, direction.source, direction.target) for sentence in chosen]
    hypotheses = zip(chosen, search_all(model, sources, options), strict=True)
    found = iter([written(one, best.ids) for one, best in hypotheses])

    def replacement(sentence: Sentence) -> str:
        return (next(found) if is_read(tokenizer, sentence.text) else "") or sentence.text

    return [
        join(line, [sentence.span for sentence in sentences], [replacement(sentence) for sentence in sentences])[0]
        for line, sentences in zip(lines, by_line, strict=True)
    ]


def open_model(path: Path, precision: Precision) -> tuple[StepModel, Tokenizer]:
    """A checkpoint or a model directory, ready to search; ``precision`` chooses a directory's graphs."""
    if path.is_dir():
        directory = open_model_directory(path)
        options = RuntimeOptions("auto", precision, usable_cores())
        return OnnxStepModel(directory, options), Tokenizer(directory.tokenizer_path)
    checkpoint = load_checkpoint(path)
    tokenizer = Tokenizer(path.with_name(TOKENIZER_FILE))
    longest = checkpoint.config.training.max_pieces
    limits = limits_of(checkpoint.config.transformer, longest, tokenizer.special_ids)
    return TorchStepModel(checkpoint.transformer(), limits), tokenizer


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("source_file", type=Path)
    parser.add_argument("reference_file", type=Path)
    parser.add_argument("--source", required=True, help="language of SOURCE_FILE")
    parser.add_argument("--target", required=True, help="language of REFERENCE_FILE")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--length-penalty", type=float, default=1.0)
    parser.add_argument("--precision", default="int8", choices=get_args(Precision), help="of a model directory")
    parser.add_argument("--lines", type=int, default=None, help="only the first so many")
    parser.add_argument("--output", type=Path, help="writes the translations here, one a line")
    parser.add_argument("--json", action="store_true", help="prints one JSON object instead of text")
    return parser.parse_args()


def main() -> None:
    """Command line; see the module's docstring."""
    arguments = _arguments()
    lines = list(read_lines(arguments.source_file))[: arguments.lines]
    references = list(read_lines(arguments.reference_file))[: arguments.lines]
    if len(lines) != len(references):
        sys.exit(f"{len(lines)} lines of source, {len(references)} of reference")
    model, tokenizer = open_model(arguments.model, arguments.precision)
    options = SearchOptions(arguments.beam, arguments.length_penalty, 0, model.limits.target_len)
    started = time.monotonic()
    direction = Direction(arguments.source, arguments.target)
    translations = translate_lines(model, tokenizer, lines, direction, options)
    seconds = time.monotonic() - started
    if arguments.output:
        arguments.output.write_text("".join(line + "\n" for line in translations), encoding="utf-8")
    scores = score(translations, references)
    if arguments.json:
        record = dataclasses.asdict(direction) | dataclasses.asdict(scores)
        record |= {"model": str(arguments.model), "lines": len(lines), "beam": arguments.beam}
        record |= {"length_penalty": arguments.length_penalty, "seconds": round(seconds, 1)}
        print(json.dumps(record))
        return
    print(f"{direction.source} to {direction.target}, {len(lines):,} lines, beam {arguments.beam}, {seconds:.1f} s")
    print(f"BLEU {scores.bleu:.2f}  {scores.bleu_signature}")
    print(f"chrF {scores.chrf:.2f}  {scores.chrf_signature}")


if __name__ == "__main__":
    main()
