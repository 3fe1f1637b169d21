"""Parts that are kept: which they are, that the model has one piece for each, and that none is ever lost."""

import asyncio
import string
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.step_model import ModelLimits
from app.explanation import ExplainRequest, ExplanationRequest
from app.pairing import pair_texts
from app.reading import read_text
from app.streaming import Progress
from app.text.capitals import stands_in_capitals
from app.text.kept import KeptPart, absent_from, kept_spans, take_out
from app.text.normalise import normalise
from app.text.tokenizer import KEPT_PIECES, Tokenizer
from app.text.tokens import given_tokens, is_read, kept_parts, read_ids, source_tokens, target_tokens, written_text
from app.translation import TranslateRequest
from tests.scripted_world import World

PARTS = st.sampled_from(
    ["https://a.org/b?c=1", "me@a.org", "{name}", "<b>", "</b>", "%s", "東京", "x_y", "🍕", "#4711"]
)
TEXTS = st.lists(PARTS | st.sampled_from(["the", "L’été", "e\u0301", ",", ".", "(", " ", "  ", "\ue000", "NON"])).map(
    "".join
)
SENTENCE = 'Write to <b>Ann</b> (ann@a.org), see https://a.org/b. Or ask <a href="x y">東京 大阪</a>!'
KEPT = ("<b>", "</b>", "ann@a.org", "https://a.org/b", '<a href="x y">', "東京 大阪", "</a>")


@pytest.fixture(scope="module")
def tokenizer(tiny_tokenizer: Path) -> Tokenizer:
    return Tokenizer(tiny_tokenizer)


def texts(parts: Sequence[KeptPart]) -> tuple[str, ...]:
    return tuple(part.text for part in parts)


# What a small vocabulary has pieces for.
KNOWN = frozenset(string.ascii_letters + "éèàçœ’´«»–—“”")


def found_in(text: str) -> list[str]:
    return [text[slice(*span)] for span in kept_spans(text, KNOWN.__contains__)]


