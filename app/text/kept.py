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

Span = tuple[int, int]

_DOMAINS = "com|org|net|info|edu|gov|io|dev|app|fr|ca|eu|uk|de|be|ch|it|es"
_FILES = "txt|pdf|py|json|html?|csv|md|zip|docx?|xlsx?|pptx?|odt|png|jpe?g|gif|svg|mp[34]|exe|js|css|xml|ya?ml|toml|sql"
_KINDS = (
    r"`[^`\n]{1,200}`",  # code between backticks
    # Addresses of pages, of mailboxes, and without a scheme: example.com/page.
    r"(?i:\b[a-z][a-z0-9+.-]{1,15}://|\bwww\.|\bmailto:)[^\s<>\"'`«»“”{}]*[\w/]",
    r"(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,63}+(?:\.[\w-]{1,63}+){1,8}",
    rf"(?<![\w@.-])(?:[\w-]+\.)+(?:{_DOMAINS})\b(?!\.\w)(?:/[^\s<>\"'`«»“”]*[\w/])?",
    # Tags and entities: <b>, </b>, <a href="...">, &nbsp;
    r"</?[A-Za-z][\w:-]*+(?:\s+[\w:@.-]+=(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>]++)){0,12}+\s*/?>",
    r"&(?:[A-Za-z]{2,8}|#\d{1,6}|#x[0-9A-Fa-f]{1,5});",
    # Placeholders: {name}, {{ name }}, ${name}, %s, %(name)s, %1$s, $name.
    r"[$%]?\{\{?[^{}\n]{0,60}\}\}?",
    r"(?<![\d%])%(?:\(\w+\)|\d+\$)?\d*(?:\.\d+)?[sdifux]\b",
    r"(?<!\w)\$[A-Za-z_]\w*",
    # Paths and files: /usr/local/bin, C:\Users, report.pdf.
    r"(?<![\w/.~])(?:~|\.\.?)?(?:/[\w.@+-]*\w){2,}/?",
    r"\b[A-Za-z]:\\[^\s\"<>|]*\w",
    rf"(?<![\w.-])[\w-]+(?:\.[\w-]+)*\.(?:{_FILES})\b",
    # Code: call(), snake_case, camelCase, --dry-run, \textbf.
    r"(?<![\w.])[A-Za-z_][\w.]*+\(\)",
    r"(?<!\w)_*+[^\W_]++_++[^\W_]\w*+",
    r"\b[a-z]{2,}(?:[A-Z][a-z0-9]+)+\b",
    r"(?<!\S)--[a-z]+(?:-[a-z]+)+(?:=\S*\w)?",
    r"\\[A-Za-z]+",
    # @name, #topic, #4711.
    r"(?<![\w@])@\w+",
    r"(?<![\w&#])#(?:[^\W\d_]\w+|\d{3,}\b)",
    # Identifiers and hashes, AB-4471.
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b",
    r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b",
    r"\b[A-Z]{1,5}[-/]?\d{3,}+[A-Z\d]*+(?:-[A-Z\d]++)*+\b",
    # 2.0.1, 192.168.0.1, 05.34.71.00.54; not the amount 1.000.000.
    r"(?<![\w.,])v?(?!\d{1,3}(?:\.\d{3})+(?!\.?\w))\d++(?:\.\d++){2,}+\b(?!,\d)",
    # Telephone numbers, and long numbers without groups.
    r"(?<![\w+.,])\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}\b(?![.,]?\d)",
    r"(?<![\d.,] )(?<![\w.,])0\d(?: \d\d){4}\b(?! ?\d)",
    r"(?<!\w)\(?\d{3}\)?[ -]\d{3}-\d{4}\b",
    r"(?<![\w.,-])\d{4,}-\d{3,}\b(?![.,-]?\d)",
    r"(?<![\w.,])\d{6,}\b(?![.,]\d)",
)
_KEPT = re.compile("|".join(_KINDS))
# What each kind has somewhere; most sentences have none of it.
_SIGN = re.compile(r"[@/\\{%$<&_`#\d]|\w\.\w|\(\)|[a-z][A-Z]|--")

