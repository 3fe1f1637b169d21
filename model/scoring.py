"""BLEU and chrF of translations that come out of the search that serves."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from app.engine.hypotheses import Hypothesis, SearchOptions, target_room
from app.engine.running_batch import RunningBatch
from app.engine.search import start_search
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
        found = _search(model, [sources[index] for index in batch], options)
        best.update(zip(batch, found, strict=True))
    return [best[index] for index in range(len(sources))]


def _search(model: StepModel, sources: Sequence[Sequence[int]], options: SearchOptions) -> list[Hypothesis]:
    limits = model.limits
    rooms = [target_room(len(source), options.target_len) for source in sources]
    searches = [
        start_search(dataclasses.replace(options, target_len=room), limits.bos_id, limits.eos_id) for room in rooms
    ]
    batch: RunningBatch[int] = RunningBatch(limits.vocab_size, options.beam_size)
    batch.join(model.encode(sources, options.beam_size), searches, range(len(sources)))
    while len(batch):
        batch.step()
    return [search.hypotheses()[0] for search in searches]
