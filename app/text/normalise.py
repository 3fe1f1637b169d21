"""One normalisation for training and serving, so that both see the same characters."""

import unicodedata
from itertools import chain, groupby

_ALIKE = {
    **dict.fromkeys(map(ord, "‘’‛ʼ＇´"), "'"),
    **dict.fromkeys(map(ord, "\u2010\u2011"), "-"),
    # Letters that a PDF has melted together.
    **dict(zip(range(0xFB00, 0xFB07), ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)),
}
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"), None)
# The only characters that count as no marks but decompose into two.
_TIBETAN_PAIRS = {0x0F73: "\u0f71\u0f72", 0x0F75: "\u0f71\u0f74", 0x0F81: "\u0f71\u0f80"}
_REMEMBERED = 0x10000
_KEPT_FORMAT_CHARACTERS = frozenset("\u200c\u200d")
_KEPT_CATEGORIES_OF_C = frozenset({"Co", "Cn"})


def normalise(text: str) -> str:
    """Returns ``text`` as the model reads it: NFC, straight apostrophes, plain hyphens, single plain spaces.

    Letters that a PDF has melted together (``ﬁ``) stand apart.

    Control characters, lone surrogates and invisible marks carry no meaning for translation and are
    removed, as are the tags that tell the flags of regions apart, which no model knows; the zero-width joiners that
    hold emoji and some scripts together stay. No-break and other
    Unicode spaces, tabs and line breaks become one space; both ends are stripped. The function is
    idempotent.
    """
    text = " ".join(text.split())
    if text.isascii() and text.isprintable():
        return text
    return " ".join(compose(text.translate(_KEPT)).split())


def compose(text: str) -> str:
    """NFC, in a time that grows with the length alone.

    Marks on one letter are put into canonical order first (Unicode 16.0, section 3.11): the library's own sort
    takes quadratic time, seconds for some ten thousand of them.
    """
    if unicodedata.is_normalized("NFC", text):
        return text
    runs = groupby(text.translate(_TIBETAN_PAIRS), key=lambda character: unicodedata.combining(character) > 0)
    ordered = (sorted(run, key=unicodedata.combining) if are_marks else run for are_marks, run in runs)
    return unicodedata.normalize("NFC", "".join(chain.from_iterable(ordered)))


def keep(character: str) -> str:
    """What one character becomes before composition: itself, what is written for it, or nothing."""
    if (alike := _ALIKE.get(ord(character))) is not None:
        return alike
    character = character.translate(_INVISIBLE)
    return character if character and _is_kept(character) else ""


class _Table(dict[int, str]):
    """``keep`` of every character that was seen, by code point; those of the first plane are remembered."""

    def __missing__(self, code: int) -> str:
        kept = keep(chr(code))
        if code < _REMEMBERED:
            self[code] = kept
        return kept


_KEPT = _Table()


def _is_kept(character: str) -> bool:
    category = unicodedata.category(character)
    if not category.startswith("C"):
        return True
    return category in _KEPT_CATEGORIES_OF_C or character in _KEPT_FORMAT_CHARACTERS
