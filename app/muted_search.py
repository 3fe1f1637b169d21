"""Search with muted heads: off the engine, so that nobody else's steps get slower."""

from collections.abc import Callable, Sequence
from functools import partial

from app.abandonable import Abandonable, Check
from app.engine.batch_search import search_batch
from app.engine.engine import Engine
from app.engine.hypotheses import Hypothesis
from app.engine.step_model import ExplainModel, HeadMasks
from app.engine.tickets import Sentence


class MutedSearch:
    """One sentence at a time, in float32; sentences of different requests take turns.

    Nothing is shared; until it is their turn, sentences count against the limit of the engine's queue.
    """

    def __init__(self, model: ExplainModel, engine: Engine) -> None:
        self._model = model
        self._engine = engine
        self._turns = Abandonable(at_once=1)

    async def search(self, sentences: Sequence[Sentence], masks: HeadMasks) -> list[list[Hypothesis]]:
        """Hypotheses of every sentence; a cancelled call ends its search at the next step.

        Raises:
            NotReady, TooLarge, QueueFull: as ``Engine.submit``.
        """
        self._engine.reserve(len(sentences))
        running: list[int] = []

        def begin(rows: int) -> None:
            running.append(rows)
            self._engine.begin_reserved(rows)

        found: list[list[Hypothesis]] = []
        try:
            for sentence in sentences:
                begun = partial(begin, sentence.options.beam_size)
                found.append(await self._turns.run(self._work(sentence, masks), begun))
                self._engine.end_reserved(running[-1])
        finally:
            self._engine.release(len(sentences) - len(running))
            for rows in running[len(found) :]:
                self._engine.end_reserved(rows)
        return found

    def _work(self, sentence: Sentence, masks: HeadMasks) -> Callable[[Check], list[Hypothesis]]:
        def work(check: Check) -> list[Hypothesis]:
            model = self._model.step_model(masks, check)
            return search_batch(model, [sentence.source], sentence.options)[0]

        return work
