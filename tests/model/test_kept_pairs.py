"""Pairs to ids: parts on both sides are one piece, the same on both, and all such pieces are used alike."""

from collections import Counter
from pathlib import Path

import pytest

from app.text.tokenizer import Tokenizer
from model.kept_pairs import encode_pairs


@pytest.fixture(scope="module")
def tokenizer(tiny_tokenizer: Path) -> Tokenizer:
    return Tokenizer(tiny_tokenizer)


def parts(tokenizer: Tokenizer, ids: list[int]) -> list[int]:
    return [index for index in ids if index in tokenizer.kept_ids]


def test_parts_of_both_sides_are_the_same_piece(tokenizer: Tokenizer) -> None:
    pair = ("The {a} and the https://a.org/b.", "Le https://a.org/b et le {a}.")
    (first,), (second,) = encode_pairs(tokenizer, [pair])
    one, two = parts(tokenizer, first)
    assert parts(tokenizer, second) == [two, one]
    assert tokenizer.kept_ids.index(two) == (tokenizer.kept_ids.index(one) + 1) % len(tokenizer.kept_ids)
    assert tokenizer.decode(first) == "The and the ."


def test_what_one_side_alone_has_is_spelled(tokenizer: Tokenizer) -> None:
    pairs = [("The {a} cat {b} {b}", "Le chat {a} {b}"), ("The cat", "Le {c} chat")]
    first, second = encode_pairs(tokenizer, pairs)
    assert [len(parts(tokenizer, ids)) for ids in (*first, *second)] == [1, 0, 1, 0]
    assert tokenizer.decode(first[0]) == "The cat {b} {b}"
    assert tokenizer.decode(second[1]) == "Le {c} chat"


def test_parts_beyond_the_eighth_are_spelled(tokenizer: Tokenizer) -> None:
    text = " ".join(f"{{{number}}}" for number in range(10))
    (first,), (second,) = encode_pairs(tokenizer, [(text, text)])
    assert first == second
    assert sorted(parts(tokenizer, first)) == sorted(tokenizer.kept_ids)
    assert tokenizer.decode(first) == "{8} {9}"


def test_every_piece_is_learned_from_as_many_pairs(tokenizer: Tokenizer) -> None:
    pairs = [("a" * length + " {x}", "le {x}") for length in range(1, 81)]
    first, second = encode_pairs(tokenizer, pairs)
    counts = Counter(parts(tokenizer, ids)[0] for ids in first)
    assert counts == dict.fromkeys(tokenizer.kept_ids, 10)
    assert [parts(tokenizer, ids) for ids in first] == [parts(tokenizer, ids) for ids in second]
