import asyncio
import contextlib
from pathlib import Path

import pytest

from app import translator
from app.errors import NotReady, QueueFull
from app.explanation import ExplainedText, ExplainRequest, ExplanationRequest
from app.places import Places
from app.text.tokenizer import Tokenizer
from app.translation import TranslateRequest, TranslateResult
from tests.scripted_world import World

WANTED = ExplanationRequest(None, alignment=True)


def test_the_next_is_refused_until_somebody_leaves() -> None:
    places = Places(1, "pictures")
    for _ in range(2):
        with places.one(), pytest.raises(QueueFull, match="1 pictures are waiting, the queue holds 1"):
            places.one().__enter__()


def test_who_fails_leaves_too() -> None:
    places = Places(1, "pictures")
    with contextlib.suppress(ZeroDivisionError), places.one():
        raise ZeroDivisionError
    with places.one():
        pass


def test_more_explanations_than_places_are_refused_and_plain_requests_are_not(
    tiny_tokenizer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translator, "MOST_EXPLAINED", 2)
    world = World(Tokenizer(tiny_tokenizer))
    given = ExplainRequest("The cat.", "en", "fr", "Le chat.", WANTED)
    asked = TranslateRequest(("The cat.",), "en", "fr", explain=WANTED)
    plain = TranslateRequest(("The cat.",), "en", "fr")

    async def scenario() -> list[object]:
        calls = (
            *(world.translator.explain(given) for _ in range(2)),
            world.translator.explain(given),
            world.translator.translate(asked),
            world.translator.translate(plain),
        )
        together = await asyncio.gather(*calls, return_exceptions=True)
        return [*together, await world.translator.translate(asked)]

    *explained, first, second, third, later = asyncio.run(scenario())
    world.engine.stop(5)
    assert all(isinstance(one, ExplainedText) for one in explained)
    for refused in (first, second):
        assert isinstance(refused, QueueFull)
        assert (refused.limit, refused.waiting) == (2, 2)
    assert isinstance(third, TranslateResult)
    assert isinstance(later, TranslateResult)


def test_a_server_that_drains_says_so_and_not_that_it_is_busy(
    tiny_tokenizer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translator, "MOST_EXPLAINED", 0)
    world = World(Tokenizer(tiny_tokenizer))
    asked = TranslateRequest(("The cat.",), "en", "fr", explain=WANTED)
    with pytest.raises(QueueFull):
        asyncio.run(world.translator.translate(asked))
    world.engine.stop(5)
    with pytest.raises(NotReady):
        asyncio.run(world.translator.translate(asked))
