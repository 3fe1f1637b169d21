"""Everyday nouns in short sentences of both languages: people, animals, food, things, parts of the body.

The nouns (``nouns.tsv``) were written by hand: what people try first in a translator is rare in debates and manuals.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from model.corpus import Pair, read_lines

NOUNS = Path(__file__).with_name("nouns.tsv")

_VOWELS = "aeiouyhâàéèêîôûœ"
# The few with an h that counts as a consonant.
_ASPIRATED = frozenset({"haricot", "haricots"})
_WITH_ANY = (
    ("{n}", "{n}"),
    ("{ns}", "{ns}"),
    ("the {n}", "{le}"),
    ("{a}", "{un}"),
    ("Where is the {n}?", "Où est {le} ?"),
    ("I can see {a}.", "Je vois {un}."),
    ("He drew {a}.", "Il a dessiné {un}."),
    ("There are many {ns} here.", "Il y a beaucoup {de_ns} ici."),
    ("We talked about the {ns}.", "Nous avons parlé des {ns}."),
    ("This is not {a}.", "Ce n'est pas {un}."),
    ("Do you know the word for {a}?", "Connaissez-vous le mot pour {un} ?"),
)
_WITH_KIND = {
    "person": (
        ("This is my {n}.", "Voici {mon}."),
        ("My {n} lives in Paris.", "{Mon} habite à Paris."),
        ("I spoke to the {n}.", "J'ai parlé {au}."),
        ("The {n} called yesterday.", "{Le} a appelé hier."),
        ("We are waiting for your {n}.", "Nous attendons {votre}."),
        ("I know two {ns}.", "Je connais deux {ns}."),
    ),
    "animal": (
        ("The {n} is asleep.", "{Le} dort."),
        ("I am afraid of {ns}.", "J'ai peur des {ns}."),
        ("I like {ns}.", "J'aime les {ns}."),
        ("In this forest lives {a}.", "Dans cette forêt vit {un}."),
        ("The children feed the {ns}.", "Les enfants nourrissent les {ns}."),
    ),
    "food": (
        ("I am allergic to {ns}.", "Je suis allergique aux {ns}."),
        ("I do not like {ns}.", "Je n'aime pas les {ns}."),
        ("She ate {a}.", "Elle a mangé {un}."),
        ("Buy some {ns}.", "Achète des {ns}."),
        ("I would like {a}, please.", "Je voudrais {un}, s'il vous plaît."),
        ("He never eats {ns}.", "Il ne mange jamais {de_ns}."),
    ),
    "thing": (
        ("I am looking for the {n}.", "Je cherche {le}."),
        ("Look at the {n}.", "Regarde {le}."),
        ("This {n} belongs to me.", "{Ce} m'appartient."),
        ("Show me the {ns}.", "Montrez-moi les {ns}."),
        ("How much does the {n} cost?", "Combien coûte {le} ?"),
        ("There is a box behind the {n}.", "Il y a une boîte derrière {le}."),
    ),
    "body": (
        ("My {n} hurts.", "J'ai mal {au}."),
        ("Show me your {n}.", "Montrez-moi {votre}."),
        ("He touched my {n}.", "Il a touché {mon}."),
        ("I cannot move my {n}.", "Je ne peux pas bouger {mon}."),
    ),
}


@dataclass(frozen=True)
class Noun:
    """One noun; ``kind`` says in which sentences it makes sense."""

    kind: str
    english: str
    english_plural: str
    french: str
    french_plural: str
    feminine: bool

    def english_forms(self) -> dict[str, str]:
        """The fields of an English frame."""
        article = "an" if self.english[0] in "aeiou" else "a"
        return {"n": self.english, "ns": self.english_plural, "a": f"{article} {self.english}"}

    def french_forms(self) -> dict[str, str]:
        """The fields of a French frame: the noun with an article or the like, which may melt into it."""
        elided = self.french[0] in _VOWELS and self.french not in _ASPIRATED
        plural_elided = self.french_plural[0] in _VOWELS and self.french_plural not in _ASPIRATED
        the = "l'" if elided else "la " if self.feminine else "le "
        forms = {
            "le": the + self.french,
            "un": ("une " if self.feminine else "un ") + self.french,
            "mon": ("ma " if self.feminine and not elided else "mon ") + self.french,
            "ce": ("cette " if self.feminine else "cet " if elided else "ce ") + self.french,
            "au": ("au " if the == "le " else f"à {the}") + self.french,
            "votre": f"votre {self.french}",
            "de_ns": ("d'" if plural_elided else "de ") + self.french_plural,
        }
        raised = {name.capitalize(): form[0].upper() + form[1:] for name, form in forms.items()}
        return {"n": self.french, "ns": self.french_plural, **forms, **raised}


def read_nouns(path: Path = NOUNS) -> list[Noun]:
    """Six columns: kind, English, its plural, French, its plural, gender.

    Raises:
        ValueError: a line has other columns; the message names it.
    """
    nouns = []
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) != 6 or columns[0] not in _WITH_KIND or columns[5] not in ("f", "m"):
            raise ValueError(f"{path}, line {number}: kind, English, plural, French, plural and f or m, not {line!r}")
        kind, english, plural, french, french_plural, gender = columns
        nouns.append(Noun(kind, english, plural, french, french_plural, gender == "f"))
    return nouns


def with_noun(nouns: Sequence[Noun], source: random.Random) -> Pair:
    """One of ``nouns`` alone or in a sentence."""
    noun = source.choice(nouns)
    frames = _WITH_ANY if source.random() < 0.5 else _WITH_KIND[noun.kind]
    english, french = source.choice(frames)
    return english.format(**noun.english_forms()), french.format(**noun.french_forms())
