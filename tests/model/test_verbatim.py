import random
import re

import pytest

from app.text.normalise import normalise
from model.corpus import drop_reason
from model.verbatim import Verbatim

WORDS = [("summer", "été"), ("milk", "lait")]


def test_what_is_copied_stands_alike_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Verbatim, "__call__", lambda *_: "COPIED")
    drawn = {Verbatim(WORDS).mention(random.Random(seed)) for seed in range(300)}
    named = [pair for pair in drawn if "@" not in pair[0]]
    assert len(named) > 10
    assert all((first.count("COPIED"), second.count("COPIED")) == (1, 1) for first, second in named)
    with_mailbox = drawn - set(named)
    assert 50 < len(with_mailbox) < 100
    for pair in with_mailbox:
        first, second = (re.findall(r"[a-z.\d]+@[a-z]+\.[a-z.]*[a-z]", text) for text in pair)
        assert len(first) == 1
        assert first == second


def test_a_sentence_with_what_is_copied_is_fit_for_training() -> None:
    for seed in range(300):
        first, second = Verbatim(WORDS).mention(random.Random(seed))
        assert drop_reason(first, second) is None
        assert (normalise(first), normalise(second)) == (first, second)


def test_words_of_both_languages_stand_inside_without_accents() -> None:
    drawn = [Verbatim(WORDS)(random.Random(seed)) for seed in range(400)]
    assert len(set(drawn)) > 350
    assert all(text.isascii() for text in drawn)
    for word in ("summer", "ete", "milk", "lait"):
        assert any(re.search(rf"(?<![a-z]){word}(?![a-z])", text) for text in drawn)


def test_without_words_letters_are_drawn() -> None:
    assert len({Verbatim([])(random.Random(seed)) for seed in range(50)}) == 50
