import pytest

from app.reading import read_text
from app.settings import Settings
from app.text.tokenizer import TOKENIZER_FILE, Tokenizer


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(Settings().model / TOKENIZER_FILE)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("The cat sleeps.", [True]),
        ("你好世界。", [False]),
        ("Привет! Hello.", [False, True]),
        ("Tokyo (東京) is big.", [True]),
        ("Please write to Екатерина Александрова.", [True]),
        ("Please see 東京都千代田区霞が関一丁目三番 now", [True]),
        ("我在 UNESCO 工作", [False]),
        ("\u202eمرحبا بالعالم", [False]),
        ("Œuvre d'été, Zeynep Yılmaz", [True]),
        ("E\u0301te\u0301", [True]),  # letters with marks of their own
        ("42 😀", [False]),
    ],
)
def test_what_the_model_cannot_read_is_copied(tokenizer: Tokenizer, text: str, read: list[bool]) -> None:
    parts = read_text(text, ("en", "fr"), tokenizer, 100)
    assert [part.source_ids is not None for part in parts] == read


@pytest.mark.parametrize(
    "text",
    [
        "the cat and the dog " * 60,
        # Without its last words the first of these is no sentence in capitals any more, and has far more pieces.
        ("VOUS2" * 60)[:241] + "2 INTERNATIONAL " + "OBJECT " * 12,
    ],
)
def test_no_part_is_longer_than_the_model_reads(tokenizer: Tokenizer, text: str) -> None:
    parts = read_text(text, ("en", "fr"), tokenizer, 102)
    assert len(parts) > 2
    assert max(len(part.source_ids or ()) for part in parts) <= 102


def test_a_sentence_with_more_parts_than_there_are_pieces_for_is_cut(tokenizer: Tokenizer) -> None:
    text = "Dear {a}, the order {b} of {c} for {d} goes to {e} {f}, {g} {h}, {i}, from {j}, and {a} knows."
    parts = read_text(text, ("en", "fr"), tokenizer, 100)
    assert len(parts) > 1
    kept = [[one.text for one in part.kept] for part in parts]
    assert [one for some in kept for one in some] == [f"{{{letter}}}" for letter in "abcdefghija"]
    assert all(len(set(some)) <= len(tokenizer.kept_ids) for some in kept)
