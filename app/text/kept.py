"""Parts of a sentence that a translation must contain as they are, and how the model is spared reading them.

An address, a placeholder, a tag, a piece of code, letters that no piece has: a model spells them anew, piece by piece,
and one wrong piece breaks them. So each is taken out and stands before the model as one piece, ``<kept1>`` to
``<kept8>``, which it only has to put in the right place; the part itself goes back into what it writes. Such pieces
stand for what cannot be translated since Luong et al. 2015 ("Addressing the Rare Word Problem", section 3.1).
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from app.text.verbatim import EMPHASIS_MARK, Span, verbatim_spans

# Signs that stand in text so often that models learn to spell them, byte by byte, and signs of code that none learns.
_SPELLED = frozenset("€£•…")
_SIGNS_OF_CODE = frozenset("^{|}~")
# The letters of the built-in languages, of which a small vocabulary has no pieces for the rarest.
_SPELLED_LETTERS = frozenset("àâæçéèêëîïôœùûüÿÀÂÆÇÉÈÊËÎÏÔŒÙÛÜŸ")
_EXTENDING = frozenset({"Mn", "Mc", "Me", "Cf", "Co", "Cn"})
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_OPENING_TAG = re.compile(r"<[A-Za-z][^<>]*(?<!/)>")
_PRIVATE = (range(0xE000, 0xF900), range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))


@lru_cache(64)  # a sentence is asked about several times in a row
def kept_spans(text: str, is_known: Callable[[str], bool]) -> tuple[Span, ...]:
    """Where the parts that are kept stand in ``text``: half-open, ascending, apart from each other.

    Args:
        is_known: whether a character stands in some piece of the vocabulary.
    """
    spans = verbatim_spans(text)
    unknown = _unknown(text, is_known)
    return tuple(_united([*spans, *unknown])) if unknown else spans


def _unknown(text: str, is_known: Callable[[str], bool]) -> list[Span]:
    """Words with letters, and symbols, that no piece has; next to each other they are one."""
    strange = {one for one in set(text) if not (one.isspace() or is_known(one) or _is_spelled(one))}
    spans: list[Span] = []
    for index, character in enumerate(text if strange else ""):
        last = spans[-1][1] if spans else -1
        if index < last:
            continue
        category = unicodedata.category(character)
        if category in _EXTENDING or ord(character) in _SKIN_TONES:
            # Also those that the model never sees: a flag without its tags is another flag.
            if last == index:
                spans[-1] = (spans[-1][0], index + 1)
        elif character in strange and not category.startswith("C"):
            start, end = _word_around(text, index) if character.isalpha() else (index, index + 1)
            is_sign = _is_sign(character)
            joins = start <= last or (not is_sign and text[last:start].isspace())
            if spans and joins and _is_sign(text[last - 1]) == is_sign:
                start = spans.pop()[0]
            spans.append((start, end))
    return spans


def _is_sign(character: str) -> bool:
    """Punctuation and signs of code, which stand for themselves: ``東京 大阪`` is one part, ``{a} 大阪`` none."""
    return character in _SIGNS_OF_CODE or unicodedata.category(character).startswith("P")


def _is_spelled(character: str) -> bool:
    """Bytes are how the model knows the rarer letters of its own languages: ``Israël`` is to be translated.

    Of a vocabulary that lacks plain letters and signs it knows those the same way.
    """
    if character.isascii():
        return character not in _SIGNS_OF_CODE
    return character in _SPELLED or unicodedata.normalize("NFC", character) in _SPELLED_LETTERS


def _word_around(text: str, index: int) -> Span:
    start, end = index, index + 1
    while start and text[start - 1].isalpha():
        start -= 1
    while end < len(text) and text[end].isalpha():
        end += 1
    return start, end


def _united(spans: Sequence[Span]) -> list[Span]:
    """Ascending; those that overlap are one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


@dataclass(frozen=True)
class KeptPart:
    """One part.

    Attributes:
        glued: a tag or mark that a word follows at once. The model sees a space between, so that it knows the word;
            what it writes loses that space again.
        apart: no letter or digit stands right before it. Where the model puts one there, it gets a space.
    """

    text: str
    glued: bool
    apart: bool


@dataclass(frozen=True)
class KeptForm:
    """A text with parts taken out.

    Attributes:
        text: with ``stand_in``, one character that occurs nowhere else in it, for each of them.
        parts: what they stand for, in order.
    """

    text: str
    stand_in: str
    parts: tuple[KeptPart, ...]

    def span_in_whole(self, span: Span) -> Span:
        """The part of ``put_back()`` that ``text[slice(*span)]`` is."""
        if not self.parts:
            return span
        start, end = span
        start, end = start + self._longer(start, beginning=True), end + self._longer(end, beginning=False)
        return start, max(start, end)

    def put_back(self) -> str:
        """The text with its parts in their places."""
        first, *others = self.text.split(self.stand_in)
        whole, before = first, first
        for part, other in zip(self.parts, others, strict=True):
            whole += " " * _is_to_be_apart(part, before) + part.text
            whole += other[1:] if part.glued and _begins_word(other) else other
            before = other
        return whole

    def _longer(self, place: int, beginning: bool) -> int:
        """By how much parts make the text before ``place`` longer; at its ``beginning`` a part has its space behind."""
        longer, position = 0, -1
        for part in self.parts:
            before, position = position, self.text.index(self.stand_in, position + 1)
            if position > place or (position == place and not beginning):
                break
            longer += _is_to_be_apart(part, self.text[before + 1 : position])
            if position < place:
                space = part.glued and place > position + 1 and _begins_word(self.text[position + 1 : position + 3])
                longer += len(part.text) - 1 - space
        return longer


def take_out(text: str, spans: Sequence[Span], read: str | None = None) -> KeptForm:
    """``text`` without the parts at ``spans``, which ascend and are apart.

    Args:
        read: how the rest of ``text`` is read, of the same length.
    """
    rest = text if read is None else read
    stand_in = absent_from(rest)
    starts = {start for start, _ in spans}
    parts = tuple(_part(text, start, end, end not in starts) for start, end in spans)
    bounds = [0, *chain.from_iterable(spans), len(text)]
    first, *others = (rest[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True))
    after = (" " * part.glued + other for part, other in zip(parts, others, strict=True))
    return KeptForm(stand_in.join([first, *after]), stand_in, parts)


def _part(text: str, start: int, end: int, is_last: bool) -> KeptPart:
    """``is_last``: no other part follows it at once."""
    part = text[start:end]
    is_mark = EMPHASIS_MARK.fullmatch(part) is not None
    opens = is_mark or _OPENING_TAG.fullmatch(part) is not None
    glued = is_last and opens and text[end : end + 1].isalnum()
    before = text[start - 1 : start]
    closes = part.startswith("</") or (is_mark and before != "" and not before.isspace())
    return KeptPart(part, glued, not before.isalnum() and not closes)


def _is_to_be_apart(part: KeptPart, before: str) -> bool:
    return part.apart and before[-1:].isalnum()


def _begins_word(text: str) -> bool:
    return text[:1] == " " and text[1:2].isalnum()


def absent_from(text: str) -> str:
    """The first character for private use that ``text`` does not have."""
    return next(chr(code) for code in chain.from_iterable(_PRIVATE) if chr(code) not in text)
