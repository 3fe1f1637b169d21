"""Pairs for what users paste: ``python -m model.augment CORPORA OUT.tsv --lexicon WORDS.tsv``.

Corpora are mostly clean sentences; users paste headings, lists, addresses, numbers and names. Every pair
written here is a real one changed in the same way on both sides, so that it serves both directions:

- copying: a name, number, address or piece of code that stands on both sides is replaced by another one, or by a
  placeholder;
- form: lower case, no final punctuation, list items, quotation marks, emoji, an address at the end, markup around
  everything, a name, or one or two words that ``model.lexicon`` found to mean the same;
- single names and other short texts that mean the same in both languages;
- phrases, words, everyday nouns, numbers in words, quantities, prices, times, dates and sentences with an address or
  code (``model.short_texts``), as they are or changed in form.

Sentences in capitals are not made: the model reads those in small letters (``app.text.capitals``).
The first pairs of every corpus are left alone: from them come the held-out pairs (``model.dataset``). Pairs with a
sentence of a test set must be left out here (``--exclude``): changed, nobody would find them again.
"""

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path

from model import corpus
from model.check_overlap import evaluation_forms
from model.config import ConfigError, TrainingConfig
from model.corpus import WORD, FilterCounts, Pair, corpus_files, read_pairs
from model.quantities import digits
from model.short_texts import ShortTexts, read_phrases
from model.verbatim import Verbatim

Change = Callable[[Pair, random.Random], Pair | None]
Span = tuple[int, int]

_READ_PER_CORPUS = 200_000
_LONGEST_CHARACTERS = 110
_RAREST_NAME = 3
_SAME_SHARE = 0.05
_SHORT_SHARE = 0.4
_SEED = 7

_NUMBER = re.compile(r"(?<![\w.,:/-])\d{2,6}(?![\w:/-]|[.,]\d)")
_FINAL = re.compile(r"\s*[.!?…]+$")
_VOWELS = "aeiouyhàâäéèêëîïôöùûüœæ"
_EMOJI = "😀😂😉😍🙂🙏👍👏🎉❤🔥✨🚀🐈🐕🌍🍕☕🎂✅⚠📷🎵💡"
_MARKERS = ("-", "*", "•", "–", "1.", "2.", "3)", "a)", ">", "#", "##")
_SAME = (
    *("OK", "Ok", "ok", "A", "B", "X", "URL", "PDF", "FAQ", "SMS", "Wi-Fi", "GPS", "DVD", "CV", "Internet", "Taxi"),
    *("Pizza", "Sandwich", "Restaurant", "Hotel California", "Option 1", "Version 2", "Menu", "Page 3", "Point 4"),
)
_MARKUP = (
    *(("**", "**"), ("**", "**"), ("*", "*"), ("_", "_"), ("__", "__"), ("<b>", "</b>"), ("<i>", "</i>")),
    *(("<em>", "</em>"), ("<strong>", "</strong>"), ("<p>", "</p>"), ("<li>", "</li>"), ("<h1>", "</h1>")),
)
_QUOTES = (('"', '"', "« ", " »"), ("“", "”", "« ", " »"), ('"', '"', '"', '"'), ("'", "'", "« ", " »"))


def copied_names(pairs: Sequence[Pair]) -> list[str]:
    """Capitalised words that stand inside a sentence on both sides, the most frequent first.

    Where the same word stands more often in small letters ("Town"), it has a translation and is no name.
    """
    counts: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for pair in pairs:
        first, second = ({match[0] for match in WORD.finditer(text) if match.start() > 0} for text in pair)
        counts.update(word for word in first & second if word[0].isupper() and len(word) > 2)
        small.update(word for word in first | second if word.islower())
    return [name for name, count in counts.most_common() if count >= _RAREST_NAME and small[name.lower()] < count]


