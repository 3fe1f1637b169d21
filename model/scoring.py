"""BLEU and chrF of translations that come out of the search that serves."""

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from app.engine.batch_search import search_batch
from app.engine.hypotheses import Hypothesis, SearchOptions
from app.engine.step_model import StepModel

_ROWS = 256


@dataclass(frozen=True)
class Scores:
    """Corpus scores in percent with the signatures that say how they were computed."""

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str


def score(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    """Detokenised translations against one reference each."""
    bleu, chrf = BLEU(), CHRF()
    bleu_score = bleu.corpus_score(list(hypotheses), [list(references)]).score
    chrf_score = chrf.corpus_score(list(hypotheses), [list(references)]).score
    return Scores(bleu_score, chrf_score, str(bleu.get_signature()), str(chrf.get_signature()))


def search_all(model: StepModel, sources: Sequence[Sequence[int]], options: SearchOptions) -> list[Hypothesis]:
    """The best hypothesis of every source, in order; sentences of similar length share a batch."""
    order = sorted(range(len(sources)), key=lambda index: len(sources[index]))
    best: dict[int, Hypothesis] = {}
    sentences = max(1, _ROWS // options.beam_size)
    for start in range(0, len(order), sentences):
        batch = order[start : start + sentences]
        found = search_batch(model, [sources[index] for index in batch], options)
        best.update((index, hypotheses[0]) for index, hypotheses in zip(batch, found, strict=True))
    return [best[index] for index in range(len(sources))]
