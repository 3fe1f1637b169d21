"""Numbers written in words, as each language writes them: cardinals, ordinals, ages, clock times, parts.

Corpora write small numbers in words and most others in digits, so that a model hardly meets "forty" or
"soixante-douze", and guesses. French numbers follow the traditional spelling: hyphens below a hundred alone.
"""

import random

from model.corpus import Pair
from model.quantities import filled

_ENGLISH = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_ENGLISH_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ENGLISH_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}  # fmt: skip
_FRENCH = (
    *("zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze"),
    *("treize", "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf"),
)
_FRENCH_TENS = {20: "vingt", 30: "trente", 40: "quarante", 50: "cinquante", 60: "soixante", 80: "quatre-vingt"}

# Each with whether its French noun is feminine.
_COUNTED = (
    *(("people", "personnes", True), ("children", "enfants", False), ("students", "étudiants", False)),
    *(("rooms", "chambres", True), ("pages", "pages", True), ("words", "mots", False), ("cars", "voitures", True)),
    *(("trees", "arbres", False), ("countries", "pays", False), ("euros", "euros", False), ("flowers", "fleurs", True)),
    *(("bottles", "bouteilles", True), ("cats", "chats", False), ("tables", "tables", True), ("eggs", "œufs", False)),
    *(("letters", "lettres", True), ("friends", "amis", False), ("questions", "questions", True)),
    *(("horses", "chevaux", False), ("houses", "maisons", True), ("dollars", "dollars", False)),
    *(("men", "hommes", False), ("women", "femmes", True), ("workers", "ouvriers", False), ("towns", "villes", True)),
)
_DURATIONS = (
    *(("seconds", "secondes", True), ("minutes", "minutes", True), ("hours", "heures", True), ("days", "jours", False)),
    *(("weeks", "semaines", True), ("months", "mois", False), ("years", "ans", False)),
)
_WITH_COUNT = (
    ("{}", "{}"),
    ("more than {}", "plus de {}"),
    ("at least {}", "au moins {}"),
    ("There are {} here.", "Il y a {} ici."),
    ("I can see {} from the window.", "Je vois {} par la fenêtre."),
    ("They have {}.", "Ils ont {}."),
    ("I have {} at home.", "J'ai {} à la maison."),
    ("He lost {} last year.", "Il a perdu {} l'année dernière."),
    ("We found {}.", "Nous avons trouvé {}."),
    ("You need {}.", "Il vous faut {}."),
    ("She spoke about {}.", "Elle a parlé de {}."),
    ("This makes {} in total.", "Cela fait {} au total."),
    ("Give me {}, please.", "Donnez-moi {}, s'il vous plaît."),
    ("Nearly {} were counted, not {}.", "On a compté presque {}, et non {}."),
)
_WITH_DURATION = (
    ("{} later", "{} plus tard"),
    ("for {}", "pendant {}"),
    ("{} ago", "il y a {}"),
    ("It lasted {}.", "Cela a duré {}."),
    ("I have been waiting for {}.", "J'attends depuis {}."),
    ("He will be here in {}.", "Il sera ici dans {}."),
    ("They worked for {} without a break.", "Ils ont travaillé pendant {} sans pause."),
    ("Wait {}, then open the door.", "Attendez {}, puis ouvrez la porte."),
)
_WITH_AGE = (
    ("She is {} years old.", "Elle a {} ans."),
    ("He is {}.", "Il a {} ans."),
    ("My brother is {} years old.", "Mon frère a {} ans."),
    ("I was {} when I left.", "J'avais {} ans quand je suis parti."),
    ("at the age of {}", "à l'âge de {} ans"),
)
_WITH_ORDINAL = (
    ("the {} time", "la {} fois"),
    ("It is the {} day.", "C'est le {} jour."),
    ("the {} century", "le {} siècle"),
    ("He lives on the {} floor.", "Il habite au {} étage."),
    ("She came {}.", "Elle est arrivée {}."),
    ("Read the {} chapter.", "Lisez le {} chapitre."),
    ("This is my {} visit.", "C'est ma {} visite."),
)
_WITH_TIME = (
    ("It is {}.", "Il est {}."),
    ("We meet at {}.", "Nous nous retrouvons à {}."),
    ("The film begins at {}.", "Le film commence à {}."),
    ("I get up at {}.", "Je me lève à {}."),
    ("She left at {}.", "Elle est partie à {}."),
    ("at {}", "à {}"),
)
_WITH_MILLIONS = (
    ("It cost {} million euros.", "Cela a coûté {} millions d'euros."),
    ("{} million people live there.", "{} millions de personnes y vivent."),
    ("They lost {} million dollars.", "Ils ont perdu {} millions de dollars."),
)
_WITH_TIMES = (
    ("{} times a week", "{} fois par semaine"),
    ("I called {} times.", "J'ai appelé {} fois."),
    ("It is {} times larger.", "C'est {} fois plus grand."),
)
_PARTS = (
    *(("half", "la moitié"), ("a third", "un tiers"), ("two thirds", "deux tiers"), ("a quarter", "un quart")),
    *(("three quarters", "trois quarts"), ("a fifth", "un cinquième"), ("a tenth", "un dixième")),
)
_WITH_PART = (
    ("{} of the people", "{} des gens"),
    ("He ate {} of the cake.", "Il a mangé {} du gâteau."),
    ("{} of the work is done.", "{} du travail est fait."),
)


