"""Noise on sources, so that typing errors and odd segmentations do not throw the encoder off.

A noisy source has one typing error in every few words, or some of its pieces cut in two; its target stays as it is.
Cutting pieces is what BPE-dropout (Provilkov et al. 2020, section 3) does to a segmentation, here on pieces already
looked up, so that a seed gives the same pieces everywhere. Sources with kept parts get no typing errors.
"""

import unicodedata
from collections.abc import Sequence

import numpy as np

from app.text.tokenizer import Tokenizer

_LETTERS_PER_ERROR = 25
_CUT = 0.15
_KEYBOARD_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


class SourceNoise:
    """Makes noisy sources from the pieces of clean ones."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._cuts = _cuts(tokenizer)
        self._kept = frozenset(tokenizer.kept_ids)

    def noisy(self, ids: Sequence[int], random: np.random.Generator) -> list[int]:
        """Pieces of the same text with typing errors, or of the text itself cut more finely: either half of the time.

        With kept parts always the latter.

        Args:
            ids: pieces without tag and end of sentence.
        """
        # A kept piece has no letters to get wrong, and would be lost.
        if random.random() < 0.5 and not self._kept.intersection(ids):
            return self._tokenizer.encode(mistyped(self._tokenizer.decode(ids), random))
        return [piece for index in ids for piece in self._cut(index, random)]

    def _cut(self, index: int, random: np.random.Generator) -> tuple[int, ...]:
        cuts = self._cuts.get(index)
        if not cuts or random.random() >= _CUT:
            return (index,)
        left, right = cuts[random.integers(len(cuts))]
        return (*self._cut(left, random), *self._cut(right, random))


def _cuts(tokenizer: Tokenizer) -> dict[int, list[tuple[int, int]]]:
    """All ways to cut a piece into two that the vocabulary has too."""
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    index_of = {piece: index for index, piece in enumerate(pieces) if not piece.startswith(("<", ">>"))}
    cuts: dict[int, list[tuple[int, int]]] = {}
    for piece, index in index_of.items():
        halves = ((piece[:end], piece[end:]) for end in range(1, len(piece)))
        found = [(index_of[left], index_of[right]) for left, right in halves if left in index_of and right in index_of]
        if found:
            cuts[index] = found
    return cuts


def mistyped(text: str, random: np.random.Generator) -> str:
    """``text`` with one typing error for every 25 letters, at least one where there is a word to get wrong."""
    inside = [
        place
        for place in range(1, len(text) - 1)
        if text[place].isalpha() and (text[place - 1].isalpha() or text[place + 1].isalpha())
    ]
    if not inside:
        return text
    wanted = max(1, len(inside) // _LETTERS_PER_ERROR)
    # From the end, so that what is changed lies behind the places to come.
    for place in sorted(random.choice(inside, size=wanted, replace=False).tolist(), reverse=True):
        typed, letters = _error(text[place], text[place + 1], random)
        text = text[:place] + typed + text[place + letters :]
    return text


def _error(letter: str, following: str, random: np.random.Generator) -> tuple[str, int]:
    """What is typed, and in the place of how many letters from ``letter`` on."""
    bare = unicodedata.normalize("NFD", letter)[0]
    if bare != letter and random.random() < 0.7:
        return bare, 1
    kind = random.integers(4)
    if kind == 0 and following.isalpha() and following != letter:
        return following + letter, 2
    if kind == 1:
        return "", 1
    return (letter * 2 if kind == 2 else _neighbour(letter, random)), 1


def _neighbour(letter: str, random: np.random.Generator) -> str:
    """The letter left or right of ``letter`` on the keyboard; those without keys are typed twice."""
    for row in _KEYBOARD_ROWS:
        if (place := row.find(letter.lower())) >= 0:
            step = 1 if place == 0 or (place < len(row) - 1 and random.random() < 0.5) else -1
            return row[place + step].upper() if letter.isupper() else row[place + step]
    return letter * 2
