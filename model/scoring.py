"""BLEU and chrF of translations that come out of the search that serves."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from app.engine.batch_search import search_each
from app.engine.hypotheses import Hypothesis, SearchOptions, target_room
from app.engine.step_model import StepModel

_ROWS = 256


@dataclass(frozen=True)
class Direction:
    """From which language into which; ``en-fr`` in text."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"


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
    """The best hypothesis of every source, in order; sentences of similar length share a batch.

    As in serving, ``options.target_len`` is cut to the room that a source of that length has.
    """
    order = sorted(range(len(sources)), key=lambda index: len(sources[index]))
    best: dict[int, Hypothesis] = {}
    sentences = max(1, _ROWS // options.beam_size)
    for start in range(0, len(order), sentences):
        batch = order[start : start + sentences]
        rooms = [target_room(len(sources[index]), options.target_len) for index in batch]
        cut = [dataclasses.replace(options, target_len=room) for room in rooms]
        found = search_each(model, [sources[index] for index in batch], cut)
        best.update((index, hypotheses[0]) for index, hypotheses in zip(batch, found, strict=True))
    return [best[index] for index in range(len(sources))]
