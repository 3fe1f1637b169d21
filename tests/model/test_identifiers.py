import random
import re
from collections import Counter

from app.text.normalise import normalise
from model.corpus import drop_reason
from model.identifiers import code, telephone

NUMBER = re.compile(r"[+(#]?[A-Z]*[-. ]?\d[\d ().-]*\d")


def test_both_languages_have_the_same_number_and_training_keeps_the_pair() -> None:
    drawn = [draw(random.Random(seed)) for seed in range(500) for draw in (telephone, code)]
    assert all(NUMBER.search(english)[0] in french for english, french in drawn)  # type: ignore[index]
    assert all((normalise(english), normalise(french)) == (english, french) for english, french in drawn)
    assert not Counter(drop_reason(*pair) for pair in drawn if drop_reason(*pair))
    assert len(set(drawn)) > 950


def test_numbers_are_written_in_many_ways() -> None:
    numbers = [telephone(random.Random(seed))[0] for seed in range(500)]
    for pattern in (r"\d\d \d\d \d\d \d\d \d\d", r"\d{3}-\d{4}", r"\(\d{3}\) ", r"\+\d\d ", r"\b\d{10}\b"):
        assert any(re.search(pattern, number) for number in numbers), pattern
    codes = [code(random.Random(seed))[0] for seed in range(500)]
    for pattern in (r"\b[A-Z]{2}-\d{4}", r"#\d{5}", r"(\d)\1", r"\b\d{8}\b", r"\bv?\d\.\d\.\d"):
        assert any(re.search(pattern, one) for one in codes), pattern
