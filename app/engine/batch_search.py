"""Search without a server: many sentences, one call."""

from collections.abc import Sequence

from app.engine.hypotheses import Hypothesis, SearchOptions
from app.engine.running_batch import RunningBatch
from app.engine.step_model import StepModel


def search_batch(model: StepModel, sources: Sequence[Sequence[int]], options: SearchOptions) -> list[list[Hypothesis]]:
    """``search_each`` with the same options for all."""
    return search_each(model, sources, [options] * len(sources))


def search_each(
    model: StepModel, sources: Sequence[Sequence[int]], options: Sequence[SearchOptions]
) -> list[list[Hypothesis]]:
    """Translates ``sources`` (ids with tag and end of sentence) in one shared batch.

    Args:
        options: one for each source, of one beam size.

    Returns:
        Per source its ``1 + alternatives`` best hypotheses, best first.
    """
    if not sources:
        return []
    width = options[0].beam_size
    batch: RunningBatch[int] = RunningBatch(model.limits, width)
    batch.join(model.encode(sources, width), options, range(len(sources)))
    found: dict[int, list[Hypothesis]] = {}
    while len(batch):
        found.update(batch.step())
    return [found[index] for index in range(len(sources))]
