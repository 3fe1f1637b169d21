"""How often parts that must stay as they are do not: ``python -m model.parts MODEL``.

Sentences of frames that ``model.augment`` does not use, with addresses, placeholders, tags, code and names in letters
that the vocabulary may not have, are translated with beam 4. A part is changed where the translation does not contain
it; misplaced where it stands at the end, where a part goes that the model left out (``app.text.tokens``) and where
none of the frames has one; swapped where two stand in another order than in the source.
"""

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.engine.hypotheses import SearchOptions
from app.engine.step_model import StepModel
from app.text.tokenizer import Tokenizer
from model.corpus import Pair
from model.evaluate import open_model, translate_lines
from model.scoring import Direction

Fault = Literal["changed", "misplaced", "swapped"]
_FAULTS: tuple[Fault, ...] = ("changed", "misplaced", "swapped")
_SEED = 5
_SENTENCES = 120
_SHOWN = 2

_ONE_PART = (
    ("Please send {} to all members before Friday.", "Veuillez envoyer {} à tous les membres avant vendredi."),
    ("My sister found {} on the old computer.", "Ma sœur a trouvé {} sur le vieil ordinateur."),
    ("If {} is wrong, nobody will answer.", "Si {} est faux, personne ne répondra."),
    ("The teacher wrote {} on the blackboard.", "Le professeur a écrit {} au tableau."),
)
_TWO_PARTS = (
    ("Replace {} with {} in every document.", "Remplacez {} par {} dans chaque document."),
    ("Both {} and {} are in the book.", "{} et {} sont tous les deux dans le livre."),
    ("From {} to {} it takes two hours.", "De {} à {}, il faut deux heures."),
)
_TAGGED = (
    ("You must {}read{} this letter before you sign it.", "Vous devez {}lire{} cette lettre avant de la signer."),
    ("It is {}very{} important to close the door.", "Il est {}très{} important de fermer la porte."),
)


@dataclass(frozen=True)
class Kind:
    """One kind of part, the texts it is drawn from, and sentences of both languages with a place for each part."""

    name: str
    parts: tuple[tuple[str, ...], ...]
    frames: tuple[Pair, ...]


@dataclass(frozen=True)
class Found:
    """What came of one kind: faults counted, and some sources with their translations."""

    kind: str
    sentences: int
    faults: Counter[Fault]
    examples: tuple[Pair, ...]


def _each(*parts: str) -> tuple[tuple[str, ...], ...]:
    return tuple((part,) for part in parts)


KINDS = (
    Kind(
        "addresses of pages",
        _each(
            *("https://www.bnf.fr/fr/horaires", "http://intranet.local:8080/a?id=71&x=2", "www.musee-orsay.fr"),
            *("https://vitrail.dev/docs/attention#heads", "example.org/a/b_c.html", "https://pypi.org/project/numpy/"),
        ),
        _ONE_PART,
    ),
    Kind(
        "addresses of mailboxes",
        _each("claire.petit@orange.fr", "info@gare-du-nord.org", "j.smith+news@mail.example.co.uk", "a7@x.io"),
        _ONE_PART,
    ),
    Kind(
        "placeholders",
        _each("{customer_name}", "{{ order.total }}", "%(count)s", "${HOME}", "%1$s", "{0}"),
        _ONE_PART,
    ),
    Kind(
        "code and files",
        _each("`rm -r build`", "get_user_by_id()", "MAX_ROWS", "facture-2026.pdf", "/etc/nginx/conf.d", "fetchAll"),
        _ONE_PART,
    ),
    Kind(
        "codes and telephone numbers",
        _each("AB-44710", "#10024", "4.12.0", "77777777", "05 44 00 44 00", "+33 6 11 11 22 22", "555-010-9999"),
        _ONE_PART,
    ),
    Kind("other letters and emoji", _each("東京", "Мария Иванова", "서울", "مرحبا", "Ἀθῆναι", "🎻", "🇫🇷🇬🇧"), _ONE_PART),
    Kind(
        "two parts",
        (
            *(("{first}", "{last}"), ("https://a.fr/1", "https://b.fr/2"), ("%s", "%d"), ("foo_bar", "bar_foo")),
            *(("北京", "上海"), ("a@x.org", "b@x.org"), ("AB-4471", "AB-4472")),
        ),
        _TWO_PARTS,
    ),
    Kind("tags around a word", (("<b>", "</b>"), ("<em>", "</em>"), ('<span class="k">', "</span>")), _TAGGED),
)


def sentences(kind: Kind, language: int, count: int = _SENTENCES) -> list[tuple[str, tuple[str, ...]]]:
    """Texts with their parts, the same parts in either language: 0 is English, 1 French."""
    source = random.Random(_SEED)
    drawn = [source.choice(kind.parts) for _ in range(count)]
    return [
        (kind.frames[index % len(kind.frames)][language].format(*parts), parts) for index, parts in enumerate(drawn)
    ]


def fault_of(translation: str, parts: Sequence[str]) -> Fault | None:
    """What is wrong with the parts of one translation."""
    places = [translation.find(part) for part in parts]
    if min(places) < 0:
        return "changed"
    if translation.rstrip(" .").endswith(tuple(parts)):
        return "misplaced"
    return None if places == sorted(places) else "swapped"


def changed_parts(model: StepModel, tokenizer: Tokenizer, direction: Direction) -> list[Found]:
    """Translates every kind of ``direction``, from English into French or back."""
    options = SearchOptions(4, 1.0, 0, model.limits.target_len)
    found = []
    for kind in KINDS:
        texts = sentences(kind, int(direction.source == "fr"))
        translations = translate_lines(model, tokenizer, [text for text, _ in texts], direction, options)
        judged = [
            (text, translation, fault)
            for (text, parts), translation in zip(texts, translations, strict=True)
            if (fault := fault_of(translation, parts))
        ]
        faults: Counter[Fault] = Counter(fault for *_, fault in judged)
        examples = tuple(dict.fromkeys((text, translation) for text, translation, _ in judged))
        found.append(Found(kind.name, len(texts), faults, examples[:_SHOWN]))
    return found


def table(found: Sequence[Sequence[Found]], directions: Sequence[Direction]) -> str:
    """Markdown: how many of how many are faulty, one row for each kind, and a few examples."""
    heads = [f"{direction}: {', '.join(_FAULTS)}" for direction in directions]
    lines = ["| Parts | sentences | " + " | ".join(heads) + " |", "|---|--:|" + "--:|" * len(directions)]
    for kind in zip(*found, strict=True):
        counts = (", ".join(str(one.faults[fault]) for fault in _FAULTS) for one in kind)
        lines.append(f"| {kind[0].kind} | {kind[0].sentences} | {' | '.join(counts)} |")
    lines.append("")
    lines += [f"- `{source}`: `{target}`" for each in found for one in each for source, target in one.examples]
    return "\n".join(lines)


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a checkpoint or a model directory")
    model, tokenizer = open_model(parser.parse_args().model, "int8")
    directions = (Direction("en", "fr"), Direction("fr", "en"))
    print(table([changed_parts(model, tokenizer, direction) for direction in directions], directions))


if __name__ == "__main__":
    main()
