"""Short pairs for what users type first and corpora of sentences lack: phrases, words, addresses, numbers, dates.

The phrases are written by hand (``phrasebook.tsv``: greetings, questions, signs, menus, headings, letters).
Prices, quantities, times and dates are made up, each in the way of its language; telephone numbers and codes are alike.
"""

import random
from collections.abc import Sequence
from pathlib import Path

from model.corpus import Pair, read_columns
from model.identifiers import code, telephone
from model.nouns import read_nouns, with_noun
from model.number_words import number_in_words
from model.quantities import digits, filled, grouped, quantity
from model.verbatim import Verbatim

PHRASEBOOK = Path(__file__).with_name("phrasebook.tsv")

_MONTHS = (
    *(("January", "janvier"), ("February", "février"), ("March", "mars"), ("April", "avril"), ("May", "mai")),
    *(("June", "juin"), ("July", "juillet"), ("August", "août"), ("September", "septembre"), ("October", "octobre")),
    *(("November", "novembre"), ("December", "décembre")),
)
_WITH_PRICE = (
    ("{}", "{}"),
    ("It costs {}.", "Ça coûte {}."),
    ("The book costs {}.", "Le livre coûte {}."),
    ("The ticket costs {}.", "Le billet coûte {}."),
    ("I paid {} for it.", "Je l'ai payé {}."),
    ("The total is {}.", "Le total est de {}."),
    ("The price is {}.", "Le prix est de {}."),
    ("Price: {}", "Prix : {}"),
)
_EVENING = 6
_WITH_TIME = (
    ("It is {}.", "Il est {}."),
    ("The train leaves at {}.", "Le train part à {}."),
    ("The bus arrives at {}.", "Le bus arrive à {}."),
    ("The meeting starts at {}.", "La réunion commence à {}."),
    ("The museum opens at {}.", "Le musée ouvre à {}."),
    ("See you at {}!", "Rendez-vous à {} !"),
)
_WITH_DATE = (
    ("{}", "{}"),
    ("Paris, {}", "Paris, le {}"),
    ("The meeting is on {}.", "La réunion est le {}."),
    ("She was born on {}.", "Elle est née le {}."),
    ("The exhibition ends on {}.", "L'exposition se termine le {}."),
    ("Last updated on {}", "Dernière mise à jour le {}"),
)


def read_phrases(path: Path = PHRASEBOOK) -> list[Pair]:
    """Two columns, English and French.

    Raises:
        ValueError: there is no line, or one does not have two columns.
    """
    if pairs := read_columns(path):
        return pairs
    raise ValueError(f"{path} is empty")


def price(source: random.Random) -> Pair:
    """``$1,250.50`` and ``1 250,50 $``."""
    sign = source.choice("$€£")
    english, french = grouped(digits(source.randint(1, 5), source))
    if source.random() < 0.6:
        cents = source.randint(0, 99)
        english, french = f"{english}.{cents:02d}", f"{french},{cents:02d}"
    return filled(_WITH_PRICE, (f"{sign}{english}", f"{french} {sign}"), source)


def time(source: random.Random) -> Pair:
    """``9:05`` and ``9 h 05``, or ``9:05 pm`` and ``9 h 05 du soir``."""
    minute = source.randint(0, 59)
    if source.random() < 0.5:
        hour, english_half, french_half = source.randint(0, 23), "", ""
    else:
        hour = source.randint(1, 11)
        afternoon = source.random() < 0.5
        english_half = source.choice((" pm", " p.m.", " PM") if afternoon else (" am", " a.m.", " AM"))
        french_half = (" de l'après-midi" if hour < _EVENING else " du soir") if afternoon else " du matin"
    french = f"{hour} h {minute:02d}{french_half}"
    english, french = filled(_WITH_TIME, (f"{hour}:{minute:02d}{english_half}", french), source)
    # The point of "p.m." ends a sentence, too.
    return english.replace("m..", "m."), french


def date(source: random.Random) -> Pair:
    """``5 March 2024`` or ``March 5, 2024``, and ``5 mars 2024``."""
    month, mois = source.choice(_MONTHS)
    day, year = source.randint(1, 28), source.randint(1800, 2060)
    english = f"{day} {month} {year}" if source.random() < 0.5 else f"{month} {day}, {year}"
    return filled(_WITH_DATE, (english, f"{'1er' if day == 1 else day} {mois} {year}"), source)


class ShortTexts:
    """Draws short pairs: phrases, words, nouns, numbers in words, fewer with addresses, quantities, prices, dates."""

    def __init__(self, phrases: Sequence[Pair], words: Sequence[Pair], verbatim: Verbatim) -> None:
        """``words``: pairs in small letters, as ``model.lexicon`` finds them."""
        self._phrases = phrases
        self._words = words
        self._nouns = read_nouns()
        self._mention = verbatim.mention

    def __call__(self, source: random.Random) -> Pair:
        """One pair."""
        kinds = (
            *((self._phrase, 26), (self._word, 16), (self._noun, 20), (number_in_words, 20), (self._mention, 14)),
            *((quantity, 11), (price, 6), (time, 5), (date, 5), (telephone, 6), (code, 5)),
        )
        draws, shares = zip(*kinds, strict=True)
        drawn: Pair = source.choices(draws, shares)[0](source)
        return drawn

    def _noun(self, source: random.Random) -> Pair:
        return with_noun(self._nouns, source)

    def _phrase(self, source: random.Random) -> Pair:
        return source.choice(self._phrases)

    def _word(self, source: random.Random) -> Pair:
        first, second = source.choice(self._words)
        return (first, second) if source.random() < 0.5 else (_capitalised(first), _capitalised(second))


def _capitalised(word: str) -> str:
    return word[0].upper() + word[1:]