# Letters, marks, numbers and symbols; punctuation and signs of money the model can spell.
_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "No", "So", "Sk", "Sm"})
_EXTENDING = frozenset({"Mn", "Mc", "Me", "Cf", "Co", "Cn"})
_PRIVATE = (range(0xE000, 0xF900), range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))


def kept_spans(text: str, is_known: Callable[[str], bool]) -> list[Span]:
    """Where the parts that are kept stand in ``text``: half-open, ascending, apart from each other.

    Args:
        is_known: whether a character stands in some piece of the vocabulary.
    """
    spans = code_spans(text)
    return list(spans) if text.isascii() else _united([*spans, *_unknown(text, is_known)])


@lru_cache(64)  # a sentence is asked about several times in a row
def code_spans(text: str) -> tuple[Span, ...]:
    """Of the parts that are kept those that do not depend on a vocabulary: addresses, tags, code, long numbers."""
    return tuple(match.span() for match in _KEPT.finditer(text)) if _SIGN.search(text) else ()


def _unknown(text: str, is_known: Callable[[str], bool]) -> list[Span]:
    """Words of another script, and symbols, that no piece has; next to each other they are one."""
    strange = {one for one in set(text) if not (one.isascii() or one.isspace() or is_known(one) or _is_latin(one))}
    spans: list[Span] = []
    for index, character in enumerate(text if strange else ""):
        if character not in strange or (spans and index < spans[-1][1]):
            continue
        category = unicodedata.category(character)
        if category in _EXTENDING:
            if spans and spans[-1][1] == index:
                spans[-1] = (spans[-1][0], index + 1)
        elif category in _CATEGORIES:
            start, end = _word_around(text, index) if character.isalpha() else (index, index + 1)
            if spans and (start <= spans[-1][1] or text[spans[-1][1] : start].isspace()):
                start = spans.pop()[0]
            spans.append((start, max(end, index + 1)))
    return spans


def _is_latin(character: str) -> bool:
    """Bytes are how the model knows the rarer letters of its own languages: ``Israël`` is to be translated."""
    return character.isalpha() and unicodedata.name(character, "").startswith("LATIN")


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
    """One part. ``glued``: a letter or digit follows it at once; the model sees a space between, and knows the word."""

    text: str
    glued: bool


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
        start, end = (place + self._longer(place) for place in span)
        return start, end

    def put_back(self) -> str:
        """The text with its parts in their places."""
        first, *others = self.text.split(self.stand_in)
        after = (
            other[1:] if part.glued and other.startswith(" ") else other
            for part, other in zip(self.parts, others, strict=True)
        )
        return first + "".join(part.text + other for part, other in zip(self.parts, after, strict=True))

    def _longer(self, place: int) -> int:
        """By how much parts make the text before ``place`` longer."""
        longer, position = 0, -1
        for part in self.parts:
            position = self.text.index(self.stand_in, position + 1)
            if position >= place:
                break
            space = part.glued and place > position + 1 and self.text[position + 1] == " "
            longer += len(part.text) - 1 - space
        return longer


def take_out(text: str, spans: Sequence[Span], read: str | None = None) -> KeptForm:
    """``text`` without the parts at ``spans``, which ascend and are apart.

    Args:
        read: how the rest of ``text`` is read, of the same length.
    """
    rest = text if read is None else read
    stand_in = absent_from(rest)
    parts = tuple(KeptPart(text[start:end], text[end : end + 1].isalnum()) for start, end in spans)
    bounds = [0, *chain.from_iterable(spans), len(text)]
    first, *others = (rest[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True))
    after = (" " * part.glued + other for part, other in zip(parts, others, strict=True))
    return KeptForm(stand_in.join([first, *after]), stand_in, parts)


def absent_from(text: str) -> str:
    """The first character for private use that ``text`` does not have."""
    return next(chr(code) for code in chain.from_iterable(_PRIVATE) if chr(code) not in text)
