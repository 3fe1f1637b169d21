"""Telephone numbers, codes and versions, which a translation copies digit by digit, alone and inside sentences.

Groups of two or three digits look like amounts: a model that had seen few of them made "05,34,71 000,54" of
"05 34 71 00 54".
"""

import random

from model.corpus import Pair
from model.quantities import digits, filled

# 0 stands for any digit, A for any capital letter.
_TELEPHONES = (
    *("00 00 00 00 00", "00 00 00 00 00", "+00 0 00 00 00 00", "00.00.00.00.00", "0000000000"),
    *("000-0000", "(000) 000-0000", "000-000-0000", "+00 00 0000 0000", "0000 000 000", "+000 000 00 00"),
)
_CODES = (
    *("0000", "00000", "000000", "0000000", "00000000", "A000", "AA-0000", "A00-000", "0000-00000", "#00000"),
    "AA 0000",
)
_VERSIONS = ("0.0.0", "0.00.0", "0.0.00", "v0.0.0", "v0.00")
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_WITH_TELEPHONE = (
    ("{}", "{}"),
    ("Phone: {}", "Téléphone : {}"),
    ("Tel.: {}", "Tél. : {}"),
    ("You can reach me on {}.", "Vous pouvez me joindre au {}."),
    ("His number is {}.", "Son numéro est le {}."),
    ("Dial {} for help.", "Composez le {} pour obtenir de l'aide."),
    ("She gave me the number {}.", "Elle m'a donné le numéro {}."),
    ("Our number has not changed: {}.", "Notre numéro n'a pas changé : {}."),
    ("If nobody answers, try {}.", "Si personne ne répond, essayez le {}."),
    ("Text me at {} tonight.", "Envoie-moi un message au {} ce soir."),
)
_WITH_CODE = (
    ("{}", "{}"),
    ("Reference: {}", "Référence : {}"),
    ("The code is {}.", "Le code est {}."),
    ("Your booking {} is confirmed.", "Votre réservation {} est confirmée."),
    ("Invoice {}", "Facture {}"),
    ("File no. {}", "Dossier n° {}"),
    ("The ticket {} has been closed.", "Le ticket {} a été fermé."),
    ("We have received your payment for invoice {}.", "Nous avons reçu votre paiement pour la facture {}."),
    ("Flight {} is delayed.", "Le vol {} est retardé."),
    ("Type {} to unlock the box.", "Tapez {} pour déverrouiller la boîte."),
)

_WITH_VERSION = (
    ("Version {}", "Version {}"),
    ("Please install version {}.", "Veuillez installer la version {}."),
    ("{} is out.", "{} est sortie."),
    ("This was fixed in {}.", "Cela a été corrigé dans {}."),
)


def telephone(source: random.Random) -> Pair:
    """``05 34 71 00 54`` or another way to write one, the same in both languages."""
    return _mention(_WITH_TELEPHONE, _TELEPHONES, source)


def code(source: random.Random) -> Pair:
    """``AB-4471`` or ``338333``: one in two has digits that stand more than once; one in four is a version."""
    templates, patterns = (_WITH_VERSION, _VERSIONS) if source.random() < 0.25 else (_WITH_CODE, _CODES)
    return _mention(templates, patterns, source)


def _mention(templates: tuple[Pair, ...], patterns: tuple[str, ...], source: random.Random) -> Pair:
    text = _drawn(source.choice(patterns), source)
    return filled(templates, (text, text), source)


def _drawn(pattern: str, source: random.Random) -> str:
    """``pattern`` with every letter and digit drawn."""
    count = pattern.count("0")
    drawn = digits(count, source) if source.random() < 0.5 else "".join(source.choices("0123456789", k=count))
    left = iter(drawn)
    return "".join(next(left) if one == "0" else source.choice(_LETTERS) if one == "A" else one for one in pattern)
