from pathlib import Path

import numpy as np
import pytest

from model import corpus, lexicon
from model.lexicon import common_words, cooccurrences, mutual_translations, translation_probabilities

PAIRS = [
    ("The house is blue.", "La maison est bleue."),
    ("The house is small.", "La maison est petite."),
    ("A small cat and the milk", "Un petit chat et le lait"),
    ("The cat has milk in London.", "Le chat a du lait à Londres."),
    ("The cat is in London.", "Le chat est à Londres."),
] * 4


def test_the_three_sentences_of_knight() -> None:
    """Two pairs of sentences that share a word decide all translations (Knight 1999, "A Statistical MT Tutorial")."""
    the_house, the_book, a_book = (np.array(ids) for ids in ([0, 1], [0, 2], [3, 2]))
    sides = [the_house, the_book, a_book]
    found = cooccurrences((sides, sides), 4)
    probabilities = translation_probabilities(found.sources, found.link, found.target_place, rounds=60)
    best = {
        int(source): int(found.targets[found.sources == source][probabilities[found.sources == source].argmax()])
        for source in range(4)
    }
    assert best == {0: 0, 1: 1, 2: 2, 3: 3}
    assert np.bincount(found.sources, weights=probabilities) == pytest.approx(np.ones(4))


def test_one_round_divides_every_written_word_among_those_it_may_come_from() -> None:
    found = cooccurrences(([np.array([0, 1]), np.array([0])], [np.array([0]), np.array([1])]), 2)
    assert list(zip(found.sources.tolist(), found.targets.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 0)]
    first = translation_probabilities(found.sources, found.link, found.target_place, rounds=1)
    assert first == pytest.approx([1 / 3, 2 / 3, 1])


def test_names_have_no_translation() -> None:
    texts = [["Soon", "London", "sleeps"], ["The", "cat", "sleeps", "in", "London"]] * 4
    assert common_words(texts) == ["cat", "in", "sleeps"]


def test_words_that_are_each_others_likeliest_translation_are_found() -> None:
    found = {(first, second) for first, second, _ in mutual_translations(PAIRS)}
    assert {("house", "maison"), ("cat", "chat"), ("milk", "lait")} <= found
    assert not any("ondon" in first for first, _ in found)
    products = [product for *_, product in mutual_translations(PAIRS)]
    assert products == sorted(products, reverse=True)


def test_the_command_writes_two_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "LEFT_ALONE", 6)
    held_out = [("a dog sleeps", "un chien dort"), ("the dog", "le chien")] * 3
    text = "".join(f"{first}\t{second}\n" for first, second in [*held_out, *PAIRS])
    (tmp_path / "books.tsv").write_text(text, encoding="utf-8")
    output = tmp_path / "out"
    monkeypatch.setattr("sys.argv", ["lexicon", str(tmp_path), str(output)])
    lexicon.main()
    lines = output.read_text(encoding="utf-8").splitlines()
    assert "milk\tlait" in lines
    assert "dog\tchien" not in lines
    assert ("dog", "chien") in {pair[:2] for pair in mutual_translations([*held_out, *PAIRS])}
    assert all(len(word) >= 3 for line in lines for word in line.split("\t"))
