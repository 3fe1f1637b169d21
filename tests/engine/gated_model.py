"""A scripted model that stands still when told to, and sentences for it."""

import threading

from app.engine.hypotheses import SearchOptions
from app.engine.tickets import Sentence
from tests.engine.scripted_model import ScriptedModel, echo_rule

GREEDY = SearchOptions(1, 1.0, 0, 40)
BEAM = SearchOptions(3, 1.0, 0, 40)
SECONDS = 20.0


class GatedModel(ScriptedModel):
    """Steps only while the gate is open."""

    def __init__(self) -> None:
        super().__init__(echo_rule(30), 30)
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()

    def check(self, sources: list[tuple[int, ...]]) -> None:  # type: ignore[override]
        self.entered.set()
        assert self.gate.wait(10)
        super().check(sources)


def sentence(*ids: int, options: SearchOptions = GREEDY) -> Sentence:
    return Sentence(tuple(ids), options)


def different(count: int, *ids: int, options: SearchOptions = GREEDY) -> list[Sentence]:
    """Sentences that end in ``ids``, no two of which are the same."""
    return [sentence(2 + number % 7, 2 + number // 7, *ids, options=options) for number in range(count)]