@pytest.mark.parametrize(
    "part",
    [
        *("https://www.example.com/a?b=c#d", "http://localhost:8000/x_(y)", "www.example.fr", "mailto:a@b.org"),
        *("https://fr.wikipedia.org/wiki/L'Équipe_(journal)", "https://x.org/?t=YWJj==", "https://x.org/a(b)_(c)/"),
        *(
            "jean.dupont@example.org",
            "example.com",
            "docs.example.io/start",
            "vitrail.fr",
            "Example.Com",
            "EXAMPLE.COM",
        ),
        *("example.com:8080/path", "example.com?x=1", "example.com#top", "t.me/foo", "bit.ly/x1", "192.168.0.1:8080"),
        *("<b>", "</p>", "<br/>", '<a href="x y">', "<img src=a alt='b c'>", "<my-tag on='a'>", "&nbsp;", "&#8217;"),
        *("{name}", "{0}", "{}", "{{ user.name }}", "{{ a.b | upper }}", "{x:.2f}", "${total}", "%{count}", "%s", "%d"),
        *("%1$s", "%(name)s", "%.2f", "$HOME"),
        *("/usr/local/bin", "~/a/b.txt", "../x/y", "C:\\Users\\me", "report-2.pdf", "src/app/main.py", "README.TXT"),
        *("call()", "a.b.call()", "snake_case", "MAX_SIZE", "getElementById", "fetchAll", "innerHTML", "--out-dir=x/y"),
        *("@jean", "@Jean-Paul", "@angular/core", "#vitrail", "#Saint-Étienne", "#4711", "@rene\u0301"),
        *("AB-4471", "A123", "XR2000-B7", "deadbeef12", "2.0.1", "v1.2.3", "V1.2.3", "192.168.0.1"),
        *(
            "05 34 71 00 54",
            "16 16 57 88 89",
            "05.34.71.00.54",
            "+33 6 12 34 56 78",
            "(555) 123-4567",
            "555-123-4567",
            "33833",
        ),
        *("+1 (212) 555-0199", "4111 1111 1111 1111", "FR76 3000 6000 0112 3456 7890 189", "2001:db8:0:1::5"),
        *(
            "00:1b:44:11:3a:b7",
            "\\cite{smith2020}",
            "$x^2 + 1$",
            "{% if a %}",
            "{{#if a}}",
            "{\\an8}",
            "[b]",
            "__init__",
        ),
        *("____", "......", "[ ]", "<!-- a b -->", "<details open>", "<article>"),
        *("4821-33071", "123e4567-e89b-12d3-a456-426614174000", "`git push --force`"),
        *("Привет", "東京 大阪", "🍕🍕", "👩‍🚀", "👍🏽", "→", "🏴\U000e0067\U000e0062\U000e007f", "ภาษา\u200bไทย"),
    ],
)
def test_parts_that_are_kept(part: str) -> None:
    assert found_in(part) == [part]
    assert found_in(f"See {part}, please.") == [part]
    assert found_in(f"« {part} »") == [part]


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5, or 1.000.000 for 12,5 % of 1,250,000; 50 % d'eau, 100%sure, 3.14 km/h and/or 1/2, 10 $CA.",
        "The 3rd of 1980s COVID-19 B2B WW2 mp3 at 10am on the 22/11/2026, U.S.A., e.g. J. R. R. Tolkien, etc.",
        "He left --and never came back -- so it goes. McDonald has an iPhone; R&D, AT&T, a < b > c, <3, x @ y.",
        "L’été à « Israël » œuvre; naïve e\u0301te\u0301 ÇA ÉTÉ L’ŒUVRE… 5 €, £6, • one",
        "Number #1 and 1234 people in 2026 paid €50 or 50 €, EUR500,000 or USD1500.50, up 12.5 %, +10.50 %.",
        "J`ai vu l`homme. ``the cat'' and ``the dog'' l´été, *Note: see *, 2 * 3 * 4, price* and tax*",
        "end.it parti.de là c'est.net M.de Villiers vais.ca p.m.de etc.de late.be c'est.info j'ai.eu",
        "\\section a\\nworld, and\\or, 10 €/jour/personne, 150 €/m²/an, ami(e)/copain/copine, un(e)/des/les",
        "Les auteurEs, endWe, heWent, leMonde. <<Bonjour>> <rires> --well-known --est-ce que.",
        "in 1990-1995 and 2007-2013, 12:30:45, apples@1.50 each, 2500000e, 1000000f, the crème &Gabbana; le %d'eau",
    ],
)
def test_what_is_translated(text: str) -> None:
    assert found_in(text) == ["²"] * text.count("²")


@pytest.mark.parametrize(
    "text",
    [
        *(seed * 9_000 for seed in ("a", "_", "a.", "a-", "<a ", "<a b=c ", "/a", "0", "0 ", "{", "+1 ", "a@", "1.1.")),
        *(seed * 9_000 for seed in ("A1", "\\", "_a", "Ab", "a://", "www.", "中 ", "中", "f1", "&#", "%1", "`", "{a|")),
        *(
            seed * 9_000
            for seed in ("a/", "a.a/", "-A1111", "(a", "a://(", "a://a(", "`a", "@a-", "{a.", "<b", "aBc", "+1-")
        ),
        *(
            seed * 9_000
            for seed in ("*a", "**a ", "_a ", "~~a", "{%", "{{#", "{\\a", "\\cite{", "$a_", "[b=", "[", "<!--")
        ),
        *(
            seed * 9_000
            for seed in ("<script>", "```", "~~~\n", "```\na\n", "0:", "a::", "AB12 ", "1234 ", "a://[", "=", "( ")
        ),
        *(seed * 9_000 for seed in ("{a,select,b{", "}one{", "<p a", "</p>", "iv. ", "(a) ", "|", "| ", "<li> ")),
    ],
)
def test_crafted_texts_take_no_longer(text: str) -> None:
    started = time.process_time()
    kept_spans(text + "a", lambda _: False)
    # A quadratic pattern takes many seconds for these.
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("(voir https://x.org/a).", ["https://x.org/a"]),
        (
            "https://x.org/a—which, https://x.org/b’s and https://x.org/c…",
            ["https://x.org/a", "https://x.org/b", "https://x.org/c"],
        ),
        ("\\textbf{important} \\n", ["\\textbf{", "}", "\\n"]),
        ("[url=https://a.org/x]here[/url]", ["[url=https://a.org/x]", "[/url]"]),
        ("<https://a.org/x|the page>", ["https://a.org/x", "|"]),
        (
            "<p class=big hidden>a</p><!-- b c --><input required>",
            ["<p class=big hidden>", "</p>", "<!-- b c -->", "<input required>"],
        ),
        ("{n, plural, one {# cat} other {# cats}}", ["{n, plural, one {", "} other {", "}}"]),
        (
            "This is **very good**, *fine* and _so_; ~~not~~ **a `b*c` d**.",
            ["**", "**", "*", "*", "_", "_", "~~", "~~", "**", "`b*c`", "**"],
        ),
        ("10^6 | {1, 2} ~5", ["^", "|", "{", "}", "~"]),
        ("See § 12, 5 ‰, ₹500, „a“ and ‹b›", ["§", "‰", "₹", "„", "‹", "›"]),
        ("Žižek, Dvořák et Müller", ["Žižek", "Dvořák"]),
        ("<b>{name}</b>", ["<b>", "{name}", "</b>"]),
        ("See {n}old", ["{n}"]),
    ],
)
def test_where_parts_end(text: str, parts: list[str]) -> None:
    assert found_in(text) == parts


