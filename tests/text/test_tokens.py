from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.capitals import as_read
from app.text.normalise import normalise
from app.text.offsets import OffsetConverter, normalise_with_offsets
from app.text.tokenizer import Tokenizer
from app.text.tokens import TokenisedText, kept_parts, read_ids, source_tokens, target_tokens
from app.text.words import word_spans

TEXT = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("e\u0301\u00ad\u200b '’é각\u1100\u1161 ▁"))
)
BUNDLED = Path(__file__).parents[2] / "model" / "pretrained" / "en-fr" / "tokenizer.model"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(BUNDLED)


@given(TEXT)
def test_origins_ascend_and_the_text_is_the_normalised_one(text: str) -> None:
    found = normalise_with_offsets(text)
    assert found.text == normalise(text)
    assert len(found.origins) == len(found.text)
    assert list(found.origins) == sorted(found.origins)


@pytest.mark.parametrize(
    ("text", "origins"),
    [
        (" a\u0301  b ", [(1, 3), (3, 5), (5, 6)]),
        ("a\u00adb’", [(0, 1), (2, 3), (3, 4)]),
        ("a \u200b b", [(0, 1), (1, 4), (4, 5)]),
    ],
)
def test_origins(text: str, origins: list[tuple[int, int]]) -> None:
    assert list(normalise_with_offsets(text).origins) == origins


def check(found: TokenisedText) -> None:
    position = 0
    for token in found.tokens:
        assert (token.span is None) == (token.special is not None)
        if token.span is None:
            assert token.word is None
            continue
        start, end = token.span
        assert position <= start <= end <= len(found.text)
        position = end
    tokens = [index for word in found.words for index in word.tokens]
    assert tokens == sorted(set(tokens))
    if found.words:
        assert tokens == [index for index, token in enumerate(found.tokens) if token.special is None]
    position = 0
    for word in found.words:
        assert found.text[slice(*word.span)] == word.text != ""
        assert position <= word.span[0]
        position = word.span[1]


@given(text=TEXT)
def test_any_source_has_tokens_and_words_in_their_places(tokenizer: Tokenizer, text: str) -> None:
    found = source_tokens(tokenizer, text, "fr", "en")
    check(found)
    ids = [token.id for token in found.tokens]
    assert ids == read_ids(tokenizer, text, "fr", "en")
    if not kept_parts(tokenizer, text):
        assert ids == tokenizer.encode_source(normalise(as_read(text, "fr")), "en")


@given(ids=st.lists(st.integers(0, 7_999) | st.integers(6, 261), max_size=30))
def test_any_target_has_tokens_and_words_in_their_places(tokenizer: Tokenizer, ids: list[int]) -> None:
    found = target_tokens(tokenizer, ids, "fr")
    check(found)
    assert found.text == tokenizer.decode(ids)


def test_broken_bytes_belong_to_no_piece_after_them(tokenizer: Tokenizer) -> None:
    pieces = tokenizer.encode("Où")
    byte = tokenizer.encode("中")[-1]
    spelled, spans = tokenizer.spell([byte, *pieces, byte])
    assert spelled == "\ufffd Où\ufffd"
    shown = [piece.replace("▁", " ") for piece in tokenizer.pieces(pieces)]
    assert [spelled[slice(*span)] for span in spans] == ["\ufffd", *shown, "\ufffd"]


def test_pieces_of_a_word_spell_it(tokenizer: Tokenizer) -> None:
    text = "  L’homme 👩‍🚀 e\u0301te\u0301."
    found = source_tokens(tokenizer, text, "fr", "en")
    assert [word.text for word in found.words] == ["L’", "homme", "👩‍🚀", "e\u0301te\u0301", "."]
    for word in found.words:
        spans = [found.tokens[index].span for index in word.tokens]
        assert "".join(text[slice(*span)] for span in spans if span) == word.text
    assert (found.tokens[0].special, found.tokens[-1].special) == ("tag", "eos")


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("l'homme n’est pas aujourd'hui", "fr", ["l'", "homme", "n’", "est", "pas", "aujourd'hui"]),
        ("He doesn't like 3.14, 1,000...", "en", ["He", "doesn't", "like", "3.14", ",", "1,000", "..."]),
        ("a well-known one", "en", ["a", "well-known", "one"]),
        ("我喜欢猫。カタカナ です", "zh", ["我", "喜", "欢", "猫", "。", "カタカナ", "で", "す"]),
        ("👩‍👩‍👧 🇫🇷☕️👍🏽!!?", "en", ["👩‍👩‍👧", "🇫🇷", "☕️", "👍🏽", "!!", "?"]),
        ("สวัสดี", "th", ["ส", "วั", "ส", "ดี"]),
        ("مرحبا بالعالم", "ar", ["مرحبا", "بالعالم"]),
        (" \n ", "en", []),
    ],
)
def test_words(text: str, language: str, words: list[str]) -> None:
    assert [text[start:end] for start, end in word_spans(text, language)] == words


@given(TEXT, st.sampled_from(["en", "fr"]))
def test_words_cover_all_but_white_space(text: str, language: str) -> None:
    spans = word_spans(text, language)
    assert "".join(text[start:end] for start, end in spans) == "".join(text.split())


@given(TEXT, st.sampled_from(["utf16", "utf8"]))
def test_offsets_in_other_units(text: str, unit: str) -> None:
    convert = OffsetConverter(text, unit)  # type: ignore[arg-type]
    encoding = {"utf16": "utf-16-le", "utf8": "utf-8"}[unit]
    width = 2 if unit == "utf16" else 1
    for start in range(len(text)):
        first, last = convert((start, len(text)))
        assert text.encode(encoding)[first * width : last * width].decode(encoding) == text[start:]
