"""How often numbers come out as other numbers: ``python -m model.numbers MODEL``.

Sentences of nine kinds, made of frames that ``model.augment`` does not use and of numbers drawn at random with a fixed
seed, are translated with beam 4. A translation of digits is right if its digits, read from left to right, are those of
the source: a number that is written out counts as changed; none here is so small that people would. A translation of a
number in words is right if it has the number's words in the other language, or its digits.
"""

import argparse
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.engine.hypotheses import SearchOptions
from app.engine.step_model import StepModel
from app.text.tokenizer import Tokenizer
from model.corpus import Pair
from model.evaluate import open_model, translate_lines
from model.number_words import english_number, english_ordinal, french_number, french_ordinal
from model.quantities import digits, grouped
from model.scoring import Direction

_SEED = 99
_SENTENCES = 120
_SHOWN = 3


@dataclass(frozen=True)
class Kind:
    """One way in which numbers stand in text.

    Attributes:
        draw: a number as English and as French write it.
        in_words: whether that is words, not digits.
    """

    name: str
    frames: tuple[Pair, ...]
    draw: Callable[[random.Random], Pair]
    in_words: bool = False


@dataclass(frozen=True)
class Found:
    """How many of ``sentences`` of one kind lost their number, and which, as sources and translations."""

    kind: str
    sentences: int
    changed: tuple[Pair, ...]


def _amount(source: random.Random) -> Pair:
    return grouped(digits(source.choice((3, 4, 5, 6)), source))


def _same(draw: Callable[[random.Random], str]) -> Callable[[random.Random], Pair]:
    """Both languages write it alike."""

    def drawn(source: random.Random) -> Pair:
        number = draw(source)
        return number, number

    return drawn


def _decimal(source: random.Random) -> Pair:
    english = f"{source.randint(11, 999)}.{source.randint(1, 99)}"
    return english, english.replace(".", ",")


def _time(source: random.Random) -> Pair:
    hour, minute = source.randint(10, 23), source.randint(10, 59)
    return f"{hour}:{minute}", f"{hour} h {minute}"


def _cardinal(source: random.Random) -> Pair:
    number = source.randint(2, 99)
    return english_number(number), french_number(number)


def _ordinal(source: random.Random) -> Pair:
    number = source.randint(2, 99)
    return english_ordinal(number), french_ordinal(number)


_DIGITS = {words: str(number) for number in range(2, 100) for words in (english_number(number), french_number(number))}
_DIGITS |= {words: str(n) for n in range(2, 100) for words in (english_ordinal(n), french_ordinal(n))}

KINDS = (
    Kind(
        "amounts of three to six digits",
        (
            ("He counted {} birds in the garden.", "Il a compté {} oiseaux dans le jardin."),
            ("The factory made {} bicycles last year.", "L'usine a fabriqué {} vélos l'année dernière."),
            ("They planted {} trees along the river.", "Ils ont planté {} arbres le long de la rivière."),
        ),
        _amount,
    ),
    Kind(
        "small numbers",
        (
            ("After {} days they found the boat.", "Après {} jours, ils ont trouvé le bateau."),
            ("She keeps {} old coins in a box.", "Elle garde {} vieilles pièces dans une boîte."),
        ),
        _same(lambda source: str(source.randint(13, 99))),
    ),
    Kind(
        "years",
        (
            ("My grandfather was born in {}.", "Mon grand-père est né en {}."),
            ("The bridge was built in {} and closed soon after.", "Le pont a été construit en {} et fermé peu après."),
        ),
        _same(lambda source: str(source.randint(1700, 2049))),
    ),
    Kind(
        "decimals",
        (
            ("The bag weighs {} kilos.", "Le sac pèse {} kilos."),
            ("Prices rose by {} percent.", "Les prix ont augmenté de {} pour cent."),
        ),
        _decimal,
    ),
    Kind(
        "times",
        (
            ("The train leaves at {} from the second platform.", "Le train part à {} du deuxième quai."),
            ("Dinner will be ready at {}.", "Le dîner sera prêt à {}."),
        ),
        _time,
    ),
    Kind(
        "telephone numbers",
        (
            ("My phone number is {}.", "Mon numéro de téléphone est le {}."),
            ("Call us at {} if you are late.", "Appelez-nous au {} si vous êtes en retard."),
        ),
        _same(lambda source: " ".join(f"{source.randint(0, 99):02}" for _ in range(5))),
    ),
    Kind(
        "codes",
        (
            ("Your order number is {}.", "Votre numéro de commande est {}."),
            ("Enter the code {} at the door.", "Entrez le code {} à la porte."),
        ),
        _same(lambda source: digits(source.choice((4, 5, 6, 7, 8)), source)),
    ),
    Kind(
        "cardinals in words",
        (
            ("She planted {} trees in front of the house.", "Elle a planté {} arbres devant la maison."),
            ("There were {} boats in the harbour.", "Il y avait {} bateaux dans le port."),
        ),
        _cardinal,
        in_words=True,
    ),
    Kind(
        "ordinals in words",
        (
            ("This was his {} victory.", "C'était sa {} victoire."),
            ("She sat down in the {} row.", "Elle s'est assise au {} rang."),
        ),
        _ordinal,
        in_words=True,
    ),
)