def test_each_part_is_one_piece(tokenizer: Tokenizer) -> None:
    assert tokenizer.pieces(tokenizer.kept_ids) == list(KEPT_PIECES)
    assert texts(kept_parts(tokenizer, SENTENCE)) == KEPT
    read = source_tokens(tokenizer, SENTENCE, "en", "fr")
    assert [token.id for token in read.tokens] == read_ids(tokenizer, SENTENCE, "en", "fr")
    parts = [token for token in read.tokens if token.id in tokenizer.kept_ids]
    assert tuple(token.piece for token in parts) == KEPT
    assert tuple(SENTENCE[slice(*token.span)] for token in parts if token.span) == KEPT
    assert [word.text for word in read.words][-3:] == ["東京 大阪", "</a>", "!"]


def test_equal_parts_share_a_piece_and_parts_beyond_the_eighth_are_spelled(tokenizer: Tokenizer) -> None:
    text = "{1} {2} {3} {1} {4} {5} {6} {7} {8} {9} {2} {10}"
    assert texts(kept_parts(tokenizer, text)) == tuple(text.replace("{9} ", "").split()[:-1])
    ids = [index for index in read_ids(tokenizer, text, "en", "fr") if index in tokenizer.kept_ids]
    assert [tokenizer.kept_ids.index(index) for index in ids] == [0, 1, 2, 0, 3, 4, 5, 6, 7, 1]


def test_what_was_left_out_stands_at_the_end(tokenizer: Tokenizer) -> None:
    kept = kept_parts(tokenizer, "le {a} chat {b} et {a}")
    ids = [tokenizer.kept_ids[1], *tokenizer.encode("le chat")]
    assert written_text(tokenizer, ids, False, kept) == "{b} le chat {a} {a}"
    assert target_tokens(tokenizer, ids, "fr", False, kept).text == "{b} le chat {a} {a}"
    # Nothing written: the sentence itself will stand there. A piece without a part is nothing.
    assert written_text(tokenizer, [], False, kept) == ""
    assert written_text(tokenizer, [tokenizer.kept_ids[7]], False, kept) == ""
    assert written_text(tokenizer, [tokenizer.kept_ids[7], *ids], False, kept) == "{b} le chat {a} {a}"


def test_what_was_written_too_often_stands_once(tokenizer: Tokenizer) -> None:
    kept = kept_parts(tokenizer, "the {a} cat <b>and</b>")
    first, opening, closing = tokenizer.kept_ids[:3]
    space = tokenizer.encode("x x")[-1:]
    le, chat = tokenizer.encode("le"), tokenizer.encode("chat")
    ids = [*le, *space, first, *chat, opening, *le, closing, *chat, closing, *space, first, *le]
    text = written_text(tokenizer, ids, False, kept)
    assert [text.count(part.text) for part in kept] == [1, 1, 1]
    assert "  " not in text
    found = target_tokens(tokenizer, ids, "fr", False, kept)
    assert found.text == text
    shown = [token.span for token in found.tokens if token.id in tokenizer.kept_ids]
    assert [text[slice(*span)] for span in shown if span] == ["{a}", "<b>", "</b>", "", ""]


