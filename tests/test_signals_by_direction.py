"""Each direction has thresholds of its own, however a translation comes to be explained."""

import asyncio
import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.attention.signals import Thresholds
from app.explanation import ExplainedText, ExplainRequest, ExplanationRequest
from app.text.tokenizer import Tokenizer
from app.translation import TranslateRequest
from tests.scripted_world import SETTINGS, World

TEXT = "The cat sleeps on the old chair near the sea and reads a book every evening with its brother and the dog."
WANTED = ExplanationRequest(None, alignment=False)
HIGH = {("en", "fr"): Thresholds(unsourced_target=3.0), ("fr", "en"): Thresholds(unsourced_target=4.0)}

WorldWith = Callable[[dict[tuple[str, str], Thresholds]], World]


@pytest.fixture
def world_with(tiny_tokenizer: Path) -> Iterator[WorldWith]:
    worlds: list[World] = []

    def build(thresholds: dict[tuple[str, str], Thresholds]) -> World:
        worlds.append(World(Tokenizer(tiny_tokenizer), dataclasses.replace(SETTINGS, thresholds=thresholds)))
        return worlds[-1]

    yield build
    for world in worlds:
        world.engine.stop(5)


def limits(found: ExplainedText | None) -> set[float]:
    """Thresholds of words that look nowhere: the scripted model looks everywhere alike, so it has many."""
    assert found is not None
    assert found.segments[0].signals is not None
    return {one.threshold for one in found.segments[0].signals.found if one.kind == "unsourced_target"}


@pytest.mark.parametrize(("source", "target"), list(HIGH))
def test_signals_are_held_against_those_of_their_direction(world_with: WorldWith, source: str, target: str) -> None:
    world, expected = world_with(HIGH), {HIGH[source, target].unsourced_target}
    translated = asyncio.run(world.translator.translate(TranslateRequest((TEXT,), source, target, explain=WANTED)))
    assert limits(translated.translations[0].explained) == expected
    for written in (None, "Le chat dort."):
        assert limits(world.explain(ExplainRequest(TEXT, source, target, written, WANTED))) == expected


def test_a_direction_that_was_not_measured_has_the_defaults(world_with: WorldWith) -> None:
    world = world_with({("fr", "en"): HIGH["fr", "en"]})
    assert limits(world.explain(ExplainRequest(TEXT, "en", "fr", None, WANTED))) == {Thresholds().unsourced_target}
