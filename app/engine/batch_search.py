"""Search without a server: many sentences, one call."""

from collections.abc import Sequence

from app.engine.hypotheses import Hypothesis, SearchOptions
from app.engine.running_batch import RunningBatch
from app.engine.search import start_search
from app.engine.step_model import StepModel


def search_batch(model: StepModel, sources: Sequence[Sequence[int]], options: SearchOptions) -> list[list[Hypothesis]]:
    """Translates ``sources`` (ids with tag and end of sentence) in one shared batch.

    Returns:
        Per source its ``1 + alternatives`` best hypotheses, best first.
    """
    if not sources:
        return []
    limits = model.limits
    batch: RunningBatch[int] = RunningBatch(limits.vocab_size, options.beam_size)
    searches = [start_search(options, limits.bos_id, limits.eos_id) for _ in sources]
    batch.join(model.encode(sources, options.beam_size), searches, range(len(sources)))
    while len(batch):
        batch.step()
    return [search.hypotheses() for search in searches]
