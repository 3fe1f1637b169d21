"""Numbers as people write them, and quantities as each language writes them.

Numbers are not drawn evenly: 5,000 and 444 are frequent in text and rare among random numbers, and a model that
seldom saw a digit twice in a row writes it once.
"""

import random

from model.corpus import Pair

_THOUSANDS = " "
_METRES = (("metres", "mètres"), ("kilometres", "kilomètres"), ("km", "km"), ("m", "m"), ("miles", "miles"))
_DURATIONS = (
    *(("seconds", "secondes"), ("minutes", "minutes"), ("hours", "heures"), ("days", "jours"), ("weeks", "semaines")),
    *(("months", "mois"), ("years", "ans")),
)
_COUNTED = (
    *(("people", "personnes"), ("children", "enfants"), ("students", "étudiants"), ("votes", "voix")),
    *(("rooms", "chambres"), ("pages", "pages"), ("words", "mots"), ("files", "fichiers"), ("books", "livres")),
    *(("jobs", "emplois"), ("cars", "voitures"), ("trees", "arbres"), ("countries", "pays"), ("tons", "tonnes")),
    *(("litres", "litres"), ("kilos", "kilos"), ("euros", "euros"), ("dollars", "dollars"), ("%", "%")),
)
_WITH_DISTANCE = (
    ("{}", "{}"),
    ("It is {} from here.", "C'est à {} d'ici."),
    ("The beach is {} from the house.", "La plage est à {} de la maison."),
    ("The school is {} from the village.", "L'école est à {} du village."),
    ("We walked {} in the rain.", "Nous avons marché {} sous la pluie."),
    ("The tunnel is {} long.", "Le tunnel fait {} de long."),
    ("Turn left after {}", "Tournez à gauche après {}"),
)
_WITH_DURATION = (
    ("{}", "{}"),
    ("It took {}.", "Ça a pris {}."),
    ("He came back after {}.", "Il est revenu après {}."),
    ("She left {} ago.", "Elle est partie il y a {}."),
    ("They waited for {}.", "Ils ont attendu {}."),
    ("The journey lasts {}.", "Le voyage dure {}."),
)
_WITH_COUNT = (
    ("{}", "{}"),
    ("more than {}", "plus de {}"),
    ("There are {}.", "Il y a {}."),
    ("We need {}.", "Il nous faut {}."),
    ("About {} are missing.", "Il manque environ {}."),
    ("At most {}", "Au plus {}"),
    ("That makes {} in all.", "Cela fait {} en tout."),
)
_WITH_MILLIONS = (
    ("It cost {} million euros.", "Cela a coûté {} millions d'euros."),
    ("The town has {} million inhabitants.", "La ville compte {} millions d'habitants."),
    ("They made {} billion dollars.", "Ils ont gagné {} milliards de dollars."),
)
_KINDS = ((_WITH_DISTANCE, _METRES), (_WITH_DURATION, _DURATIONS), (_WITH_COUNT, _COUNTED))


def digits(length: int, source: random.Random) -> str:
    """A number of ``length`` digits, often round or with a digit that stands more than once; none begins with 0."""
    first = str(source.randint(1, 9))
    draw = source.random()
    if draw < 0.3:
        return first + "".join(source.choices("0123456789", k=length - 1))
    if draw < 0.65:
        kept = source.randint(1, length)
        return (first + "".join(source.choices("0123456789", k=kept - 1))).ljust(length, "0")
    return first + "".join(source.choices(first + source.choice("0123456789"), k=length - 1))


def filled(templates: tuple[Pair, ...], values: Pair, source: random.Random) -> Pair:
    """One of ``templates`` with its values."""
    first, second = source.choice(templates)
    return first.format(values[0]), second.format(values[1])


def grouped(number: str) -> Pair:
    """``12,500`` and ``12 500``."""
    english = f"{int(number):,}"
    return english, english.replace(",", _THOUSANDS)


def quantity(source: random.Random) -> Pair:
    """``5,000 people`` and ``5 000 personnes``, alone or in a sentence."""
    if source.random() < 0.1:
        # From two on: French has the singular below ("1,9 million").
        whole, tenth = source.randint(2, 99), source.randint(0, 9)
        return filled(_WITH_MILLIONS, (f"{whole}.{tenth}", f"{whole},{tenth}"), source)
    templates, units = source.choice(_KINDS)
    unit, french_unit = source.choice(units)
    number = digits(source.choices((2, 3, 4, 5, 6), (30, 30, 20, 12, 8))[0], source)
    english, french = grouped(number) if source.random() < 0.8 else (number, number)
    space = "" if unit == "%" else " "
    return filled(templates, (f"{english}{space}{unit}", f"{french} {french_unit}"), source)
