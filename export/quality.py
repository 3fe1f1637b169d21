"""What quantisation costs: the same texts translated at every precision."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.engine.hypotheses import Hypothesis, SearchOptions
from app.engine.step_model import StepModel
from app.runtime.model_directory import SearchDefaults
from app.text.normalise import normalise
from app.text.tokenizer import Tokenizer
from export.parity import Comparison
from model.corpus import read_columns
from model.scoring import Direction, Scores, score, search_all

CHECKPOINT = "checkpoint"
"""Stands in the place of a precision for the trained weights themselves, under torch."""

LARGEST_BLEU_DROP = 0.3
_COMPARED = 200
_TIE = 1e-4


@dataclass(frozen=True)
class ParallelTexts:
    """Sentences of one direction, ready to translate, with their references."""

    direction: Direction
    sources: tuple[tuple[int, ...], ...]
    references: tuple[str, ...]


_CALIBRATES = 3


def parted(sample: ParallelTexts) -> tuple[ParallelTexts, ParallelTexts]:
    """Every third pair, to measure ranges on, and the others, to judge by: what set a range cannot leave it."""
    direction, sources, references = sample.direction, sample.sources, sample.references
    rest = [index for index in range(len(sources)) if index % _CALIBRATES != _CALIBRATES - 1]
    judging = ParallelTexts(direction, tuple(sources[i] for i in rest), tuple(references[i] for i in rest))
    every_third = slice(_CALIBRATES - 1, None, _CALIBRATES)
    return ParallelTexts(direction, sources[every_third], references[every_third]), judging


@dataclass(frozen=True)
class Quality:
    """Scores of one precision in one direction."""

    direction: str
    precision: str
    sentences: int
    scores: Scores


def read_texts(
    texts: Path, languages: Sequence[str], tokenizer: Tokenizer, source_len: int, fewest_pairs: int
) -> list[ParallelTexts]:
    """Both directions of a two-column file; pairs that the model cannot read whole are left out.

    Raises:
        ValueError: a line does not have two columns, or fewer than ``fewest_pairs`` are left.
    """
    pairs = [(normalise(first), normalise(second)) for first, second in read_columns(texts)]
    samples = []
    for source, target in ((0, 1), (1, 0)):
        encoded = [tokenizer.encode_source(pair[source], languages[target]) for pair in pairs]
        chosen = [index for index, ids in enumerate(encoded) if len(ids) <= source_len]
        direction = Direction(languages[source], languages[target])
        if len(chosen) < fewest_pairs:
            found = f"{len(chosen)} pairs that the model can read from {direction}"
            raise ValueError(f"{texts}: {found}, at least {fewest_pairs} are needed")
        sources = tuple(tuple(encoded[index]) for index in chosen)
        references = tuple(pairs[index][target] for index in chosen)
        samples.append(ParallelTexts(direction, sources, references))
    return samples


def compare_tokens(reference: StepModel, model: StepModel, sample: ParallelTexts, search: SearchDefaults) -> Comparison:
    """How many of 200 sentences come out otherwise than from ``reference``.

    Two hypotheses whose scores agree to 1e-4 are a tie that rounding decides; they do not count.
    """
    options = _options(model, search)
    sources = sample.sources[:_COMPARED]
    found = zip(search_all(reference, sources, options), search_all(model, sources, options), strict=True)
    differing = sum(_differ(expected, one) for expected, one in found)
    name = f"{sample.direction}, beam {search.beam_size}"
    return Comparison("translations that differ", "float32", f"{len(sources)} sentences, {name}", differing, 0)


def measure(
    model: StepModel, precision: str, sample: ParallelTexts, tokenizer: Tokenizer, search: SearchDefaults
) -> Quality:
    """Translates and scores all sentences of ``sample``."""
    found = search_all(model, sample.sources, _options(model, search))
    texts = [tokenizer.decode(hypothesis.ids) for hypothesis in found]
    return Quality(str(sample.direction), precision, len(texts), score(texts, sample.references))


def quality_faults(qualities: Sequence[Quality]) -> Iterator[str]:
    """One sentence for each precision and direction that loses too much BLEU against the checkpoint."""
    exact = {quality.direction: quality for quality in qualities if quality.precision == CHECKPOINT}
    for quality in qualities:
        drop = exact[quality.direction].scores.bleu - quality.scores.bleu
        if drop > LARGEST_BLEU_DROP:
            yield f"{quality.direction}: {quality.precision} loses {drop:.2f} BLEU, allowed is {LARGEST_BLEU_DROP}"


def _options(model: StepModel, search: SearchDefaults) -> SearchOptions:
    return SearchOptions(search.beam_size, search.length_penalty, 0, model.limits.target_len)


def _differ(expected: Hypothesis, found: Hypothesis) -> bool:
    return expected.ids != found.ids and abs(expected.score - found.score) > _TIE
