import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.segments import is_translatable, join
from app.text.split import Sentence, split


def everything_fits(_: str) -> bool:
    return True


def at_most(length: int) -> Callable[[str], bool]:
    return lambda text: len(text) <= length


def texts(text: str, language: str = "en", fits: Callable[[str], bool] = everything_fits) -> list[str]:
    return [sentence.text for sentence in split(text, language, fits)]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "He left. She stayed.", ["He left.", "She stayed."]),
        ("en", "Mr. Smith met Dr. Jones. They talked.", ["Mr. Smith met Dr. Jones.", "They talked."]),
        ("en", "Fruit, e.g. Apples, at 5 p.m. today. Yes.", ["Fruit, e.g. Apples, at 5 p.m. today.", "Yes."]),
        ("en", "J. R. R. Tolkien wrote it.", ["J. R. R. Tolkien wrote it."]),
        ("en", "It costs $3.50. Cheap!", ["It costs $3.50.", "Cheap!"]),
        ("en", "What?! No way. Wait... what?", ["What?!", "No way.", "Wait... what?"]),
        ("en", 'He said "Stop. Now." Then he left.', ['He said "Stop. Now."', "Then he left."]),
        ("fr", "M. Dupont est parti. Mme. Curie reste.", ["M. Dupont est parti.", "Mme. Curie reste."]),
        ("fr", "Le Dr. Blanc a vu A. Camus. Oui.", ["Le Dr. Blanc a vu A. Camus.", "Oui."]),
        ("fr", "Le St. Laurent et le prof. Blanc. Oui.", ["Le St. Laurent et le prof. Blanc.", "Oui."]),
        ("fr", "Du 3 janv. 2020 au 5 déc. 2021, env. 5 kg.", ["Du 3 janv. 2020 au 5 déc. 2021, env. 5 kg."]),
        ("en", "It costs approx. 5 kg. See Eq. 4. Yes.", ["It costs approx. 5 kg.", "See Eq. 4.", "Yes."]),
        ("fr", "En 52 av. J.-C. à Alésia. Puis rien.", ["En 52 av. J.-C. à Alésia.", "Puis rien."]),
        ("fr", "« Ça va ? » Oui. « Non. »", ["« Ça va ? »", "Oui.", "« Non. »"]),
        ("fr", "Le lun. 3 mars, du mar. au ven. de 9h à 18h.", ["Le lun. 3 mars, du mar. au ven. de 9h à 18h."]),
        ("fr", "J'aime la mer. Elle est belle.", ["J'aime la mer.", "Elle est belle."]),
        ("fr", "Prenez le bd. Voltaire. Réf. : AB-12, no. 5.", ["Prenez le bd. Voltaire.", "Réf. : AB-12, no. 5."]),
        ("en", "Open Sat. and Sun. at max. speed.", ["Open Sat. and Sun. at max. speed."]),
        ("en", "Enjoy the Sun. Then go.", ["Enjoy the Sun.", "Then go."]),
        ("fr", "Vraiment\u202f?!\u00a0Oui\u00a0!", ["Vraiment\u202f?!", "Oui\u00a0!"]),
        ("xx", "One. Two.", ["One.", "Two."]),
    ],
)
def test_sentences(language: str, text: str, expected: list[str]) -> None:
    assert texts(text, language) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\n \r\n", []),
        ("\n\n A.\n\n\nB \n", ["A.", "B"]),
        (
            "one\r\ntwo\rthree\u2028four\u2029five\x85six\vseven",
            ["one", "two", "three", "four", "five", "six", "seven"],
        ),
        ("\u00a0Yes.\u00a0No.\u00a0", ["Yes.", "No."]),
        ("NUL \0 inside. Next.", ["NUL \0 inside.", "Next."]),
        ("\0", ["\0"]),
        ("Fine 😀! Next 👩🏽‍🚀.", ["Fine 😀!", "Next 👩🏽‍🚀."]),
        ("See https://a.example/b.C?d=E.F!g and go. Now.", ["See https://a.example/b.C?d=E.F!g and go.", "Now."]),
        ("Mail Jo.Doe@Example.Org today. OK.", ["Mail Jo.Doe@Example.Org today.", "OK."]),
        ("12 345,67 and 3.14. Then 10%.", ["12 345,67 and 3.14.", "Then 10%."]),
        ("你好。Hello Москва. Γειά!", ["你好。", "Hello Москва.", "Γειά!"]),
    ],
)
def test_lines_symbols_and_scripts(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Name\tThe city\t42\tParis.", ["Name", "The city", "42", "Paris."]),
        ("\t\tIndented.\tThen this.\t", ["Indented.", "Then this."]),
        ("Name:    John Smith   here", ["Name:", "John Smith", "here"]),
        ("     Indented.  Two spaces  inside.", ["Indented.", "Two spaces  inside."]),
        ("1.\tOpen\n-\tMilk", ["1.", "Open", "-", "Milk"]),
        ("| Name | The age |", ["|", "Name", "|", "The age", "|"]),
        ("| --- | --- |", ["|", "---", "|", "---", "|"]),
        ("The cat. It sleeps | a dog", ["The cat.", "It sleeps", "|", "a dog"]),
        ("a|b and c || d", ["a|b and c", "||", "d"]),
        ("|Name|The age|", ["|", "Name", "|", "The age", "|"]),
        ("|a\\|b|c|", ["|", "a\\|b", "|", "c", "|"]),
        (
            "<ul><li>Milk</li> <li>Two <b>eggs</b></li></ul>",
            ["<ul><li>", "Milk", "</li> <li>", "Two <b>eggs</b>", "</li></ul>"],
        ),
        ('<p class="a b">One. Two.<br>Three</p>', ['<p class="a b">', "One.", "Two.", "<br>", "Three", "</p>"]),
    ],
)
def test_columns_are_translated_one_by_one(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- Milk", ["-", "Milk"]),
        ("  * Buy bread.  Then go.", ["*", "Buy bread.", "Then go."]),
        ("1. Open the window.", ["1.", "Open the window."]),
        ("2.1) Open", ["2.1)", "Open"]),
        ("(3) Open\n[4] Close", ["(3)", "Open", "[4]", "Close"]),
        ("## Installation", ["##", "Installation"]),
        ("> > Did you see it?", ["> >", "Did you see it?"]),
        ("— Oui, dit-il.", ["—", "Oui, dit-il."]),
        ("👉🏽 Click here", ["👉🏽", "Click here"]),
        ("•\u00a0Milk", ["•", "Milk"]),
        ("· Milk", ["·", "Milk"]),
        ("1\ufe0f\u20e3 First step", ["1\ufe0f\u20e3", "First step"]),
        ("👩🏽‍❤️‍💋‍👨🏿 kiss", ["👩🏽‍❤️‍💋‍👨🏿", "kiss"]),
        (
            "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f Hi",
            ["🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "Hi"],
        ),
        ("- [ ] Buy milk", ["- [ ]", "Buy milk"]),
        ("* [x] Done", ["* [x]", "Done"]),
        ("1.2.3 Eight.", ["1.2.3", "Eight."]),
        ("‼️ Close the door.", ["‼️", "Close the door."]),
        ("ℹ️ Note", ["ℹ️", "Note"]),
        ("a) Open", ["a)", "Open"]),
        ("(iv) Open\nxi. Close\n1°) Fermez", ["(iv)", "Open", "xi.", "Close", "1°)", "Fermez"]),
        ("•Milk", ["•", "Milk"]),
        (">Hello there", [">", "Hello there"]),
        ("J. Dupont is here.", ["J. Dupont is here."]),
        ("- 5", ["- 5"]),
        ("* * *", ["* * *"]),
        ("-- https://example.org", ["-- https://example.org"]),
        ("-Milk", ["-Milk"]),
        ("#hashtag first", ["#hashtag first"]),
        ("3.5 million people", ["3.5 million people"]),
        ("2026 was good", ["2026 was good"]),
        ("« Oui », dit-il.", ["« Oui », dit-il."]),
        ("Milk - bread", ["Milk - bread"]),
        ("...and then", ["...and then"]),
    ],
)
def test_a_mark_that_begins_a_line_stands_alone(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I love pizza 🍕🍕", ["I love pizza", "🍕🍕"]),
        ("I love it! 🍕 🍕 Do you?", ["I love it!", "🍕 🍕", "Do you?"]),
        ("👉Click here", ["👉", "Click here"]),
        ("Good 👨‍💻", ["Good", "👨‍💻"]),
        ("Vive la France ! 🇫🇷", ["Vive la France !", "🇫🇷"]),
        ("🎉🎉 Hooray ❤️ ✅", ["🎉🎉", "Hooray", "❤️ ✅"]),
        ("Go 🏴󠁧󠁢󠁿", ["Go", "🏴󠁧󠁢󠁿"]),
        ("I ❤️ you.", ["I ❤️ you."]),
        ("Step 1\ufe0f\u20e3 🎉", ["Step 1\ufe0f\u20e3", "🎉"]),
        ("Vitrail©\ufe0f 🎉", ["Vitrail©\ufe0f", "🎉"]),
        ("Vitrail™\ufe0f🎉", ["Vitrail™\ufe0f", "🎉"]),
        ("Vitrail©\ufe0f", ["Vitrail©\ufe0f"]),
        ("☎ 01 23", ["☎ 01 23"]),
        ("👉https://example.org/the-red-car", ["👉https://example.org/the-red-car"]),
        ("👉1) Click here", ["👉1)", "Click here"]),
        ("🎉1\ufe0f\u20e3 First step", ["🎉1\ufe0f\u20e3", "First step"]),
        ("Thanks!😀😀 See you.", ["Thanks!", "😀😀", "See you."]),
        ("She said ❝Hello❞", ["She said ❝Hello❞"]),
        ("She plays the 🎸", ["She plays the 🎸"]),
        ("The best 🍕 in the 🌍", ["The best 🍕 in the 🌍"]),
        ("Breathe 🎸", ["Breathe", "🎸"]),
    ],
)
def test_emoji_at_either_end_of_a_sentence_stand_alone(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize("text", ["Elle joue de la 🎸", "J'aime l'🐘", "Ton chat et ton 🐕", "Je viens des 🌍🌍"])
def test_emoji_that_stand_for_a_noun_belong_to_their_sentence(text: str) -> None:
    assert texts(text, "fr") == [text]
    assert texts(f"{text} là 🎉", "fr") == [f"{text} là", "🎉"]


@pytest.mark.parametrize("space", ["\u00a0", "\u202f", "\u2009", "\u3000"])
def test_a_capital_letter_and_a_full_stop_after_any_space(space: str) -> None:
    assert texts(f"plan B{space}. Then C.") == [f"plan B{space}.", "Then C."]


def test_spans_are_code_point_offsets() -> None:
    assert split("😀 Hi.\n  Yo ", "en", everything_fits) == [
        Sentence("😀", (0, 1)),
        Sentence("Hi.", (2, 5)),
        Sentence("Yo", (8, 10)),
    ]


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("aaa bbb, ccc ddd", 10, ["aaa bbb,", "ccc ddd"]),
        ("aaa: bbb, ccc ddd", 10, ["aaa: bbb,", "ccc ddd"]),
        ("aaa bbb; ccc, d eee", 15, ["aaa bbb;", "ccc, d eee"]),
        ("aaa bbb ccc", 5, ["aaa", "bbb", "ccc"]),
        ("aaaabbbbcc", 4, ["aaaa", "bbbb", "cc"]),
        ("ae\u0301e\u0301e\u0301", 4, ["ae\u0301", "e\u0301e\u0301"]),
        ("x👩🏽‍🚀👩🏽‍🚀y", 6, ["x👩🏽‍🚀", "👩🏽‍🚀y"]),
        ("e" + "\u0301" * 5, 2, ["e\u0301", "\u0301\u0301", "\u0301\u0301"]),
    ],
)
def test_long_sentence_is_cut_at_the_best_place(text: str, length: int, expected: list[str]) -> None:
    assert texts(text, fits=at_most(length)) == expected


