"""Cutting what is too long for the model, at the best place there is."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping

from app.text.verbatim import Span, verbatim_spans

# Where a long sentence is cut, best first: after a clause, after a phrase, between words.
_AFTER_CLAUSE = re.compile(r"[.;:!?…](?=\s)|[。；：！？]")
_AFTER_PHRASE = re.compile(r"[,)\]»”–—](?=\s)|[，、]")
_AFTER_WORD = re.compile(r"\s(?=\S)")

_FIRST_GUESS = 256
_ZERO_WIDTH_JOINER = "\u200d"


def cut_to_fit(text: str, fits: Callable[[str], bool]) -> Iterator[int]:
    """Lengths of consecutive parts of ``text``, each of which fits.

    A part ends after punctuation in its second half if there is any, else at a space, none of them inside an address
    or code (``app.text.verbatim``), else between any two characters that do not combine. A single character stands even
    if it does not fit. ``fits`` is called a dozen times for a part, with texts at most twice as long as the longest
    part: the time grows with the length of ``text``, not with its square.
    """
    start, guess = 0, _FIRST_GUESS
    inside = {place: span for span in verbatim_spans(text) for place in range(span[0] + 1, span[1])}
    while start < len(text):
        limit = _fitting_length(text, start, guess, fits, inside)
        end = _best_cut(text, start, start + limit, inside)
        if end < start + limit:
            # A shorter text can be more pieces than a longer one: a merged piece is cut, or capitals are read as such.
            while end - start > 1 and not fits(text[start:end]):
                limit = max((end - start) // 2, 1)
                end = _best_cut(text, start, start + limit, inside)
        yield end - start
        start, guess = end, limit


def _fitting_length(text: str, start: int, guess: int, fits: Callable[[str], bool], inside: Mapping[int, Span]) -> int:
    """A length that fits from ``start`` on, at least 1 and within an eighth of the greatest.

    One that ends inside an address or code is tried only where the whole of that does not fit: half of it may be more
    pieces than the whole.
    """

    def whole(length: int) -> int:
        return inside.get(start + length, (0, start + length))[1] - start

    remaining = len(text) - start
    fitting, tried = 0, whole(min(guess, remaining))
    while fits(text[start : start + tried]):
        if tried == remaining:
            return remaining
        fitting, tried = tried, whole(min(2 * tried, remaining))
    while tried - fitting > 1 + fitting // 8:
        middle = whole((fitting + tried) // 2)
        if middle >= tried:
            middle = (fitting + tried) // 2
        if fits(text[start : start + middle]):
            fitting = middle
        else:
            tried = middle
    return max(fitting, 1)


def _best_cut(text: str, start: int, limit: int, inside: Mapping[int, Span]) -> int:
    if limit == len(text):
        return limit
    middle = (start + limit + 1) // 2
    for pattern, earliest in ((_AFTER_CLAUSE, middle), (_AFTER_PHRASE, middle), (_AFTER_WORD, start)):
        # One character beyond the limit is in view because the patterns look ahead.
        found = (match.end() for match in pattern.finditer(text, earliest, limit + 1))
        ends = [end for end in found if end <= limit and end not in inside]
        if ends:
            return ends[-1]
    return _between_characters(text, start, limit)


def _between_characters(text: str, start: int, limit: int) -> int:
    for end in range(limit, start, -1):
        if not _combines(text[end - 1], text[end]):
            return end
    return limit


def _combines(first: str, second: str) -> bool:
    return (
        first == _ZERO_WIDTH_JOINER
        or second == _ZERO_WIDTH_JOINER
        or unicodedata.category(second).startswith("M")
        or "\U0001f3fb" <= second <= "\U0001f3ff"  # skin tones
    )
