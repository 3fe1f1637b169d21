import re

import pytest

from app.engine.step_model import ModelLimits
from app.errors import InvalidInput, TooLarge
from app.explanation import ExplainRequest, ExplanationRequest
from app.pairing import pair_texts
from app.settings import Settings
from app.text.tokenizer import TOKENIZER_FILE, Tokenizer

LIMITS = ModelLimits(vocab_size=8_000, source_len=20, target_len=20, bos_id=1, eos_id=2)
LONG = "The cat sleeps on the old chair in the sun"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(Settings().model / TOKENIZER_FILE)


def test_a_translation_in_words_of_a_text_without_letters_is_scored(tokenizer: Tokenizer) -> None:
    wanted = ExplanationRequest(None, alignment=True)
    for target_text, finish in (("deux mille", "forced"), ("2024", "copied")):
        request = ExplainRequest("2024", "en", "fr", target_text, wanted)
        (pair,) = pair_texts(request, tokenizer, LIMITS).pairs
        assert pair.finish_reason == finish
        assert pair.target is not None
        assert bool(pair.target.tokens) is (finish == "forced")


def test_a_translation_of_a_blank_text_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(InvalidInput, match=r"^text: is blank, target_text is not"):
        paired(tokenizer, " \n", "Le chat dort.")
    assert paired(tokenizer, " \n", " ") == []


def paired(tokenizer: Tokenizer, text: str, target_text: str) -> list[tuple[str, str]]:
    request = ExplainRequest(text, "en", "fr", target_text, ExplanationRequest(None, alignment=True))
    found = pair_texts(request, tokenizer, LIMITS)
    for pair in found.pairs:
        assert pair.target is not None
        assert (text[slice(*pair.source_span)], target_text[slice(*pair.target_span)]) == (
            pair.source.text,
            pair.target.text,
        )
    return [(pair.source.text, pair.target.text) for pair in found.pairs if pair.target]


@pytest.mark.parametrize(
    ("text", "target_text", "expected"),
    [
        # As many sentences, whatever the lines.
        ("One. Two.\nThree.", "Un.\nDeux.\nTrois.", [("One.", "Un."), ("Two.", "Deux."), ("Three.", "Trois.")]),
        # A dash that only one side has belongs to its sentence, one that both have stands alone.
        (
            "He is here. She too.",
            "— Il est ici et elle aussi.",
            [("He is here. She too.", "— Il est ici et elle aussi.")],
        ),
        (
            "Yes, he said. Then he left.",
            "— Oui, dit-il. Puis il partit.",
            [("Yes, he said.", "— Oui, dit-il."), ("Then he left.", "Puis il partit.")],
        ),
        # So does an emoji, to the sentence before it where none is after it.
        (
            "I love pizza 🍕",
            "J'adore ça. Vraiment.",
            [("I love pizza 🍕", "J'adore ça. Vraiment.")],
        ),
        ("Hello. And you 😀", "Bonjour. Et toi ?", [("Hello.", "Bonjour."), ("And you 😀", "Et toi ?")]),
        (
            "Hi! 🎉 I am Tom.",
            "Salut ! Je suis Tom 🎉",
            [("Hi!", "Salut !"), ("🎉 I am Tom.", "Je suis Tom 🎉")],
        ),
        ("Hi 🎉", "Salut 🎉", [("Hi", "Salut"), ("🎉", "🎉")]),
        ("- Milk\n- Bread", "- Lait\n- Pain", [("-", "-"), ("Milk", "Lait"), ("-", "-"), ("Bread", "Pain")]),
        ("Milk\n5\nBread", "- Lait\n5\n- Pain", [("Milk", "- Lait"), ("5", "5"), ("Bread", "- Pain")]),
        # As many lines: each is paired on its own, blank ones do not count.
        (
            "\n One. Two.\n\nThree.  Four.\n",
            "Un, deux.\u2028 \r\nTrois. Quatre.",
            [("One. Two.", "Un, deux."), ("Three.", "Trois."), ("Four.", "Quatre.")],
        ),
        # Neither: one pair.
        ("One. Two.\nThree.", "Un, deux.", [("One. Two.\nThree.", "Un, deux.")]),
        (" One. Two. ", " Un, deux.", [("One. Two.", "Un, deux.")]),
        ("One.", "", [("One.", "")]),
        # Together too long for one pair, by lines they are not.
        (f"{LONG}.\nOne. Two.", f"{LONG}.\nUn, deux.", [(f"{LONG}.", f"{LONG}."), ("One. Two.", "Un, deux.")]),
    ],
)
def test_sentences_are_paired_else_lines_else_all(
    tokenizer: Tokenizer, text: str, target_text: str, expected: list[tuple[str, str]]
) -> None:
    assert paired(tokenizer, text, target_text) == expected


