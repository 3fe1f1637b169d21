"""Where the characters of a normalised text come from, and spans in other units than code points."""

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.text.normalise import compose, keep, normalise

OffsetUnit = Literal["codepoint", "utf16", "utf8"]
Span = tuple[int, int]

# A Hangul vowel or final consonant has no combining class, but composes with what stands before it.
_COMPOSING_JAMO = range(0x1160, 0x1200)


@dataclass(frozen=True)
class Normalised:
    """A normalised text; ``origins[i]`` is the span of the original that its character ``i`` comes from.

    Origins ascend. Characters that were composed or decomposed together share one origin.
    """

    text: str
    origins: tuple[Span, ...]

    def original_span(self, start: int, end: int) -> Span:
        """The span of the original behind ``text[start:end]``; empty, at its place, where that is empty."""
        if start < end:
            return self.origins[start][0], self.origins[end - 1][1]
        place = self.origins[start - 1][1] if start else 0
        return place, place

    def normalised_span(self, start: int, end: int) -> Span:
        """The other way: which part of ``text`` comes from ``original[start:end]``."""
        first, last = (bisect_left(self.origins, place, key=lambda origin: origin[0]) for place in (start, end))
        return first, last


def normalise_with_offsets(text: str) -> Normalised:
    """``normalise(text)`` with the place of every character in ``text``."""
    kept = [
        (replaced, (index, index + 1))
        for index, character in enumerate(text)
        for replaced in (" " if character.isspace() else keep(character))
    ]
    composed = [pair for cluster in _clusters(kept) for pair in _compose(cluster)]
    pairs = _single_spaces(composed)
    found = Normalised("".join(character for character, _ in pairs), tuple(span for _, span in pairs))
    assert found.text == normalise(text)
    return found


def _clusters(pairs: Sequence[tuple[str, Span]]) -> Iterator[list[tuple[str, Span]]]:
    """Cuts before every character that cannot compose with what stands before it."""
    cluster: list[tuple[str, Span]] = []
    for character, span in pairs:
        if cluster and not _composes(character):
            yield cluster
            cluster = []
        cluster.append((character, span))
    if cluster:
        yield cluster


def _composes(character: str) -> bool:
    return unicodedata.category(character).startswith("M") or ord(character) in _COMPOSING_JAMO


def _compose(cluster: Sequence[tuple[str, Span]]) -> list[tuple[str, Span]]:
    text = "".join(character for character, _ in cluster)
    composed = compose(text)
    if composed == text:
        return list(cluster)
    whole = (cluster[0][1][0], cluster[-1][1][1])
    return [(character, whole) for character in composed]


def _single_spaces(pairs: Sequence[tuple[str, Span]]) -> list[tuple[str, Span]]:
    """Merges runs of spaces and strips both ends."""
    merged: list[tuple[str, Span]] = []
    for character, span in pairs:
        if character != " ":
            merged.append((character, span))
        elif merged and merged[-1][0] == " ":
            merged[-1] = (" ", (merged[-1][1][0], span[1]))
        elif merged:
            merged.append((" ", span))
    if merged and merged[-1][0] == " ":
        merged.pop()
    return merged


class OffsetConverter:
    """Turns spans of one text from code points into another unit."""

    def __init__(self, text: str, unit: OffsetUnit) -> None:
        self._offsets: list[int] | None = None
        if unit == "codepoint" or text.isascii():
            return
        self._offsets = [0]
        for character in text:
            self._offsets.append(self._offsets[-1] + _units(character, unit))

    def __call__(self, span: Span) -> Span:
        """``span`` in the unit."""
        if self._offsets is None:
            return span
        return self._offsets[span[0]], self._offsets[span[1]]


def _units(character: str, unit: OffsetUnit) -> int:
    if unit == "utf16":
        return 2 if ord(character) > 0xFFFF else 1
    # A lone surrogate, which is no character, would take three bytes.
    return len(character.encode("utf-8", "surrogatepass"))
