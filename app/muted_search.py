"""Search with muted heads: off the engine, so that nobody else's steps get slower."""

import asyncio
import threading
from collections.abc import Sequence

from app.engine.batch_search import search_batch
from app.engine.engine import Sentence
from app.engine.hypotheses import Hypothesis
from app.engine.step_model import ExplainModel, HeadMasks


class _GivenUp(Exception):
    """Nobody waits for the search any more."""


class MutedSearch:
    """One request at a time, one sentence after the other, in float32; others wait their turn within their deadline."""

    def __init__(self, model: ExplainModel) -> None:
        self._model = model
        self._turn = asyncio.Semaphore(1)

    async def search(self, sentences: Sequence[Sentence], masks: HeadMasks) -> list[list[Hypothesis]]:
        """Hypotheses of every sentence; a cancelled call ends its search at the next step."""
        given_up = threading.Event()

        def check() -> None:
            if given_up.is_set():
                raise _GivenUp

        def work() -> list[list[Hypothesis]]:
            model = self._model.step_model(masks, check)
            return [search_batch(model, [sentence.source], sentence.options)[0] for sentence in sentences]

        async with self._turn:
            try:
                return await asyncio.to_thread(work)
            finally:
                given_up.set()
