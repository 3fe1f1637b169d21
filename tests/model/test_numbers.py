import random
from functools import partial
from pathlib import Path

import pytest

from app.text.tokenizer import Tokenizer
from model import numbers
from model.numbers import KINDS, Found, changed_numbers, digits_of, drawn, says, sentences, table
from model.scoring import Direction
from tests.engine.scripted_model import ScriptedModel, random_rule


def test_every_sentence_has_one_number_and_both_languages_the_same() -> None:
    for kind in KINDS:
        english, french = sentences(kind, 0), sentences(kind, 1)
        if kind.in_words:
            assert all(says(text, words) for text, (words, _) in zip(english, drawn(kind), strict=True))
            assert all(says(text, words) for text, (_, words) in zip(french, drawn(kind), strict=True))
        else:
            assert list(map(digits_of, english)) == list(map(digits_of, french))
            assert min(len(digits_of(sentence)) for sentence in english) > 1
        assert len(set(english)) > 0.6 * len(english)
        assert english == sentences(kind, 0)


def test_frames_stand_nowhere_in_what_models_read() -> None:
    written = "".join(path.read_text(encoding="utf-8") for path in Path("model").glob("*.py") if path.stem != "numbers")
    written += Path("model/phrasebook.tsv").read_text(encoding="utf-8")
    frames = [text for kind in KINDS for frame in kind.frames for text in frame]
    assert not [frame for frame in frames if frame in written]


@pytest.mark.parametrize(("wrong", "expected"), [("", 0), ("0", 1)])
def test_a_translation_is_right_if_its_digits_are(
    monkeypatch: pytest.MonkeyPatch, tokenizer: Tokenizer, wrong: str, expected: int
) -> None:
    def translate(_: object, __: object, lines: list[str], *___: object) -> list[str]:
        kind = next(kind for kind in KINDS if lines == sentences(kind, 1))
        answers = [english for english, _ in drawn(kind)] if kind.in_words else list(map(digits_of, lines))
        return [f"Answer: {answers[0]}{'-ten' if wrong and kind.in_words else wrong}", *answers[1:]]

    monkeypatch.setattr(numbers, "translate_lines", translate)
    found = changed_numbers(ScriptedModel(random_rule(15, 4), 15), tokenizer, Direction("fr", "en"))
    assert [(one.sentences, len(one.changed)) for one in found] == [(120, expected)] * len(KINDS)


@pytest.mark.parametrize(
    ("text", "words", "right"),
    [
        ("Elle a vingt ans.", "vingt", True),
        ("Elle a 20 ans.", "vingt", True),
        ("Elle a vingt-deux ans.", "vingt", False),
        ("Vingt et une pages", "vingt et un", True),
        ("vingt et une pages", "vingt", False),
        ("soixante-dix", "dix", False),
        ("It is 120.", "vingt", False),
        ("Forty cats", "forty", True),
        ("forty-two", "forty", False),
        ("le 3e rang", "troisième", True),
    ],
)
def test_a_number_in_words_is_said_whole(text: str, words: str, right: bool) -> None:
    assert says(text, words) is right


def test_the_table_has_a_row_for_each_kind_and_examples(
    tiny_model_directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["numbers", str(tiny_model_directory)])
    monkeypatch.setattr(numbers, "sentences", partial(sentences, count=4))
    numbers.main()
    head, rule, *rows = capsys.readouterr().out.splitlines()
    assert head == "| Numbers | en-fr | fr-en |"
    assert rule == "|---|--:|--:|"
    assert [row.split("|")[1].strip() for row in rows[: len(KINDS)]] == [kind.name for kind in KINDS]


def test_the_table_shows_what_changed() -> None:
    changed = tuple((f"It is {number}.", f"C'est {number}0.") for number in (12, 23, 34, 45))
    found = [[Found("years", 120, changed)], [Found("years", 120, ())]]
    lines = table(found, (Direction("en", "fr"), Direction("fr", "en"))).splitlines()
    assert lines[2:5] == ["| years | 4 of 120 | 0 of 120 |", "", "- `It is 12.`: `C'est 120.`"]
    assert len(lines) == 7


def test_numbers_are_drawn_with_a_seed_of_their_own() -> None:
    random.seed(1)
    assert sentences(KINDS[0], 0, 3) == sentences(KINDS[0], 0)[:3]
