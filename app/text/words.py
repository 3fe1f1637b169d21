"""Our own segmentation into words: the same for both sides of a pair, and not the tokenizer's."""

import unicodedata
from collections.abc import Iterator

WORD_RULE = "vitrail-words/1"
"""Name of the rule below, told in every answer that speaks of words."""

# Languages that write an elided word and the next one together: l'homme, qu'il, dell'arte.
_ELIDING = frozenset({"ca", "co", "fr", "it", "lmo", "oc", "pms", "vec", "wa"})
_UNDIVIDED = frozenset({"aujourd'hui", "prud'homme", "prud'hommes", "quelqu'un", "quelqu'une"})

_APOSTROPHES = frozenset("'’ʼ＇‘‛")
_HYPHENS = frozenset("-‐‑")
_IN_NUMBERS = frozenset(".,")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f\u20e3")
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)

# Scripts written without spaces between words: Thai, Lao, Myanmar, Khmer, Hiragana, and the ideographs.
_UNSPACED = (
    range(0x0E00, 0x0F00),
    range(0x1000, 0x10A0),
    range(0x1780, 0x1800),
    range(0x3005, 0x3008),
    range(0x3041, 0x30A0),
    range(0x3400, 0x4DC0),
    range(0x4E00, 0xA000),
    range(0xF900, 0xFB00),
    range(0x20000, 0x40000),
)


def word_spans(text: str, language: str) -> list[tuple[int, int]]:
    """Spans of the words of ``text``: half-open, in code points, ascending, without white space.

    The rule, from top to bottom:

    - Letters, digits and the marks on them belong together; in a script without spaces (Chinese, Japanese
      Hiragana, Thai, Lao, Khmer, Myanmar) each character with its marks is a word, as no dictionary is at hand.
    - An apostrophe or hyphen between letters is part of the word (``doesn't``, ``rendez-vous``); in languages that
      elide, a word ends after the apostrophe (``l'`` + ``homme``), but for a few such as ``aujourd'hui``.
    - A point or comma between digits is part of the number.
    - An emoji with its joiners, variation selectors and skin tones is a word, so is a flag.
    - Of everything else a character is a word, repeated ones together (``...``).
    """
    spans: list[tuple[int, int]] = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        end = _end(text, position)
        spans += _elided(text, position, end) if language in _ELIDING else [(position, end)]
        position = end
    return spans


def _end(text: str, start: int) -> int:
    """Where the word that begins at ``start`` ends, elision aside."""
    first = text[start]
    if _is_unspaced(first):
        return _after_marks(text, start + 1)
    if _is_letter(first):
        return _end_of_letters(text, start)
    if ord(first) in _FLAG_LETTERS and start + 1 < len(text) and ord(text[start + 1]) in _FLAG_LETTERS:
        return start + 2
    end = _after_marks(text, start + 1)
    if end == start + 1:
        while end < len(text) and text[end] == first and not unicodedata.category(first).startswith("S"):
            end += 1
    return end


def _end_of_letters(text: str, start: int) -> int:
    end = start + 1
    while end < len(text):
        character = text[end]
        if _is_unspaced(character):
            break
        if _is_letter(character) or _belongs_to_previous(character):
            end += 1
        elif end + 1 < len(text) and _links(text[end - 1], character, text[end + 1]):
            end += 2
        else:
            break
    return end


def _links(before: str, character: str, after: str) -> bool:
    """Whether ``character`` holds its neighbours together."""
    if _is_unspaced(after):
        return False
    if character in _IN_NUMBERS:
        return before.isdecimal() and after.isdecimal()
    return (character in _APOSTROPHES or character in _HYPHENS) and _is_letter(after)


def _elided(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cuts a word after each apostrophe inside it."""
    plain = "".join("'" if character in _APOSTROPHES else character for character in text[start:end]).lower()
    if plain not in _UNDIVIDED:
        for index in range(start, end - 1):
            if text[index] in _APOSTROPHES and index > start:
                yield start, index + 1
                start = index + 1
    yield start, end


def _after_marks(text: str, end: int) -> int:
    """The first position from ``end`` on that does not belong to the character before it."""
    while end < len(text) and _belongs_to_previous(text[end]):
        end += 2 if text[end] == "\u200d" and end + 1 < len(text) and not text[end + 1].isspace() else 1
    return end


def _belongs_to_previous(character: str) -> bool:
    return unicodedata.category(character).startswith("M") or character in _JOINERS or ord(character) in _SKIN_TONES


def _is_letter(character: str) -> bool:
    return character == "_" or unicodedata.category(character)[0] in "LN"


def _is_unspaced(character: str) -> bool:
    code = ord(character)
    return code >= 0x0E00 and any(code in block for block in _UNSPACED)
