"""Search with muted heads: off the engine, so that nobody else's steps get slower."""

from collections.abc import Callable, Sequence

from app.abandonable import Abandonable, Check
from app.engine.batch_search import search_batch
from app.engine.engine import Sentence
from app.engine.hypotheses import Hypothesis
from app.engine.step_model import ExplainModel, HeadMasks


class MutedSearch:
    """One sentence at a time, in float32; sentences of different requests take turns."""

    def __init__(self, model: ExplainModel) -> None:
        self._model = model
        self._turns = Abandonable(at_once=1)

    async def search(self, sentences: Sequence[Sentence], masks: HeadMasks) -> list[list[Hypothesis]]:
        """Hypotheses of every sentence; a cancelled call ends its search at the next step."""
        return [await self._turns.run(self._work(sentence, masks)) for sentence in sentences]

    def _work(self, sentence: Sentence, masks: HeadMasks) -> Callable[[Check], list[Hypothesis]]:
        def work(check: Check) -> list[Hypothesis]:
            model = self._model.step_model(masks, check)
            return search_batch(model, [sentence.source], sentence.options)[0]

        return work