def english_number(number: int) -> str:
    """``forty-two``; from 0 to 999,999."""
    if number < 20:
        return _ENGLISH[number]
    if number < 100:
        tens, units = _ENGLISH_TENS[number // 10 - 2], number % 10
        return f"{tens}-{_ENGLISH[units]}" if units else tens
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    many, rest = divmod(number, size)
    joint = " and " if rest < 100 else " "
    return f"{english_number(many)} {name}" + (joint + english_number(rest) if rest else "")


def french_number(number: int, feminine: bool = False) -> str:
    """``quarante-deux``; from 0 to 999,999; ``feminine``: before such a noun, ``vingt et une``."""
    if number < 100:
        word = _french_below_hundred(number)
        return f"{word}e" if feminine and word.endswith("un") else word
    size, name = (1000, "mille") if number >= 1000 else (100, "cent")
    many, rest = divmod(number, size)
    # Before "mille" neither "cents" nor "quatre-vingts" keeps its s.
    count = "" if many == 1 else f"{french_number(many).removesuffix('s') if many >= 80 else french_number(many)} "
    if not rest:
        return count + name + ("s" if name == "cent" and many > 1 else "")
    return f"{count}{name} {french_number(rest, feminine)}"


def _french_below_hundred(number: int) -> str:
    if number < 20:
        return _FRENCH[number]
    base = max(ten for ten in _FRENCH_TENS if ten <= number)
    rest = number - base
    if not rest:
        return _FRENCH_TENS[base] + ("s" if base == 80 else "")
    joint = " et " if rest in (1, 11) and base != 80 else "-"
    return _FRENCH_TENS[base] + joint + _FRENCH[rest]


def english_ordinal(number: int) -> str:
    """``forty-second``; from 1 to 99."""
    head, hyphen, last = english_number(number).rpartition("-")
    ordinal = _ENGLISH_ORDINALS.get(last) or (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
    return head + hyphen + ordinal


def french_ordinal(number: int) -> str:
    """``quarante-deuxième``; from 2 to 99."""
    word = french_number(number).removesuffix("s") if number == 80 else french_number(number)
    if word.endswith("cinq"):
        return f"{word}uième"
    if word.endswith("neuf"):
        return f"{word[:-1]}vième"
    return f"{word.removesuffix('e')}ième"


def number_in_words(source: random.Random) -> Pair:
    """A number in words, alone or in a phrase or sentence, most often one below a hundred."""
    kinds = (_count, _duration, _age, _ordinal, _clock, _others)
    first, second = source.choices(kinds, (34, 16, 14, 14, 14, 8))[0](source)
    return (
        (_capitalised(first), _capitalised(second)) if source.random() < 0.2 or first.endswith(".") else (first, second)
    )


def draw_number(source: random.Random) -> int:
    """From 2 on; four in five below a hundred."""
    if source.random() < 0.8:
        return source.randint(2, 99)
    hundreds, thousands = source.randint(100, 999), 1000 * source.randint(1, 99)
    return source.choice((100, 100 * source.randint(1, 9), hundreds, thousands, thousands + hundreds))


def _count(source: random.Random) -> Pair:
    english, french = source.choice(_WITH_COUNT)
    values = [_counted(_COUNTED, source) for _ in range(english.count("{}"))]
    return english.format(*(one for one, _ in values)), french.format(*(other for _, other in values))


def _duration(source: random.Random) -> Pair:
    return filled(_WITH_DURATION, _counted(_DURATIONS, source), source)


def _counted(nouns: tuple[tuple[str, str, bool], ...], source: random.Random) -> Pair:
    number, (english, french, feminine) = draw_number(source), source.choice(nouns)
    return f"{english_number(number)} {english}", f"{french_number(number, feminine)} {french}"


def _age(source: random.Random) -> Pair:
    number = source.randint(2, 99)
    return filled(_WITH_AGE, (english_number(number), french_number(number)), source)


def _ordinal(source: random.Random) -> Pair:
    number = source.randint(2, 31) if source.random() < 0.8 else source.randint(32, 99)
    return filled(_WITH_ORDINAL, (english_ordinal(number), french_ordinal(number)), source)


def _clock(source: random.Random) -> Pair:
    """``ten to eight`` and ``huit heures moins dix``."""
    hour, next_hour = (number := source.randint(1, 11)), number + 1
    english, later = english_number(hour), english_number(next_hour)
    french, plus_tard = _heures(hour), _heures(next_hour)
    minutes = source.choice((5, 10, 20, 25))
    few, peu = english_number(minutes), french_number(minutes)
    times = (
        (f"{english} o'clock", french),
        (f"half past {english}", f"{french} et demie"),
        (f"quarter past {english}", f"{french} et quart"),
        (f"a quarter to {later}", "midi moins le quart" if next_hour == 12 else f"{plus_tard} moins le quart"),
        (f"{few} past {english}", f"{french} {peu}"),
        (f"{few} to {later}", "midi" + f" moins {peu}" if next_hour == 12 else f"{plus_tard} moins {peu}"),
        ("noon", "midi"),
        ("midnight", "minuit"),
    )
    return filled(_WITH_TIME, source.choices(times, (6, 6, 4, 4, 4, 4, 1, 1))[0], source)


def _heures(hour: int) -> str:
    return "une heure" if hour == 1 else f"{french_number(hour)} heures"


def _others(source: random.Random) -> Pair:
    small = source.randint(2, 30)
    words = (english_number(small), french_number(small))
    kinds = ((_WITH_MILLIONS, words), (_WITH_TIMES, (words[0], french_number(small, feminine=True))))
    templates, values = source.choice((*kinds, (_WITH_PART, source.choice(_PARTS))))
    return filled(templates, values, source)


def _capitalised(text: str) -> str:
    return text[0].upper() + text[1:]
