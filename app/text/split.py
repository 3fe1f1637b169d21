"""Text to sentences that remember where they stood."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import sentencex

from app.text.emoji import EMOJI, SELECTORS, after_emoji, between_emoji
from app.text.fences import fenced_blocks
from app.text.fitting import cut_to_fit
from app.text.marks import LINE_MARK
from app.text.segments import is_translatable
from app.text.verbatim import BLOCK_TAG, verbatim_spans

# Line breaks part sentences, and so do what parts the columns of a table: tabs and three spaces or more.
_LINE = re.compile("(?:(?! {3})[^\n\r\v\f\t\x1c\x1d\x1e\x85\u2028\u2029])+")
# So do the edges of tables, and tags of paragraphs, lists and the like.
_EDGE = re.compile(rf"(?<!\S)\|+(?!\S)|{BLOCK_TAG}(?:\s*{BLOCK_TAG})*")
_EDGES_OF_A_ROW = 3
_EDGE_IN_ROW = re.compile(r"(?<!\\)\|+")

# The segmenter's time grows with the square of unbalanced quotes, so it never sees more than this at once.
_WINDOW = 4_000

# A mark that touches the next character is part of a number, a name or an address.
_MARKS_THAT_NEED_SPACE = frozenset(".?!")

# The segmenter fails on a capital letter, a space that is not ASCII, and a full stop.
_SPACE_BEFORE_STOP = re.compile(r"(?<=\w)\s+(?=\.)")

# What the segmenter takes for an end and is none: titles, initials, and words that announce more.
_ANNOUNCES_MORE = {
    "en": re.compile(r"\b(?:[Ee]\.g|[Ii]\.e|[Aa]pprox|[Ee]qs?|[Vv]ol|[Cc]h|[Pp]p|[Gg]ovt|[Ii]ncl|[Ee]xcl)\.\s*$"),
    "fr": re.compile(
        r"\b(?:MM?|Mm?es?|Mlles?|Drs?|Prs?|[Pp]rof|Mgr|Ste?s?|[A-Z]|[Vv]ol|[Cc]hap|[Éé]d|pp?|[Aa]rt|[Nn]°|[Tt]él|[Ee]nv"
        r"|[Jj]anv|[Ff]évr?|[Aa]vr|[Jj]uil|[Jj]uill|[Ss]ept|[Oo]ct|[Nn]ov|[Dd]éc|[Bb]d|[Aa]v|[Rr]éf|[Aa]dr|[Rr]esp"
        r"|[Ss]té|[Nn]b|[Cc]\.-à-d)\.\s*$"
    ),
}

# The same where a small letter, a digit or a mark follows: these are words, too ("la mer.", "no.").
_MAY_ANNOUNCE_MORE = {
    "en": re.compile(
        r"\b(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun|[Mm]ax|[Mm]in|[Tt]emp|[Ee]st|[Dd]ept|[Aa]pt|[Rr]m|tbsp|tsp|[Nn]o)\.\s*$"
    ),
    "fr": re.compile(
        r"\b(?:[Ll]un|[Mm]ar|[Mm]er|[Jj]eu|[Vv]en|[Ss]am|[Dd]im|[Nn]o|[Mm]in|[Mm]ax|[Pp]ort|[Oo]bj|[Pp]ers|[Dd]ép|[Gg]én|[Ee]x)"
        r"\.\s*$"
    ),
}


@dataclass(frozen=True)
class Sentence:
    """A piece of a text that is translated on its own.

    Attributes:
        text: without white space at either end, never empty.
        span: where it stands in the text, half-open, in code points.
    """

    text: str
    span: tuple[int, int]


def split(text: str, language: str, fits: Callable[[str], bool]) -> list[Sentence]:
    """Splits ``text`` into sentences; only white space lies between them.

    Every line break ends one, and so does what parts columns: a tab, three spaces, a ``|`` between spaces or in a row
    of a table, and a tag of a paragraph, list or table, which stand alone. Lines of code between fences are one.

    A mark that begins a line ("-", "1.", "##", an emoji) stands alone, so that it is copied and what follows is
    translated as if it began the line. So do emoji at either end of a sentence, see ``between_emoji``.
    A sentence with something to translate for which ``fits`` is false (it has more pieces than the model
    reads) is cut further, see ``cut_to_fit``; nothing is ever dropped.

    Args:
        text: any text.
        language: of the text, an ISO 639 code; unknown ones get rules that hold for most languages.
        fits: whether the model can read a sentence; called a few times for each sentence.
    """
    sentences, position = [], 0
    for block in [*fenced_blocks(text), (len(text), len(text))]:
        for line in _LINE.finditer(text, position, block[0]):
            for start, end in _line_spans(line[0], language):
                for part_start, part_end in _fitting_spans(line[0], start, end, fits):
                    span = (line.start() + part_start, line.start() + part_end)
                    sentences.append(Sentence(text[slice(*span)], span))
        if block[0] < block[1]:
            sentences.append(Sentence(text[slice(*block)], block))
        position = block[1]
    return sentences


def _line_spans(line: str, language: str) -> Iterator[tuple[int, int]]:
    mark = LINE_MARK.match(line, after_emoji(line))
    body = mark.end() if mark and is_translatable(line[mark.end() :]) else 0
    if body:
        yield 0, body
    for cell_start, cell_end in _cells(line, body):
        for start, end in _sentence_spans(line[cell_start:cell_end], language):
            start, end = cell_start + start, cell_start + end
            first, last = (start + place for place in between_emoji(line[start:end], language))
            yield from (span for span in ((start, first), (first, last), (last, end)) if span[0] < span[1])


def _cells(line: str, start: int) -> Iterator[tuple[int, int]]:
    """From ``start`` on, cells of a table and the edges between them; a line that is no table is one cell."""
    row = line[start:].strip()
    is_row = row.startswith("|") and row.endswith("|") and row.count("|") >= _EDGES_OF_A_ROW
    edges = _EDGE_IN_ROW if is_row else _EDGE
    for edge in edges.finditer(line, start):
        yield start, edge.start()
        yield edge.span()
        start = edge.end()
    yield start, len(line)


def _sentence_spans(line: str, language: str) -> Iterator[tuple[int, int]]:
    start = 0
    inside = {place for first, last in verbatim_spans(line) for place in range(first + 1, last)}
    for end in _ends(line, language):
        if end not in inside and _is_end(line, start, end, language):
            yield start, end
            start = end


def _ends(line: str, language: str) -> Iterator[int]:
    """Where the segmenter sees sentences end in ``line``, its own end included."""
    start = 0
    while len(line) - start > _WINDOW:
        # The last one is where the window ends: seen again in the next window, or no sentence ends here at all.
        *ends, window_end = _ends_in(line[start : start + _WINDOW], language)
        yield from (start + end for end in ends)
        start += ends[-1] if ends else window_end
    yield from (start + end for end in _ends_in(line[start:], language))


def _ends_in(window: str, language: str) -> list[int]:
    window = _SPACE_BEFORE_STOP.sub(lambda spaces: " " * len(spaces[0]), window)
    return [boundary["end_index"] for boundary in sentencex.get_sentence_boundaries(language, window)]


def _lengths(text: str, fits: Callable[[str], bool]) -> Iterator[int]:
    """Lengths of consecutive parts of ``text`` that fit or are copied.

    An address or code that is too long by itself is a part of its own: half of one would be translated.
    """
    start = 0
    if is_translatable(text) and not fits(text):
        for first, last in verbatim_spans(text):
            if not fits(text[first:last]):
                yield from _lengths_between(text[start:first], fits)
                yield last - first
                start = last
    yield from _lengths_between(text[start:], fits)


def _lengths_between(text: str, fits: Callable[[str], bool]) -> Iterable[int]:
    if not text:
        return []
    return [len(text)] if not is_translatable(text) or fits(text) else cut_to_fit(text, fits)


def _is_end(line: str, start: int, end: int, language: str) -> bool:
    if end == len(line):
        return True
    if unicodedata.category(line[end]).startswith("M") or line[end] in SELECTORS:
        return False
    if line[end - 1] in _MARKS_THAT_NEED_SPACE and not (line[end].isspace() or EMOJI.match(line, end)):
        return False
    following = line[end:].lstrip()[:1]
    if following == ":":
        return False
    tables = (_ANNOUNCES_MORE,) if following.isupper() else (_ANNOUNCES_MORE, _MAY_ANNOUNCE_MORE)
    patterns = (table[language] for table in tables if language in table)
    return not any(pattern.search(line, max(start, end - 16), end) for pattern in patterns)


def _fitting_spans(line: str, start: int, end: int, fits: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    sentence = line[start:end]
    text = sentence.strip()
    if not text:
        return
    start += len(sentence) - len(sentence.lstrip())
    for length in _lengths(text, fits):
        part = line[start : start + length]
        part_start = start + len(part) - len(part.lstrip())
        if part_text := part.strip():
            yield part_start, part_start + len(part_text)
        start += length
