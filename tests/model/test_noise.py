"""Noise on sources: what is changed, what is not, and that a seed decides it."""

import difflib

import numpy as np
import pytest

from app.settings import Settings
from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from model.noise import SourceNoise, mistyped

SENTENCES = (
    "The European Parliament resumed its session after the summer break.",
    "L'hôtel est à 200 mètres de l'église.",
    "Ça coûte 12,50 € chez Zeynep Yılmaz 🎉",
)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(Settings().model / TOKENIZER_FILE)


class Scripted:
    """Stands in for numpy's generator."""

    def __init__(self, places: list[int], kind: int, fraction: float) -> None:
        self.places, self.kind, self.fraction = places, kind, fraction

    def choice(self, *_: object, **__: object) -> np.ndarray:
        return np.array(self.places)

    def integers(self, _: int) -> int:
        return self.kind

    def random(self) -> float:
        return self.fraction


@pytest.mark.parametrize(
    ("text", "places", "kind", "fraction", "expected"),
    [
        ("bread", [2], 0, 0.9, "braed"),
        ("bread", [2], 1, 0.9, "brad"),
        ("bread", [2], 2, 0.9, "breead"),
        ("bread", [2], 3, 0.9, "brwad"),
        ("bread", [2], 3, 0.1, "brrad"),
        ("BREAD", [2], 3, 0.1, "BRRAD"),
        ("apple", [2], 3, 0.1, "apole"),
        ("hello", [2], 2, 0.9, "helllo"),
        ("été là", [2], 1, 0.1, "éte là"),
        ("αβγδ", [1], 3, 0.1, "αββγδ"),
        ("abcdefgh", [2, 3], 1, 0.9, "abefgh"),
        ("abcdefgh", [3, 2], 0, 0.9, "abecdfgh"),
    ],
)
def test_every_kind_of_error(text: str, places: list[int], kind: int, fraction: float, expected: str) -> None:
    assert mistyped(text, Scripted(places, kind, fraction)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["cat", "WHERE IS THE STATION", "Πού είναι ο σταθμός;"])
def test_there_is_always_an_error(text: str) -> None:
    random = np.random.default_rng(0)
    assert text not in {mistyped(text, random) for _ in range(300)}


@pytest.mark.parametrize("text", SENTENCES)
def test_a_typing_error_changes_few_letters_and_nothing_else(text: str) -> None:
    random = np.random.default_rng(0)
    changed = [mistyped(text, random) for _ in range(200)]
    assert len({*changed}) > 20
    assert text not in changed
    for one in changed:
        edits = difflib.SequenceMatcher(None, text, one, autojunk=False).get_opcodes()
        touched = "".join(text[first:last] for kind, first, last, _, _ in edits if kind != "equal")
        assert all(character.isalpha() for character in touched)
        assert len(touched) <= 2 * max(1, len(text) // 25)
        assert (one[0], one[-1]) == (text[0], text[-1])


@pytest.mark.parametrize("text", ["", "I", "OK", "1.", "12,50 €", "a b c", "🎉"])
def test_there_may_be_nothing_to_mistype(text: str) -> None:
    assert mistyped(text, np.random.default_rng(0)) == text


@pytest.mark.parametrize("text", SENTENCES)
def test_a_noisy_source_is_the_same_text_cut_more_finely_or_has_typing_errors(tokenizer: Tokenizer, text: str) -> None:
    noise, random = SourceNoise(tokenizer), np.random.default_rng(0)
    ids = tokenizer.encode(text)
    finer = errors = 0
    for _ in range(300):
        noisy = noise.noisy(ids, random)
        if tokenizer.decode(noisy) == text:
            # Every boundary between pieces is still one.
            assert set(_ends(tokenizer, ids)) <= set(_ends(tokenizer, noisy))
            finer += len(noisy) > len(ids)
        else:
            assert noisy == tokenizer.encode(tokenizer.decode(noisy))
            errors += 1
    assert finer > 60
    assert errors > 100


def test_a_seed_decides_the_noise(tokenizer: Tokenizer) -> None:
    noise, ids = SourceNoise(tokenizer), tokenizer.encode(SENTENCES[0])
    first, again, other = (
        [noise.noisy(ids, random) for _ in range(10)] for random in map(np.random.default_rng, (1, 1, 2))
    )
    assert first == again != other


def _ends(tokenizer: Tokenizer, ids: list[int]) -> list[int]:
    return np.cumsum([len(piece) for piece in tokenizer.pieces(ids)]).tolist()
