import random
import re

import pytest

from app.text.normalise import normalise
from model.corpus import drop_reason
from model.quantities import digits, quantity


@pytest.mark.parametrize("length", [1, 2, 4, 6])
def test_numbers_have_their_length_and_do_not_begin_with_zero(length: int) -> None:
    drawn = [digits(length, random.Random(seed)) for seed in range(300)]
    assert all(re.fullmatch(rf"[1-9]\d{{{length - 1}}}", number) for number in drawn)


def test_many_numbers_have_a_digit_twice_in_a_row_or_are_round() -> None:
    drawn = [digits(4, random.Random(seed)) for seed in range(1000)]
    assert sum(bool(re.search(r"(\d)\1", number)) for number in drawn) > 500
    assert sum(number.endswith("000") for number in drawn) > 80
    assert sum(len(set(number)) == 4 for number in drawn) > 100


def test_both_languages_have_the_same_digits_grouped_in_their_way() -> None:
    drawn = [quantity(random.Random(seed)) for seed in range(600)]
    for english, french in drawn:
        assert re.sub(r"\D", "", english) == re.sub(r"\D", "", french)
        assert drop_reason(english, french) is None
        assert (normalise(english), normalise(french)) == (english, french)
    assert any(re.search(r"\d,\d{3}", english) and re.search(r"\d \d{3}", french) for english, french in drawn)
    assert any(re.search(r"\d\.\d m", english) and re.search(r"\d,\d m", french) for english, french in drawn)
    assert any("%" in english and " %" in french for english, french in drawn)
    assert not any(re.search(r"(?<!\d)[01],\d mill", french) for _, french in drawn)
    assert len(set(drawn)) > 500