class Changes:
    """The kinds of change, each with its weight in the draw; one that does not suit a pair makes none of it."""

    def __init__(self, names: Sequence[str], words: Sequence[Pair], verbatim: Verbatim) -> None:
        """``words``: pairs in small letters, as ``model.lexicon`` finds them."""
        self._names = names
        self._verbatim = verbatim
        self._translations = dict(words)
        # "de Tom" must not become "de Anna": French would say "d'Anna".
        self._consonant_names = [name for name in names if name[0].lower() not in _VOWELS]
        self._replaceable = frozenset(self._consonant_names)
        self.kinds: tuple[tuple[Change, int], ...] = (
            (self.rename, 26),
            (self.renumber, 11),
            (self.placed, 24),
            (self.marked, 16),
            (self.lower, 13),
            (self.unfinished, 14),
            (self.list_item, 9),
            (self.quoted, 7),
            (self.with_emoji, 5),
            (self.with_address, 5),
        )

    def rename(self, pair: Pair, source: random.Random) -> Pair | None:
        """Another name, now and then an address or code, in the place of one that both sides have."""
        other = source.choice(self._consonant_names) if source.random() < 0.65 else self._verbatim(source)
        return self._in_place_of_a_name(pair, lambda _: other, source)

    def placed(self, pair: Pair, source: random.Random) -> Pair | None:
        """Placeholders in the place of up to three numbers and names that both sides have once."""
        first, second = (Counter([*_NUMBER.findall(text), *WORD.findall(text)]) for text in pair)
        shared = [one for one, count in first.items() if count == second[one] == 1]
        replaceable = [one for one in shared if one.isdecimal() or one in self._replaceable]
        if not replaceable:
            return None
        chosen = source.sample(replaceable, min(len(replaceable), source.randint(1, 3)))
        others = {one: self._verbatim.placeholder(source) for one in chosen}
        pattern = re.compile("|".join(rf"\b{re.escape(one)}\b" for one in chosen))
        return _both(pair, lambda text: pattern.sub(lambda match: others[match[0]], text))

    def marked(self, pair: Pair, source: random.Random) -> Pair | None:
        """Markup around everything, a name that both sides have, or words of which one is the other's translation."""
        opening, closing = source.choice(_MARKUP)
        draw = source.random()
        if draw < 0.2:
            return _both(pair, lambda text: f"{opening}{text}{closing}")
        if draw < 0.3:
            return self._in_place_of_a_name(pair, lambda name: f"{opening}{name}{closing}", source)
        links = self._links(pair)
        if not links:
            return None
        start = source.randrange(len(links))
        end = start + source.choice((1, 1, 2))
        spans = _joined(links[start:end], pair) or links[start]
        first, second = (
            f"{text[:left]}{opening}{text[left:right]}{closing}{text[right:]}"
            for text, (left, right) in zip(pair, spans, strict=True)
        )
        return first, second

    def _links(self, pair: Pair) -> list[tuple[Span, Span]]:
        """Where words stand that have their translation on the other side, both once, in the order of the first."""
        first, second = ([(match[0].lower(), match.span()) for match in WORD.finditer(text)] for text in pair)
        counts = [Counter(word for word, _ in side) for side in (first, second)]
        places = dict(second)
        linked = ((word, span, self._translations.get(word)) for word, span in first)
        return [
            (span, places[other]) for word, span, other in linked if other and counts[0][word] == counts[1][other] == 1
        ]

    def renumber(self, pair: Pair, source: random.Random) -> Pair | None:
        """Other numbers, as long and the same on both sides."""
        first, second = (_NUMBER.findall(text) for text in pair)
        if not first or sorted(first) != sorted(second):
            return None
        other = {number: digits(len(number), source) for number in sorted(set(first))}
        return _both(pair, lambda text: _NUMBER.sub(lambda match: other[match[0]], text))

    def lower(self, pair: Pair, source: random.Random) -> Pair:
        """Lower case, half of the time without final punctuation."""
        lowered = _both(pair, str.lower)
        return self.unfinished(lowered, source) if source.random() < 0.5 else lowered

    def unfinished(self, pair: Pair, _: random.Random) -> Pair:
        """Without final punctuation."""
        return _both(pair, lambda text: _FINAL.sub("", text))

    def list_item(self, pair: Pair, source: random.Random) -> Pair:
        """With a mark before it."""
        marker = source.choice(_MARKERS)
        return _both(pair, lambda text: f"{marker} {text}")

    def quoted(self, pair: Pair, source: random.Random) -> Pair:
        """In quotation marks of each language; English stands first."""
        opening, closing, french_opening, french_closing = source.choice(_QUOTES)
        return f"{opening}{pair[0]}{closing}", f"{french_opening}{pair[1]}{french_closing}"

    def with_emoji(self, pair: Pair, source: random.Random) -> Pair | None:
        """With an emoji or a few before the final punctuation: those at the ends are copied by the server."""
        if not all(map(_FINAL.search, pair)):
            return None
        emoji = source.choice(_EMOJI) * source.choice((1, 1, 1, 2, 3))
        return _both(pair, lambda text: _FINAL.sub(lambda final: f" {emoji}{final[0]}", text))

    def with_address(self, pair: Pair, source: random.Random) -> Pair:
        """With a URL, an e-mail address or code after it."""
        address = self._verbatim(source)
        return _both(pair, lambda text: f"{text} {address}")

    def _in_place_of_a_name(self, pair: Pair, other: Callable[[str], str], source: random.Random) -> Pair | None:
        first, second = (set(WORD.findall(text)) for text in pair)
        shared = sorted(word for word in first & second if word in self._replaceable)
        if not shared:
            return None
        name = source.choice(shared)
        return _both(pair, lambda text: re.sub(rf"\b{re.escape(name)}\b", lambda _: other(name), text))

    def form(self, pair: Pair, source: random.Random) -> Pair:
        """As it is, or changed in form alone."""
        kinds: tuple[Change, ...] = (self.lower, self.unfinished, self.list_item, self.quoted, self.with_emoji)
        return pair if source.random() < 0.5 else source.choice(kinds)(pair, source) or pair

    def same(self, source: random.Random) -> Pair:
        """A text that is the same in both languages."""
        text = source.choice(self._names) if source.random() < 0.7 else source.choice((*_SAME, self._verbatim(source)))
        if source.random() < 0.2:
            text = f"{source.choice(self._names)} {text}"
        return text, text


