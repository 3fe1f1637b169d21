"""What deserves a second look in a translation: hints with their places, not a measure of quality."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

import numpy as np

from app.attention.alignment import Alignment
from app.engine.step_model import Float32

CAPTION = (
    "Attention shows where weight was placed when each piece was predicted. It is not a reason and not a quality score."
)
"""Goes with every signal that comes from attention."""

SignalKind = Literal[
    "ignored_source", "unsourced_target", "repetition", "copy_through", "changed_number", "changed_code", "low_logprob"
]
Side = Literal["source", "target"]
Span = tuple[int, int]


@dataclass(frozen=True)
class Thresholds:
    """When a signal is given.

    The first three suit one model in one direction: ``python -m model.calibrate`` measures them, with how often the
    signal is then given and right, and the server reads them from beside the model. These defaults hold for a
    direction that was not measured; how often they are right there nobody knows.

    Attributes:
        ignored_source: least weight that a source word gets from all target words together.
        unsourced_target: least weight that a target word puts on the source word it looks at most.
        low_logprob: least mean log-probability of a word's pieces.
        copied_words: so many words in a row that stand alike in source and translation.
        repeated_words: longest phrase whose immediate repetition is looked for.
    """

    ignored_source: float = 0.06
    unsourced_target: float = 0.15
    low_logprob: float = -3.0
    copied_words: int = 3
    repeated_words: int = 5


# One digit is often written out ("2 enfants", "two children"), more seldom are.
_FEWEST_DIGITS = 2
# Of a number written in groups ("1 250 000").
_MOST_GROUPS = 8
# Words that good French and English says twice in a row.
_DOUBLED = frozenset({"nous", "vous", "had", "that"})


# Addresses, tags and code are copied on purpose.
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# What nobody writes anew in another language. The end of an address is no punctuation of the sentence.
_CODE = re.compile(
    r"""(?:https?://|www\.)[^\s"'<>]*[\w/] # an address of a page
    | [\w.+-]+@[\w-]+(?:\.[\w-]+)+    # of a mailbox
    | \{+[^{}\s]*\}+                  # placeholders: {name}, {{0}}
    | %(?:\(\w+\)|\d+\$)?[sd]\b       # %s, %(name)s, %1$s
    | \$\{?[A-Za-z_]\w*\}?            # $name, ${name}
    | </?[A-Za-z][^<>\s]*>             # <b>, </b>
    | \w+(?:_\w+)+ | \w+\(\)           # snake_case, call()
    | \ufffd+                         # bytes that spell nothing
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class SignalWord:
    """A word as signals see it; ``tokens`` index the predicted pieces (target) or the encoder's (source)."""

    text: str
    span: Span
    tokens: tuple[int, ...]

    @property
    def bare(self) -> str:
        """Without case; empty for punctuation."""
        return self.text.casefold() if any(map(str.isalnum, self.text)) else ""


@dataclass(frozen=True)
class Signal:
    """One hint: words ``[first, last]`` of a side, the number that gave it and the threshold it passed."""

    kind: SignalKind
    side: Side
    first: int
    last: int
    span: Span
    value: float
    threshold: float


@dataclass(frozen=True)
class Signals:
    """All hints about one sentence.

    Attributes:
        mean_logprob: of all predicted pieces; the plainest sign of trouble, better than what attention tells.
        source_mass: for each source word the weight that all target words put on it.
        eos_mass: mean weight on the source's end of sentence, where heads put what they have no use for.
    """

    mean_logprob: float
    source_mass: tuple[float, ...]
    eos_mass: float
    found: tuple[Signal, ...]


def find_signals(
    alignment: Alignment,
    cross: Float32,
    log_probs: Float32,
    source: Sequence[SignalWord],
    target: Sequence[SignalWord],
    thresholds: Thresholds,
) -> Signals:
    """All signals of one sentence.

    Args:
        cross: ``[layer, head, query, key]``, the last key the end of sentence.
        log_probs: of the predicted pieces, ``[target_len]``.
    """
    mass = alignment.soft.sum(axis=0)
    found = [
        *_ignored(mass, source, thresholds.ignored_source),
        *_unsourced(alignment.soft, target, thresholds.unsourced_target),
        *_repeated(source, target, thresholds.repeated_words),
        *_copied(source, target, thresholds.copied_words),
        *_changed_numbers("source", source, target),
        *_changed_numbers("target", target, source),
        *_changed_code("source", source, target),
        *_changed_code("target", target, source),
        *_unlikely(log_probs, target, thresholds.low_logprob),
    ]
    eos_mass = float(cross[alignment.rule.layer].mean(axis=0)[:, -1].mean())
    return Signals(float(log_probs.mean()), tuple(mass.tolist()), eos_mass, tuple(found))


def _ignored(mass: Float32, source: Sequence[SignalWord], limit: float) -> Iterator[Signal]:
    for index in np.flatnonzero(mass < limit).tolist():
        if source[index].bare:
            yield Signal("ignored_source", "source", index, index, source[index].span, float(mass[index]), limit)


def _unsourced(soft: Float32, target: Sequence[SignalWord], limit: float) -> Iterator[Signal]:
    for index, most in enumerate(soft.max(axis=1, initial=0.0).tolist()):
        if most < limit and target[index].bare:
            yield Signal("unsourced_target", "target", index, index, target[index].span, most, limit)


def _unlikely(log_probs: Float32, target: Sequence[SignalWord], limit: float) -> Iterator[Signal]:
    each = log_probs.tolist()
    for index, word in enumerate(target):
        one, tokens = len(word.tokens) == 1, list(word.tokens)
        mean = each[tokens[0]] if one else float(log_probs[tokens].mean())
        if mean < limit:
            yield Signal("low_logprob", "target", index, index, word.span, mean, limit)


def _repeated(source: Sequence[SignalWord], target: Sequence[SignalWord], longest: int) -> Iterator[Signal]:
    """Phrases said twice in a row, where the source does not repeat itself at that length."""
    said, read = [word.bare for word in target], [word.bare for word in source]
    for length in range(1, longest + 1):
        starts = list(_repetitions(said, length))
        if not starts or any(True for _ in _repetitions(read, length)):
            continue
        for start in starts:
            last = start + 2 * length - 1
            span = (target[start].span[0], target[last].span[1])
            yield Signal("repetition", "target", start, last, span, 2.0, 2.0)


def _repetitions(bare: Sequence[str], length: int) -> Iterator[int]:
    for start in range(len(bare) - 2 * length + 1):
        # Most places end here: their first words already differ.
        if bare[start] != bare[start + length]:
            continue
        phrase = bare[start : start + length]
        if phrase != bare[start + length : start + 2 * length] or not any(phrase):
            continue
        # A phrase of one word over and over is found at length 1; a few words are doubled by grammar.
        if length > 1 and len(set(phrase)) == 1:
            continue
        if length > 1 or phrase[0] not in _DOUBLED:
            yield start


def _copied(source: Sequence[SignalWord], target: Sequence[SignalWord], fewest: int) -> Iterator[Signal]:
    """Runs of words that stand in the source just so: one alike may be a name or a cognate, several are not."""
    places: dict[str, list[int]] = {}
    for index, word in enumerate(source):
        places.setdefault(word.text, []).append(index)
    start = 0
    while start < len(target):
        alike = places.get(target[start].text, ())
        length = max((_common(source, target, first, start) for first in alike), default=0)
        words = sum(1 for word in target[start : start + length] if _PLAIN_WORD.fullmatch(word.text))
        if words >= fewest:
            last = start + length - 1
            span = (target[start].span[0], target[last].span[1])
            yield Signal("copy_through", "target", start, last, span, float(words), float(fewest))
        start += max(length, 1)


def _changed_numbers(side: Side, here: Sequence[SignalWord], there: Sequence[SignalWord]) -> Iterator[Signal]:
    """Numbers that do not stand on the other side, however their digits are grouped there.

    ``8,733`` and ``8 733`` are the same, ``8 73`` is not; one that is written out or Roman is taken for changed.
    """
    other = {number for _, number in _numbers(there)}
    kept = {index for words, number in _numbers(here) if number in other for index in words}
    for index, word in enumerate(here):
        if len(_digits(word)) >= _FEWEST_DIGITS and index not in kept:
            yield Signal("changed_number", side, index, index, word.span, 0.0, 1.0)


def _numbers(words: Sequence[SignalWord]) -> Iterator[tuple[range, str]]:
    """Words next to each other that may be one number, by index, and its digits."""
    digits = list(map(_digits, words))
    for start in range(len(words)):
        for end in range(start + 1, min(start + _MOST_GROUPS, len(words)) + 1):
            if not digits[end - 1]:
                break
            yield range(start, end), "".join(digits[start:end])


def _changed_code(side: Side, here: Sequence[SignalWord], there: Sequence[SignalWord]) -> Iterator[Signal]:
    """Addresses, placeholders, tags and code that do not stand on the other side just so."""
    runs = list(_runs(here))
    other = " ".join(_written(there, run) for run in _runs(there)) if runs else ""
    for run in runs:
        # Spans may count other units than characters.
        ends = list(accumulate(len(here[index].text) for index in run))
        for found in _CODE.finditer(_written(here, run)):
            if found[0] not in other:
                first = run[bisect_right(ends, found.start())]
                last = run[bisect_left(ends, found.end())]
                span = (here[first].span[0], here[last].span[1])
                yield Signal("changed_code", side, first, last, span, 0.0, 1.0)


def _runs(words: Sequence[SignalWord]) -> Iterator[range]:
    """Words with nothing between them, by index."""
    start = 0
    for index in range(1, len(words) + 1):
        if index == len(words) or words[index].span[0] != words[index - 1].span[1]:
            yield range(start, index)
            start = index


def _written(words: Sequence[SignalWord], run: range) -> str:
    return "".join(words[index].text for index in run)


def _digits(word: SignalWord) -> str:
    """Its decimal digits, whatever their script, as ASCII."""
    return "".join(str(unicodedata.decimal(character)) for character in word.text if character.isdecimal())


def _common(source: Sequence[SignalWord], target: Sequence[SignalWord], first: int, start: int) -> int:
    """How many words are alike from ``first`` in the source and ``start`` in the translation on."""
    length = 0
    while first + length < len(source) and start + length < len(target):
        if source[first + length].text != target[start + length].text:
            break
        length += 1
    return length