def digits_of(text: str) -> str:
    """All digits of a text, from left to right."""
    return "".join(character for character in text if character.isdecimal())


def sentences(kind: Kind, language: int, count: int = _SENTENCES) -> list[str]:
    """The same numbers in either language: 0 is English, 1 French."""
    numbers = drawn(kind, count)
    return [
        kind.frames[place % len(kind.frames)][language].format(number[language]) for place, number in enumerate(numbers)
    ]


def drawn(kind: Kind, count: int = _SENTENCES) -> list[Pair]:
    """The numbers of ``sentences``, in both languages."""
    source = random.Random(_SEED)
    return [kind.draw(source) for _ in range(count)]


def says(translation: str, words: str) -> bool:
    """Whether ``translation`` has a number that is written ``words``, or its digits, and not as part of another."""
    # "vingt" is not in "vingt-deux" and "vingt et un"; "une" is "un".
    in_words = rf"(?<![\w-]){re.escape(words)}e?s?(?![\w-]| et (?:une?|onze)\b)"
    in_digits = rf"(?<!\d){_DIGITS[words]}(?!\d)"
    return re.search(f"{in_words}|{in_digits}", translation, re.IGNORECASE) is not None


def changed_numbers(model: StepModel, tokenizer: Tokenizer, direction: Direction) -> list[Found]:
    """Translates every kind of ``direction``, from English into French or back."""
    options = SearchOptions(4, 1.0, 0, model.limits.target_len)
    language = int(direction.source == "fr")
    found = []
    for kind in KINDS:
        texts = sentences(kind, language)
        translations = translate_lines(model, tokenizer, texts, direction, options)
        pairs = zip(texts, translations, strict=True)
        numbers = drawn(kind, len(texts))
        changed = tuple(
            (text, translation)
            for number, (text, translation) in zip(numbers, pairs, strict=True)
            if not (
                says(translation, number[1 - language]) if kind.in_words else digits_of(text) == digits_of(translation)
            )
        )
        found.append(Found(kind.name, len(texts), changed))
    return found


def table(found: Sequence[Sequence[Found]], directions: Sequence[Direction]) -> str:
    """Markdown: how many of how many changed, one row for each kind, and a few examples."""
    lines = ["| Numbers | " + " | ".join(map(str, directions)) + " |", "|---|" + "--:|" * len(directions)]
    for kind in zip(*found, strict=True):
        counts = (f"{len(one.changed)} of {one.sentences}" for one in kind)
        lines.append(f"| {kind[0].kind} | {' | '.join(counts)} |")
    lines.append("")
    examples = (pair for each in found for one in each for pair in one.changed[:_SHOWN])
    lines += [f"- `{source}`: `{translation}`" for source, translation in examples]
    return "\n".join(lines)


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a checkpoint or a model directory")
    model, tokenizer = open_model(parser.parse_args().model, "int8")
    directions = (Direction("en", "fr"), Direction("fr", "en"))
    print(table([changed_numbers(model, tokenizer, direction) for direction in directions], directions))


if __name__ == "__main__":
    main()
