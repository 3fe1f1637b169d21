"""What quantisation costs: the same texts translated at every precision."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.engine.batch_search import search_batch
from app.engine.hypotheses import Hypothesis, SearchOptions
from app.engine.step_model import StepModel
from app.text.normalise import normalise
from app.text.tokenizer import Tokenizer
from export.parity import Comparison
from model.corpus import read_lines
from model.scoring import Scores, score, search_all

LARGEST_BLEU_DROP = 0.3
_BATCH = 50
_COMPARED = 200
_TIE = 1e-4


@dataclass(frozen=True)
class Direction:
    """Sentences of one direction, ready to translate, with their references."""

    source: str
    target: str
    sources: tuple[tuple[int, ...], ...]
    references: tuple[str, ...]


@dataclass(frozen=True)
class Quality:
    """Scores of one precision in one direction."""

    direction: str
    precision: str
    sentences: int
    scores: Scores


def read_directions(texts: Path, languages: Sequence[str], tokenizer: Tokenizer, source_len: int) -> list[Direction]:
    """Both directions of a two-column file; pairs that the model cannot read whole are left out.

    Raises:
        ValueError: a line does not have two columns, or no pair is left.
    """
    lines = read_lines(texts)
    pairs = [tuple(normalise(column) for column in line.split("\t")) for line in lines]
    if any(len(pair) != len(languages) for pair in pairs):
        raise ValueError(f"{texts}: every line must have {len(languages)} columns")
    directions = []
    for source, target in ((0, 1), (1, 0)):
        encoded = [tokenizer.encode_source(pair[source], languages[target]) for pair in pairs]
        chosen = [index for index, ids in enumerate(encoded) if len(ids) <= source_len]
        if not chosen:
            raise ValueError(f"{texts}: no pair that the model can read")
        sources = tuple(tuple(encoded[index]) for index in chosen)
        references = tuple(pairs[index][target] for index in chosen)
        directions.append(Direction(languages[source], languages[target], sources, references))
    return directions


def compare_tokens(reference: StepModel, model: StepModel, direction: Direction, beam_size: int) -> Comparison:
    """How many of 200 sentences come out otherwise than from ``reference``.

    Two hypotheses whose scores agree to 1e-4 are a tie that rounding decides; they do not count.
    """
    options = _options(model, beam_size)
    sources = direction.sources[:_COMPARED]
    differing = 0
    for start in range(0, len(sources), _BATCH):
        batch = sources[start : start + _BATCH]
        found = zip(search_batch(reference, batch, options), search_batch(model, batch, options), strict=True)
        differing += sum(_differ(expected[0], one[0]) for expected, one in found)
    name = f"{direction.source}-{direction.target}, beam {beam_size}"
    return Comparison("translations that differ", "float32", f"{len(sources)} sentences, {name}", differing, 0)


def measure(model: StepModel, precision: str, direction: Direction, tokenizer: Tokenizer, beam_size: int) -> Quality:
    """Translates and scores all sentences of ``direction``."""
    found = search_all(model, direction.sources, _options(model, beam_size))
    texts = [tokenizer.decode(hypothesis.ids) for hypothesis in found]
    name = f"{direction.source}-{direction.target}"
    return Quality(name, precision, len(texts), score(texts, direction.references))


def quality_faults(qualities: Sequence[Quality]) -> Iterator[str]:
    """One sentence for each precision and direction that loses too much BLEU against float32."""
    exact = {quality.direction: quality for quality in qualities if quality.precision == "float32"}
    for quality in qualities:
        drop = exact[quality.direction].scores.bleu - quality.scores.bleu
        if drop > LARGEST_BLEU_DROP:
            yield f"{quality.direction}: {quality.precision} loses {drop:.2f} BLEU, allowed is {LARGEST_BLEU_DROP}"


def _options(model: StepModel, beam_size: int) -> SearchOptions:
    return SearchOptions(beam_size, length_penalty=1.0, alternatives=0, target_len=model.limits.target_len)


def _differ(expected: Hypothesis, found: Hypothesis) -> bool:
    return expected.ids != found.ids and abs(expected.score - found.score) > _TIE