@pytest.mark.parametrize(
    ("text", "target_text", "message", "limit", "value"),
    [
        (f"{LONG}. {LONG}.", "Un.", "target_text: has 1 sentences, text has 2, ", 2, 1),
        (f"One.\n{LONG}. {LONG}.", "Un.\nDeux.", "target_text: line 2 has 1 sentences, that of text has 2, ", 2, 1),
        (f"{LONG}. {LONG}.\nOne.", "Un.", "target_text: has 1 sentences, text has 3, ", 3, 1),
        (
            f"{LONG} and {LONG}.",
            "Un.",
            "target_text: has 1 sentences, text has 2, cut where they were too long; ",
            2,
            1,
        ),
    ],
)
def test_what_is_too_long_to_be_one_pair_is_told(
    tokenizer: Tokenizer, text: str, target_text: str, message: str, limit: int, value: int
) -> None:
    with pytest.raises(InvalidInput, match=r"or as many lines$") as caught:
        paired(tokenizer, text, target_text)
    error = caught.value
    assert str(error).startswith(message)
    assert re.search(r"as one it has \d+ pieces in en, the model takes 20:", str(error))
    assert (error.field, error.limit, error.value) == ("target_text", limit, value)


def test_a_translation_that_is_too_long_to_be_one_pair_is_told_too(tokenizer: Tokenizer) -> None:
    with pytest.raises(InvalidInput, match=r"has 2 sentences.* pieces in fr, the model takes 19: "):
        paired(tokenizer, "One.", f"{LONG}. {LONG}.")


def test_a_translation_in_capitals_is_as_long_as_it_is_read(tokenizer: Tokenizer) -> None:
    capitals = "LE CHAT DORT SUR LA VIEILLE CHAISE AU SOLEIL."
    assert len(tokenizer.encode(capitals)) > LIMITS.target_len
    assert paired(tokenizer, f"{LONG}.".upper(), capitals) == [(f"{LONG}.".upper(), capitals)]
    # Below a source in small letters it is read as it stands.
    with pytest.raises(TooLarge, match=r"target_text: a sentence of \d+ pieces, the model writes at most 19"):
        paired(tokenizer, f"{LONG}.", capitals)


@pytest.mark.parametrize(
    ("text", "target_text", "read"),
    [
        ("YES, SIR!", "OUI !", "Oui !"),
        ("YES, SIR!", "Oui !", "Oui !"),
        ("OK", "D'ACCORD", "D'ACCORD"),
        ("Yes, sir!", "OUI, MONSIEUR !", "OUI, MONSIEUR !"),
    ],
)
def test_a_given_translation_is_read_in_small_letters_where_its_source_is(
    tokenizer: Tokenizer, text: str, target_text: str, read: str
) -> None:
    request = ExplainRequest(text, "en", "fr", target_text, ExplanationRequest(None, alignment=True))
    (pair,) = pair_texts(request, tokenizer, LIMITS).pairs
    assert pair.target is not None
    assert pair.target.text == target_text
    assert tokenizer.decode([token.id for token in pair.target.tokens]) == read