def test_nothing_fits() -> None:
    assert texts("ab c", fits=lambda _: False) == ["a", "b", "c"]


@pytest.mark.parametrize("emoji", ["⏰", "▶️", "↗️", "㊗️", "⏭️", "⌚", "‼️", "◀", "Ⓜ️"])
def test_all_kinds_of_emoji_are_copied(emoji: str) -> None:
    assert texts(f"See you at noon {emoji}") == ["See you at noon", emoji]
    assert not any(sentence.startswith("\ufe0f") for sentence in texts(f"Wow {emoji} Great {emoji} Look at this."))


def test_what_is_copied_is_not_cut() -> None:
    address = "https://example.org/" + "a" * 5_000
    assert texts(f"{address}\n{'1' * 5_000}", fits=at_most(10)) == [address, "1" * 5_000]


def test_an_address_that_is_too_long_is_a_part_of_its_own() -> None:
    address = "https://example.org/" + "a" * 50
    text = f"Click here, please: {address} or write to me."
    assert texts(text, fits=at_most(40)) == ["Click here, please:", address, "or write to me."]
    assert texts(f"So see {address}", fits=at_most(40)) == ["So see", address]
    short = "See www.a.org/b and go on from there to the sea."
    assert "See www.a.org/b" in texts(short, fits=at_most(20))


