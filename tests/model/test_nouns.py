"""Everyday nouns: articles as each language has them, and a file that is as it should be."""

import random
from pathlib import Path

import pytest

from app.text.normalise import normalise
from model.corpus import drop_reason
from model.nouns import Noun, read_nouns, with_noun


@pytest.mark.parametrize(
    ("noun", "english", "french"),
    [
        (Noun("thing", "key", "keys", "clé", "clés", True), "a key", "la clé|une clé|ma clé|à la clé|de clés"),
        (Noun("animal", "owl", "owls", "oie", "oies", True), "an owl", "l'oie|une oie|mon oie|à l'oie|d'oies"),
        (Noun("food", "egg", "eggs", "œuf", "œufs", False), "an egg", "l'œuf|un œuf|mon œuf|à l'œuf|d'œufs"),
        (
            Noun("food", "bean", "beans", "haricot", "haricots", False),
            "a bean",
            "le haricot|un haricot|mon haricot|au haricot|de haricots",
        ),
    ],
)
def test_articles_melt_into_nouns(noun: Noun, english: str, french: str) -> None:
    assert noun.english_forms()["a"] == english
    forms = noun.french_forms()
    assert "|".join(forms[name] for name in ("le", "un", "mon", "au", "de_ns")) == french
    assert forms["Le"] == french[0].upper() + french.split("|")[0][1:]


def test_every_noun_stands_once_and_in_clean_pairs() -> None:
    nouns = read_nouns()
    assert len({(noun.kind, noun.english, noun.french) for noun in nouns}) == len(nouns) > 300
    source = random.Random(3)
    drawn = [with_noun(nouns, source) for _ in range(3_000)]
    for english, french in drawn:
        assert drop_reason(english, french) is None
        assert (normalise(english), normalise(french)) == (english, french)
        assert "{" not in english + french
        assert not {"a a", "a e", "a i", "a o", "an b"} & {english[:3].lower()}
    assert len(set(drawn)) > 1_500


@pytest.mark.parametrize(
    "line", ["thing\tkey\tkeys\tclé\tclés", "place\tkey\tkeys\tclé\tclés\tf", "thing\tkey\tkeys\tclé\tclés\tx"]
)
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "nouns.tsv"
    path.write_text(f"thing\tkey\tkeys\tclé\tclés\tf\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2"):
        read_nouns(path)