def test_a_word_after_a_part_is_known_and_no_space_comes_of_it(tokenizer: Tokenizer) -> None:
    text = "The <b>cat</b>s and {n}old <b>chair</b> <i> dog <em>東京</em>"
    kept, ids = kept_parts(tokenizer, text), read_ids(tokenizer, text, "en", "fr")[1:-1]
    assert [part.glued for part in kept] == [True, False, False, True, False, False, False, False, False]
    apart = "The <b> cat</b>s and {n}old <b> chair</b> <i> dog <em>東京</em>"
    assert tokenizer.pieces(ids) == tokenizer.pieces(read_ids(tokenizer, apart, "en", "fr")[1:-1])
    assert written_text(tokenizer, ids, False, kept) == text
    found = source_tokens(tokenizer, text, "en", "fr")
    assert [word.text for word in found.words][:4] == ["The", "<b>", "cat", "</b>"]
    target = target_tokens(tokenizer, ids, "fr", False, kept)
    assert [(word.text, word.span) for word in target.words] == [(word.text, word.span) for word in found.words]


def test_a_space_goes_only_where_a_word_follows_a_tag(tokenizer: Tokenizer) -> None:
    kept = kept_parts(tokenizer, "The <b>cat</b>s, the `list`s and {n}old")
    tag, _, code, field = tokenizer.kept_ids[:4]
    space, cat = tokenizer.encode("x x")[-1:], tokenizer.encode("chat")
    assert written_text(tokenizer, [tag, *cat, code, *cat, field, *cat], False, kept[:1] + kept[2:]).startswith(
        "<b>chat"
    )
    for ids in ([tag, tag], [code, *cat], [tag, *tokenizer.encode(", le")]):
        assert " " in written_text(tokenizer, [*space, *ids], False, kept).strip()


def test_a_part_that_stood_apart_does_not_run_into_a_word(tokenizer: Tokenizer) -> None:
    kept = kept_parts(tokenizer, "L'adresse d'a@b.fr et x{n} et <b>le</b>")
    ids = [*tokenizer.encode("the"), tokenizer.kept_ids[0], *tokenizer.encode("le"), *tokenizer.kept_ids[1:4]]
    assert written_text(tokenizer, ids, False, kept) == "the a@b.fr le{n}<b></b>"
    found = target_tokens(tokenizer, ids, "en", False, kept)
    assert found.text == "the a@b.fr le{n}<b></b>"
    spans = {token.piece: token.span for token in found.tokens}
    assert {piece: found.text[slice(*span)] for piece, span in spans.items() if span and piece in texts(kept)} == {
        part: part for part in texts(kept)
    }
    assert found.words[0].text == "the"


def test_parts_of_capitals_stay_as_they_are(tokenizer: Tokenizer) -> None:
    text = "PLEASE OPEN https://a.org/Bc AND WRITE TO {user_name} NOW"
    kept = kept_parts(tokenizer, text)
    ids = read_ids(tokenizer, text, "en", "fr")[1:-1]
    assert tokenizer.decode(ids) == "Please open and write to now"
    assert written_text(tokenizer, ids, True, kept) == text
    files = "OPEN FILE.PDF AND README.TXT AT EXAMPLE.COM/ABC NOW"
    ids = read_ids(tokenizer, files, "en", "fr")[1:-1]
    assert written_text(tokenizer, ids, True, kept_parts(tokenizer, files)) == files


@given(TEXTS)
def test_nothing_is_lost_whatever_the_text(tokenizer: Tokenizer, text: str) -> None:
    kept, recased = kept_parts(tokenizer, text), stands_in_capitals(text)
    ids = read_ids(tokenizer, text, "en", "fr")[1:-1]
    repeated = written_text(tokenizer, ids, recased, kept)
    form = take_out(text, [])
    assert form.put_back() == text
    assert "".join(repeated.split()) == "".join(_normalised_around(tokenizer, text).split())
    assert target_tokens(tokenizer, ids, "fr", recased, kept).text == repeated
    if repeated == text and all(text.count(one) == texts(kept).count(one) for one in texts(kept)):
        assert [token.id for token in given_tokens(tokenizer, repeated, "fr", recased, kept).tokens][:-1] == ids