def test_every_part_fits_also_where_halving_makes_more_pieces() -> None:
    def fits(text: str) -> bool:
        return len(text) <= 60 and not (20 <= len(text) < 50)

    parts = texts("A_" * 25 + "B " + "c" * 200, fits=fits)
    assert all(map(fits, parts))
    assert "".join(parts) == "A_" * 25 + "B" + "c" * 200


def test_shorter_texts_may_fit_less() -> None:
    def no_odd_lengths(text: str) -> bool:
        return len(text) <= 20 and len(text) % 2 == 0

    parts = texts("ab cde, fgh. " * 20, fits=no_odd_lengths)
    assert "".join(parts).replace(" ", "") == "abcde,fgh." * 20


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "ab, " * 25_000,
        "« " * 50_000,
        "Hello there. " * 7_500,
        "(" * 100_000,
        "a\u0301" * 50_000,
        "a" + "\u0301" * 99_999,
        "a\n" * 50_000,
    ],
)
def test_long_input_costs_a_bounded_amount_of_tokenizing(text: str) -> None:
    seen = 0

    def fits(part: str) -> bool:
        nonlocal seen
        seen += len(part)
        return len(part) <= 500

    sentences = split(text, "fr", fits)
    assert all(not is_translatable(sentence.text) or len(sentence.text) <= 500 for sentence in sentences)
    assert seen <= 20 * len(text)


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
TEXT_WITH_STRUCTURE = st.text(
    st.sampled_from("aAé😀\u0301\u200d .!?,;«»\"'()\n\r\u2028\u00a0\0" + "1。-*#"), max_size=300
)