def _joined(links: Sequence[tuple[Span, Span]], pair: Pair) -> tuple[Span, Span] | None:
    """The spans that the links cover on each side, if nothing else stands there."""
    sides = [sorted(side) for side in zip(*links, strict=True)]
    for text, spans in zip(pair, sides, strict=True):
        between = (text[one[1] : other[0]] for one, other in pairwise(spans))
        if any(space != " " for space in between):
            return None
    return (sides[0][0][0], sides[0][-1][1]), (sides[1][0][0], sides[1][-1][1])


def augmented(pairs: Sequence[Pair], changes: Changes, short: ShortTexts, wanted: int) -> Iterator[Pair]:
    """``wanted`` changed pairs; one in twenty is the same in both languages, two in five are short texts."""
    source = random.Random(_SEED)
    kinds, shares = zip(*changes.kinds, strict=True)
    made = 0
    while made < wanted:
        draw = source.random()
        if draw < _SAME_SHARE:
            changed = changes.same(source)
        elif draw < _SAME_SHARE + _SHORT_SHARE:
            changed = changes.form(short(source), source)
        else:
            changed = source.choices(kinds, shares)[0](source.choice(pairs), source)
        if changed and all(changed):
            made += 1
            yield changed


def _read(corpora: Path, output: Path, excluded: Sequence[Container[str]]) -> list[Pair]:
    """Real pairs: what was written here before is none."""
    every: list[Pair] = []
    for path in corpus_files(corpora).values():
        if path.resolve() != output.resolve():
            every += islice(read_pairs(path, FilterCounts(), excluded), corpus.LEFT_ALONE, _READ_PER_CORPUS)
    if not every:
        raise ConfigError(f"no corpus in {corpora} has more than {corpus.LEFT_ALONE:,} pairs, which are left alone")
    return every


def _both(pair: Pair, change: Callable[[str], str]) -> Pair:
    return change(pair[0]), change(pair[1])


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path, help="two columns, English and French")
    parser.add_argument("output", type=Path)
    parser.add_argument("--lexicon", type=Path, required=True, help="pairs of words, from model.lexicon")
    parser.add_argument("--exclude", type=Path, help="folder of test sets: pairs with their sentences are not read")
    parser.add_argument("--pairs", type=int, default=150_000)
    arguments = parser.parse_args()
    excluded = evaluation_forms(arguments.exclude, TrainingConfig.languages) if arguments.exclude else []
    every = _read(arguments.corpora, arguments.output, excluded)
    names = copied_names(every)
    if not names:
        raise ConfigError(f"no name stands on both sides of {_RAREST_NAME} pairs of {arguments.corpora}")
    fitting = [pair for pair in every if max(map(len, pair)) <= _LONGEST_CHARACTERS]
    words = read_phrases(arguments.lexicon)
    verbatim = Verbatim(words)
    short = ShortTexts(read_phrases(), words, verbatim)
    made = augmented(fitting, Changes(names, words, verbatim), short, arguments.pairs)
    with arguments.output.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{first}\t{second}\n" for first, second in made)
    print(f"{arguments.pairs:,} pairs with {len(names):,} names from {len(fitting):,} pairs")


if __name__ == "__main__":
    main()
