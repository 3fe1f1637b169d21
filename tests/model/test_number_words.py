"""Numbers in words: the spelling of both languages, and pairs that mean the same."""

import random
import re

import pytest

from app.text.normalise import normalise
from model.corpus import drop_reason
from model.number_words import english_number, english_ordinal, french_number, french_ordinal, number_in_words
from model.numbers import says


@pytest.mark.parametrize(
    ("number", "english", "french"),
    [
        (0, "zero", "zéro"),
        (17, "seventeen", "dix-sept"),
        (21, "twenty-one", "vingt et un"),
        (70, "seventy", "soixante-dix"),
        (71, "seventy-one", "soixante et onze"),
        (80, "eighty", "quatre-vingts"),
        (81, "eighty-one", "quatre-vingt-un"),
        (91, "ninety-one", "quatre-vingt-onze"),
        (200, "two hundred", "deux cents"),
        (201, "two hundred and one", "deux cent un"),
        (999, "nine hundred and ninety-nine", "neuf cent quatre-vingt-dix-neuf"),
        (1000, "one thousand", "mille"),
        (1100, "one thousand one hundred", "mille cent"),
        (80_080, "eighty thousand and eighty", "quatre-vingt mille quatre-vingts"),
        (200_000, "two hundred thousand", "deux cent mille"),
        (3_003, "three thousand and three", "trois mille trois"),
    ],
)
def test_cardinals(number: int, english: str, french: str) -> None:
    assert (english_number(number), french_number(number)) == (english, french)


def test_every_number_has_words_of_its_own() -> None:
    for words in (english_number, french_number):
        assert len({words(number) for number in range(10_000)}) == 10_000
    assert french_number(21, feminine=True) == "vingt et une"
    assert french_number(71, feminine=True) == "soixante et onze"


@pytest.mark.parametrize(
    ("number", "english", "french"),
    [
        (2, "second", "deuxième"),
        (5, "fifth", "cinquième"),
        (9, "ninth", "neuvième"),
        (12, "twelfth", "douzième"),
        (20, "twentieth", "vingtième"),
        (21, "twenty-first", "vingt et unième"),
        (34, "thirty-fourth", "trente-quatrième"),
        (80, "eightieth", "quatre-vingtième"),
        (99, "ninety-ninth", "quatre-vingt-dix-neuvième"),
    ],
)
def test_ordinals(number: int, english: str, french: str) -> None:
    assert (english_ordinal(number), french_ordinal(number)) == (english, french)


def test_both_sides_of_a_pair_have_the_same_number() -> None:
    source = random.Random(11)
    drawn = [number_in_words(source) for _ in range(2_000)]
    words = {number: (english_number(number), french_number(number)) for number in range(2, 100)}
    for english, french in drawn:
        assert drop_reason(english, french) is None
        assert (normalise(english), normalise(french)) == (english, french)
        if not re.search(r"hundred|thousand| to | past |half|quarter|third|fifth|tenth|o'clock|noon|midnight", english):
            counted = {number for number, (one, _) in words.items() if says(english, one)}
            assert all(re.search(rf"{words[number][1]}e?\b", french, re.IGNORECASE) for number in counted), (
                english,
                french,
            )
    assert len(set(drawn)) > 1_500