def _normalised_around(tokenizer: Tokenizer, text: str) -> str:
    """What comes back of ``text``: the parts as they are, the rest normalised."""
    parts = texts(kept_parts(tokenizer, text))
    spans, position = [], 0
    for part in parts:
        start = text.index(part, position)
        spans.append((start, start + len(part)))
        position = start + len(part)
    form = take_out(text, spans)
    return type(form)(normalise(form.text), form.stand_in, form.parts).put_back()


def test_a_stand_in_is_new_to_its_text() -> None:
    text = "".join(map(chr, range(0xE000, 0xF900)))
    assert absent_from(text) == "\U000f0000"
    form = take_out(f"{text}{{a}}", [(len(text), len(text) + 3)])
    assert form.put_back() == f"{text}{{a}}"


def test_a_long_part_counts_as_one_piece_in_a_given_translation_too(tokenizer: Tokenizer) -> None:
    limits = ModelLimits(vocab_size=420, source_len=60, target_len=60, bos_id=1, eos_id=2)
    address = "https://a.org/?token=" + "x1" * 200
    wanted = ExplanationRequest(None, alignment=True)
    request = ExplainRequest(f"Open {address} now.", "en", "fr", f"Ouvre {address} ici.", wanted)
    (pair,) = pair_texts(request, tokenizer, limits).pairs
    assert pair.target is not None
    assert pair.target.kept == pair.source.kept == (address,)
    assert [token.piece for token in pair.target.tokens].count(address) == 1


def test_parts_that_a_translation_has_in_other_surroundings_are_found(tokenizer: Tokenizer) -> None:
    kept = kept_parts(tokenizer, "{a} 東京 and 🍕 @jean")
    found = given_tokens(tokenizer, "chat@jean 東京 🍕 {a}x", "fr", False, kept)
    assert [token.piece for token in found.tokens if token.id in tokenizer.kept_ids] == ["@jean", "東京", "🍕", "{a}"]


def test_no_part_is_cut(tokenizer: Tokenizer) -> None:
    part = "`git commit, then: push. Or not; stop`"
    text = " ".join(["The cat sleeps on the chair"] * 9 + [part] + ["and the door"] * 4)
    for longest in range(20, 60, 3):
        parts = read_text(text, ("en", "fr"), tokenizer, longest)
        assert len(parts) > 2
        assert sum(part in one.text for one in parts) == 1


@pytest.mark.parametrize("text", ["{name}", "<img/> 東京", "AB-4471: 12", "snake_case()", "me@a.org"])
def test_a_sentence_of_parts_alone_is_copied(tokenizer: Tokenizer, text: str) -> None:
    assert not is_read(tokenizer, text)
    assert [part.source_ids for part in read_text(text, ("en", "fr"), tokenizer, 100)] == [None]


def test_a_vocabulary_without_such_pieces_spells_everything(tokenizer: Tokenizer, tmp_path: Path) -> None:
    without = Tokenizer.__new__(Tokenizer)
    without.__dict__.update(vars(tokenizer), kept_ids=())
    assert kept_parts(without, SENTENCE) == ()
    ids = read_ids(without, SENTENCE, "en", "fr")[1:-1]
    assert written_text(without, ids, False) == normalise(SENTENCE)


def test_the_whole_path_keeps_them(world: World) -> None:
    (segment,) = world.translate(SENTENCE.replace(". Or", ", or")).translations[0].segments
    assert texts(segment.kept) == KEPT
    assert segment.target.text == SENTENCE.replace(". Or", ", or")
    assert set(KEPT) <= set(segment.source.pieces)
    assert set(KEPT) <= set(segment.target.pieces)


def test_a_stream_tells_parts_as_they_are(world: World) -> None:
    told: list[Progress] = []
    text = SENTENCE.replace(". Or", ", or")
    request = TranslateRequest((text,), "en", "fr", beam_size=1)
    asyncio.run(world.translator.translate(request, told.append))
    assert set(KEPT) <= {one.piece for one in told}
    assert [one.target for one in told if one.target is not None] == [text]