@given(ANY_TEXT | TEXT_WITH_STRUCTURE, st.sampled_from(["en", "fr", "zh"]), st.integers(1, 40))
def test_split_and_join_is_the_identity(text: str, language: str, length: int) -> None:
    sentences = split(text, language, at_most(length))
    spans = [sentence.span for sentence in sentences]
    assert join(text, spans, [sentence.text for sentence in sentences]) == (text, tuple(spans))
    assert all(sentence.text == text[slice(*sentence.span)] for sentence in sentences)
    assert "".join("".join(sentence.text.split()) for sentence in sentences) == "".join(text.split())
    assert not any(len(sentence.text.splitlines()) > 1 for sentence in sentences)


@given(ANY_TEXT | TEXT_WITH_STRUCTURE, st.randoms(use_true_random=False))
def test_replacing_sentences_keeps_every_line(text: str, chance: random.Random) -> None:
    spans = [sentence.span for sentence in split(text, "en", everything_fits)]
    replacements = ["x" * chance.randint(1, 5) for _ in spans]  # nothing between \r and \n would join them
    joined, target_spans = join(text, spans, replacements)
    assert [joined[slice(*span)] for span in target_spans] == replacements
    assert len((joined + ".").splitlines()) == len((text + ".").splitlines())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "See:\n```python\nprint('Hello')\n\n# Stop. Now.\n```\nDone.",
            ["See:", "```python\nprint('Hello')\n\n# Stop. Now.\n```", "Done."],
        ),
        ("~~~\na\n```\nb\n~~~", ["~~~\na\n```\nb\n~~~"]),
        ("````\n```\na\n```\n````\nb", ["````\n```\na\n```\n````", "b"]),
        ("- ```\r\n  a b\r\n  ```\r\n- Milk", ["- ```\r\n  a b\r\n  ```", "-", "Milk"]),
        ("```\nNothing closes this.", ["```", "Nothing closes this."]),
        ("```js\na\n```\n\n```\nb\n```", ["```js\na\n```", "```\nb\n```"]),
    ],
)
def test_code_between_fences_is_one_and_copied(text: str, expected: list[str]) -> None:
    found = texts(text)
    assert found == expected
    assert [is_translatable(one) for one in found if "```" in one or "~~~" in one] == [False] * sum(
        "```" in one or "~~~" in one for one in expected
    )


@pytest.mark.parametrize("mark", ["a)", "(b)", "iv.", "- [x]", "1°)", "* a)", "IV)"])
def test_marks_alone_are_copied(mark: str) -> None:
    assert not is_translatable(mark)
    assert is_translatable(f"{mark} cat")
