"""Which sentences stand in capitals, and that recasing moves no character."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.capitals import as_read, capitals, has_only_capitals, sentence_case, stands_in_capitals
from app.text.normalise import normalise
from app.text.tokenizer import Tokenizer
from app.text.tokens import TokenisedText, given_tokens, read_ids, source_tokens, target_tokens, written_text

CASED = "aAéÉœŒßẞİıſµǄǅǆΣςσÅKŉﬁªºⓐⒶⅷⅧ\u0345ႠⴀაᲐꭰᎠ𐐀𐐨中א"
TEXT = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(CASED + "I '’.-_1\u0301")))
BUNDLED = Path(__file__).parents[2] / "model" / "pretrained" / "en-fr" / "tokenizer.model"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(BUNDLED)


@pytest.mark.parametrize(
    "text",
    ["HELLO", "HELLO!", "NATO SUMMIT", "PLEASE CLOSE THE DOOR.", "DON'T", "C’EST FINI", "L'ÉTÉ À PARIS", "I AM OK",
     "10 % OFF TODAY", "GO ON", "RENDEZ-VOUS", "COVID-19", "« OÙ EST-IL ? »", "ŒUVRE", "ЁЛКА", "ΚΑΛΗΜΕΡΑ", "STRAßE",
     "İSTANBUL", "5º ANDAR", "DO NOT TOUCH 5 µV CABLES", "E\u0301TE\u0301 A\u0300 PARIS", "FREE 🎉 BEER",
     "PLEASE SEE https://example.org/page", "ASK jo@example.org FOR HELP!"],
)  # fmt: skip
def test_in_capitals(text: str) -> None:
    assert stands_in_capitals(text)


@pytest.mark.parametrize(
    "text",
    ["", " ", "A", "X", "1.", "1. A", "OK", "OK!", "USA", "U.S.A.", "I'M", "A B C D E F", "A4", "ISO9001 AB12CD34",
     "MAX_SIZE", "MAX_SIZE MIN_SIZE", "Hello", "HELLO there", "iPHONE", "HELLO WORLd", "McDONALD", "ǅUNGLA DRVO",
     "你好，世界", "我在 UNESCO 工作。", "日本のNASAです", "العربية NASA UNICEF", "שלום עולם", "გამარჯობა თბილისი",
     "42 %", "ⒽⒺⓁⓁⓄ", "ⅧⅧⅧⅧ", "HELLO https://example.org there", "USA www.a.org/x"],
)  # fmt: skip
def test_not_in_capitals(text: str) -> None:
    assert not stands_in_capitals(text)
    assert as_read(text, "en") == text


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("PLEASE CLOSE THE DOOR.", "en", "Please close the door."),
        ("« L'ÉTÉ À PARIS, CHEF-D'ŒUVRE »", "fr", "« L'été à paris, chef-d'œuvre »"),
        ("WELL...I DON'T", "en", "Well...I don't"),
        ("DO I KNOW WHO I'M? PART I, I.E. II", "en", "Do I know who I'm? part I, i.e. ii"),
        ("OÙ SUIS-JE ? I", "fr", "Où suis-je ? i"),
        ("THE I\u0301 OF SPAIN", "en", "The i\u0301 of spain"),
        ("3 DOGS", "en", "3 Dogs"),
        ("SEE HTTPS://A.ORG/Xy OR ASK Jo@A.ORG NOW", "en", "See HTTPS://A.ORG/Xy or ask Jo@A.ORG now"),
        ("İSTANBUL STRAßE", "tr", "İstanbul straße"),
        ("ǄEP ǄEPOVA", "hr", "ǅep ǆepova"),
        ("ᲗᲑᲘᲚᲘᲡᲘ", "ka", "თბილისი"),
        ("东京 HELLO", "zh", "东京 Hello"),
        ("Ⓐ TEST", "en", "Ⓐ Test"),
        ("ΟΔΟΣ ΑΘΗΝΑΣ, ΣΟΣ!", "el", "Οδος αθηνας, σος!"),
    ],
)
def test_sentence_case(text: str, language: str, expected: str) -> None:
    assert sentence_case(text, language) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("J'ai l'œil sur l'été, ça va.", "J'AI L'ŒIL SUR L'ÉTÉ, ÇA VA."),
        ("straße, 5 µm, nº 3, ﬁn", "STRAßE, 5 µM, Nº 3, ﬁN"),
        ("ǅep, καλός", "ǄEP, ΚΑΛΌΣ"),
        ("voir https://a.org/x, ou jo@a.org", "VOIR https://a.org/x, OU jo@a.org"),
        ("你好 ⓐ ⅷ", "你好 ⓐ ⅷ"),
    ],
)
def test_capitals(text: str, expected: str) -> None:
    assert capitals(text) == expected


@given(text=TEXT, language=st.sampled_from(["en", "fr", "xx"]))
def test_no_form_has_another_length(text: str, language: str) -> None:
    for form in (sentence_case(text, language), capitals(text), as_read(text, language)):
        assert len(form) == len(text)
        for before, after in zip(text, form, strict=True):
            if unicodedata.category(before) not in ("Lu", "Ll", "Lt"):
                assert before == after


@given(text=TEXT, language=st.sampled_from(["en", "fr", "xx"]))
def test_each_form_is_reached_at_once(text: str, language: str) -> None:
    raised = capitals(text)
    assert capitals(raised) == raised
    assert has_only_capitals(raised) == (raised != text or has_only_capitals(text))
    small = sentence_case(text, language)
    assert sentence_case(small, language) == small


def same_but_text(one: TokenisedText, other: TokenisedText) -> None:
    assert one.tokens == other.tokens
    assert [(word.span, word.tokens) for word in one.words] == [(word.span, word.tokens) for word in other.words]
    assert [one.text[slice(*word.span)] for word in one.words] == [word.text for word in one.words]


def test_pieces_are_what_the_model_has_and_words_what_the_reader_sees(tokenizer: Tokenizer) -> None:
    text = "L’E\u0301TE\u0301  EST FINI, N'EST-CE PAS ?"
    found = source_tokens(tokenizer, text, "fr", "en")
    assert found.text == text
    same_but_text(found, source_tokens(tokenizer, "L’e\u0301te\u0301  est fini, n'est-ce pas ?", "fr", "en"))
    assert [token.id for token in found.tokens] == read_ids(tokenizer, text, "fr", "en")
    assert read_ids(tokenizer, text, "fr", "en") == tokenizer.encode_source("L'été est fini, n'est-ce pas ?", "en")
    assert [word.text for word in found.words][:3] == ["L’", "E\u0301TE\u0301", "EST"]


def test_an_acronym_alone_is_read_as_it_stands(tokenizer: Tokenizer) -> None:
    assert read_ids(tokenizer, "USA", "en", "fr") == tokenizer.encode_source("USA", "fr")


@given(ids=st.lists(st.integers(0, 7_999) | st.integers(6, 261), max_size=30))
def test_a_raised_translation_has_the_spans_of_the_written_one(tokenizer: Tokenizer, ids: list[int]) -> None:
    raised = target_tokens(tokenizer, ids, "fr", recased=True)
    assert raised.text == written_text(tokenizer, ids, recased=True) == capitals(tokenizer.decode(ids))
    same_but_text(raised, target_tokens(tokenizer, ids, "fr"))


def test_a_given_translation_is_read_in_small_letters_where_the_source_is(tokenizer: Tokenizer) -> None:
    def read(text: str, recased: bool) -> str:
        found = given_tokens(tokenizer, text, "fr", recased)
        assert found.text == text
        return tokenizer.decode([token.id for token in found.tokens])

    assert read("C'EST ÇA.", recased=True) == "C'est ça."
    assert read("OUI", recased=True) == "Oui"
    assert read("C'EST ÇA.", recased=False) == "C'EST ÇA."
    assert read("C'est Tom.", recased=True) == "C'est Tom."


@given(TEXT)
def test_a_sentence_is_judged_as_it_is_read(text: str) -> None:
    assert stands_in_capitals(text) == stands_in_capitals(normalise(text))


@pytest.mark.parametrize("text", ["L\u2019E\u0301TE\u0301", "L'ÉTÉ", "L\u02bcE\u0301\u00adTÉ"])
def test_accents_and_apostrophes_are_judged_alike(text: str) -> None:
    assert stands_in_capitals(text)


def test_acronyms_stay_in_capitals_where_a_sentence_is_read_in_small_letters() -> None:
    assert as_read("THE USA AND THE UK CALLED US ON TV, OK?", "en") == "The USA and the UK called us on TV, OK?"
    assert as_read("LE TGV DE L'ONU PART DE SAINT-EUSTACHE", "fr") == "Le TGV de l'ONU part de saint-eustache"
