"""Words and their translations, learned from sentence pairs: ``python -m model.lexicon CORPORA OUT.tsv``.

Corpora hold sentences; users also look up single words, which a model trained on sentences alone often copies. A pair
of words is written where each is by far the likeliest translation of the other under IBM Model 1 (Brown et al. 1993,
"The Mathematics of Statistical Machine Translation", section 4.1), trained once in each direction. The first pairs of
every corpus are left alone: from them come the held-out pairs (``model.dataset``).
"""

import argparse
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from model import corpus
from model.check_overlap import evaluation_forms
from model.config import ConfigError, TrainingConfig
from model.corpus import WORD, FilterCounts, Pair, corpus_files, read_pairs

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_ROUNDS = 8
_MOST_WORDS = 18
_PAIRS_PER_CORPUS = 160_000
_SHORTEST_WORD = 3
_RAREST_WORD = 4
_LEAST_PROBABILITY = 0.3
_LEAST_PRODUCT = 0.15


@dataclass(frozen=True)
class Cooccurrences:
    """Which word pairs share a sentence, one entry for every source and target word of every sentence.

    Attributes:
        sources: ``[links]`` word of the first language, of every distinct pair of words.
        targets: ``[links]`` word of the second language.
        link: ``[entries]`` index into the two above.
        source_place: ``[entries]`` the running number of the word of the first language in the whole text.
        target_place: ``[entries]`` the same of the second language.
    """

    sources: Ints
    targets: Ints
    link: Ints
    source_place: Ints
    target_place: Ints


def words(text: str) -> list[str]:
    """Words without digits; ``l'église`` has two."""
    return WORD.findall(text)


def common_words(texts: Sequence[Sequence[str]]) -> list[str]:
    """Words that stand in small letters inside sentences, where no sentence begins: names and the like are left out."""
    inside = Counter(word for text in texts for word in text[1:])
    small = Counter(word for text in texts for word in text if word.islower())
    capitals = Counter[str]()
    for word, count in inside.items():
        if not word.islower():
            capitals[word.lower()] += count
    return sorted(word for word, count in small.items() if count >= _RAREST_WORD and count > 4 * capitals[word])


def cooccurrences(sides: tuple[Sequence[Ints], Sequence[Ints]], target_words: int) -> Cooccurrences:
    """``sides``: the numbers of the words of every sentence; ``target_words``: how many the second language has."""
    keys, source_places, target_places = [], [], []
    source_start = target_start = 0
    for source, target in zip(*sides, strict=True):
        keys.append((source[:, None] * target_words + target).reshape(-1))
        source_places.append(np.repeat(np.arange(source_start, source_start + len(source)), len(target)))
        target_places.append(np.tile(np.arange(target_start, target_start + len(target)), len(source)))
        source_start += len(source)
        target_start += len(target)
    distinct, link = np.unique(np.concatenate(keys), return_inverse=True)
    return Cooccurrences(
        sources=distinct // target_words,
        targets=distinct % target_words,
        link=link,
        source_place=np.concatenate(source_places),
        target_place=np.concatenate(target_places),
    )


def translation_probabilities(given: Ints, link: Ints, place: Ints, rounds: int = _ROUNDS) -> Floats:
    """IBM Model 1 by expectation maximisation, without the empty word.

    Args:
        given: ``[links]`` the word that is translated.
        link: ``[entries]`` index into ``given``.
        place: ``[entries]`` which written word each entry could explain; those of a place share one count.

    Returns:
        ``[links]`` probability of the other word given this one; those of one ``given`` word sum to 1.
    """
    probabilities = np.ones(len(given))
    for _ in range(rounds):
        likely = probabilities[link]
        expected = likely / np.bincount(place, weights=likely)[place]
        counts = np.bincount(link, weights=expected, minlength=len(given))
        probabilities = counts / np.bincount(given, weights=counts)[given]
    return probabilities


def mutual_translations(pairs: Sequence[Pair]) -> list[tuple[str, str, float]]:
    """Words that are each other's likeliest translation, with the product of both probabilities, best first."""
    texts = [[words(pair[side]) for pair in pairs] for side in (0, 1)]
    vocabularies = [common_words(side) for side in texts]
    numbers = [{word: number for number, word in enumerate(vocabulary)} for vocabulary in vocabularies]
    sides = tuple(
        [np.array([index[word] for word in map(str.lower, text) if word in index], np.int64) for text in side]
        for side, index in zip(texts, numbers, strict=True)
    )
    fitting = [
        index for index, both in enumerate(zip(*sides, strict=True)) if all(0 < len(one) <= _MOST_WORDS for one in both)
    ]
    first, second = ([side[index] for index in fitting] for side in sides)
    found = cooccurrences((first, second), len(vocabularies[1]))
    forwards = translation_probabilities(found.sources, found.link, found.target_place)
    backwards = translation_probabilities(found.targets, found.link, found.source_place)
    chosen = _best(found.sources, forwards) & _best(found.targets, backwards)
    chosen &= (np.minimum(forwards, backwards) >= _LEAST_PROBABILITY) & (forwards * backwards >= _LEAST_PRODUCT)
    links = np.flatnonzero(chosen)
    links = links[np.argsort(-(forwards * backwards)[links], kind="stable")]
    return [
        (
            vocabularies[0][found.sources[link]],
            vocabularies[1][found.targets[link]],
            float(forwards[link] * backwards[link]),
        )
        for link in links.tolist()
    ]


def _best(given: Ints, probabilities: Floats) -> npt.NDArray[np.bool_]:
    """``[links]`` whether no other translation of the same word is likelier."""
    highest = np.zeros(given.max() + 1)
    np.maximum.at(highest, given, probabilities)
    best: npt.NDArray[np.bool_] = probabilities == highest[given]
    return best


def _lexicon(corpora: Path, excluded: Sequence[Container[str]]) -> Iterator[Pair]:
    pairs: list[Pair] = []
    for path in corpus_files(corpora).values():
        pairs += islice(read_pairs(path, FilterCounts(), excluded), corpus.LEFT_ALONE, _PAIRS_PER_CORPUS)
    if not pairs:
        raise ConfigError(f"no corpus in {corpora} has more than {corpus.LEFT_ALONE:,} pairs, which are left alone")
    for first, second, _ in mutual_translations(pairs):
        if min(len(first), len(second)) >= _SHORTEST_WORD:
            yield first, second


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path, help="two columns, English and French")
    parser.add_argument("output", type=Path, help="not among the corpora")
    parser.add_argument("--exclude", type=Path, help="folder of test sets: pairs with their sentences are not read")
    arguments = parser.parse_args()
    excluded = evaluation_forms(arguments.exclude, TrainingConfig.languages) if arguments.exclude else []
    found = list(_lexicon(arguments.corpora, excluded))
    with arguments.output.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{first}\t{second}\n" for first, second in found)
    print(f"{len(found):,} pairs of words")


if __name__ == "__main__":
    main()
