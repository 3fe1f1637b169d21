import random
import re

from app.text.normalise import normalise
from model.corpus import drop_reason
from model.verbatim import Verbatim

WORDS = [("summer", "été"), ("milk", "lait")]


def test_what_is_copied_stands_alike_on_both_sides() -> None:
    verbatim = Verbatim(WORDS)
    for seed in range(300):
        first, second = verbatim.mention(random.Random(seed))
        copied = [part for part in re.split(r"\s", first) if re.search(r"[./@_`()=-]\w", part)]
        assert all(part.strip(".,?:") in second for part in copied), (first, second)
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
