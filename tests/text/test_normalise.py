"""Normalisation: what is unified, what is removed, what stays."""

import unicodedata
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.normalise import compose, normalise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain ascii", "plain ascii"),
        ("  two  spaces\tand a tab ", "two spaces and a tab"),
        ("Qu’est-ce que c’est\u202f?", "Qu'est-ce que c'est ?"),
        ("«\u00a0Oui\u00a0»", "« Oui »"),
        ("e\u0301te\u0301", "été"),
        ("NUL\x00 and bell\x07", "NUL and bell"),
        ("soft\u00adhyphen zero\u200bwidth \ufeffmark", "softhyphen zerowidth mark"),
        ("👩\u200d👩\u200d👧 stays whole", "👩\u200d👩\u200d👧 stays whole"),
        ("line\r\nbreak\u2028too", "line break too"),
        ("½ is not rewritten", "½ is not rewritten"),
        ("oﬃce ﬁle, co\u2011op, l´été", "office file, co-op, l'été"),
        ("lone \ud800 surrogate", "lone surrogate"),
        ("", ""),
        ("\x00", ""),
    ],
)
def test_examples(text: str, expected: str) -> None:
    assert normalise(text) == expected


@given(st.text(st.characters()))
def test_idempotent_and_one_line(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert len(once.splitlines()) <= 1
    assert once == once.strip()
    assert unicodedata.is_normalized("NFC", once)


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_no_letter_number_mark_or_symbol_is_lost(text: str) -> None:
    assert len(unicodedata.normalize("NFD", normalise(text))) == len(unicodedata.normalize("NFD", text))


MARKS = [character for character in map(chr, range(0x110000)) if unicodedata.combining(character)]


def test_marks_in_any_order_compose_as_the_standard_says() -> None:
    random = Random(0)
    for _ in range(3_000):
        text = "".join(random.choice([*"aeoscwÅ가ᄀがกက\u0f73\u0f75\u0f81", random.choice(MARKS)]) for _ in range(12))
        assert compose(text) == unicodedata.normalize("NFC", text)


def test_the_library_is_given_marks_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it sorts them itself, in quadratic time."""
    given: list[str] = []
    decomposed = {mark: unicodedata.normalize("NFD", mark) for mark in [*MARKS, "\u0f73", "\u0f75", "\u0f81"]}

    def normalize(form: str, text: str) -> str:
        given.append(text)
        return text

    monkeypatch.setattr("app.text.normalise.unicodedata.normalize", normalize)
    random = Random(0)
    for _ in range(300):
        compose("e" + "".join(random.choices(list(decomposed), k=20)))
    assert len(given) == 300
    for text in given:
        classes = [unicodedata.combining(one) for mark in text[1:] for one in decomposed.get(mark, mark)]
        assert classes == sorted(classes)
