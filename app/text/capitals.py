"""Sentences in capitals: how to know one, how the model reads it, how its translation is raised again.

Models learn from text in sentence case and fall apart on capitals: they know the subwords ``▁door`` and ``▁Door``, but
of ``DOOR`` only letters. So a sentence in capitals is read in sentence case and its translation is raised. Every
function here works character by character and keeps the length of its text: an offset into one form is an offset
into the other, and no span has to be moved.
"""

import re
import unicodedata

from app.text.normalise import normalise
from app.text.verbatim import verbatim_spans, without_verbatim

# What stands together between white space and punctuation; digits and underscores too, which make a word a code.
_RUN = re.compile(r"[\w']+")
_CODE = re.compile(r"[\d_]")
_FINAL_SIGMA = re.compile(r"(?<=\w)σ(?!\w)")
_LONG_WORD = 4
_SHORT_WORD = 2
_CASES = frozenset({"Lu", "Ll", "Lt"})

# The sign of a millionth is a letter only to Unicode: raised it would be the Greek letter Mu.
_SIGNS = frozenset("µ")
_ORDINALS = frozenset("ªº")

# Words that a language writes in capitals wherever they stand; the I of "I.E." is none, and "US" is a pronoun, too.
_ACRONYMS = "NATO|UNESCO|NASA|BBC|TV|PC|CEO|DVD|CD|GPS|OK|PDF|HTML|URL|USB|SMS|FAQ|VIP|SOS"
_ALWAYS_CAPITAL = {
    "en": re.compile(rf"(?<!\w)(?<!\w\.)(?:I|USA|UK|EU|UN|FBI|CIA|DNA|ATM|{_ACRONYMS})(?![\w\u0300-\u036f]|\.\w)"),
    "fr": re.compile(
        rf"(?<!\w)(?<!\w\.)(?:UE|ONU|OTAN|SNCF|RATP|TVA|TGV|RER|ADN|USA|{_ACRONYMS})(?![\w\u0300-\u036f]|\.\w)"
    ),
}


def stands_in_capitals(text: str) -> bool:
    """Whether a sentence is written in capitals throughout, not only named by some.

    No letter of it is small, and it has one word with four capitals or two words with two. Words are runs of letters
    and apostrophes, so that ``DON'T`` is one; what has a digit or underscore in it (``A4``, ``MAX_SIZE``) is a code
    and none. Shorter texts stay as they are: ``OK``, ``USA``, ``U.S.A.``, ``X``, ``1. A`` are written so in any
    sentence, and the model knows them so. A long acronym (``UNESCO``) alone cannot be told from a word. However its
    accents and apostrophes are encoded, a sentence is judged as the normalised one. Beside letters of a script
    without case, capitals are those of acronyms (``我在 UNESCO 工作``). Addresses, placeholders and code do not
    count, and keep their letters.
    """
    text = without_verbatim(normalise(text))
    if not has_only_capitals(text) or _has_letters_without_case(text):
        return False
    counts = [sum(map(_is_capital, run[0])) for run in _RUN.finditer(text) if not _CODE.search(run[0])]
    return max(counts, default=0) >= _LONG_WORD or sum(count >= _SHORT_WORD for count in counts) > 1


def has_only_capitals(text: str) -> bool:
    """Whether ``text`` has letters with case and none of them is small.

    A letter that has no capital of one character (``ß``) is no sign of small letters, and one of a script without case
    of nothing; addresses, placeholders and code do not count.
    """
    text = without_verbatim(text)
    return not any(_is_small(character) for character in text) and any(map(_is_capital, text))


def sentence_case(text: str, language: str) -> str:
    """``text``, of the same length, in small letters but for the first and for words such as the English ``I``.

    What has no small form of one character (``İ``) stays.
    """
    small = list(map(_small, text))
    first = next((index for index, character in enumerate(text) if unicodedata.category(character) in _CASES), None)
    if first is not None and small[first] != text[first]:
        # Not the capital itself: a digraph (Ǆ) begins with another form (ǅ), and Georgian with a small letter.
        small[first] = _one(small[first].title(), text[first])
    if always := _ALWAYS_CAPITAL.get(language):
        for match in always.finditer(text):
            small[match.start() : match.end()] = match[0]
    _keep_code(small, text)
    return _FINAL_SIGMA.sub("ς", "".join(small))


def capitals(text: str) -> str:
    """``text`` raised, of the same length: what has no capital of one character (``ß``) stays."""
    large = list(map(_large, text))
    _keep_code(large, text)
    return "".join(large)


def as_read(text: str, language: str) -> str:
    """The form of a sentence that the model reads: in sentence case if it stands in capitals, else as it is."""
    return sentence_case(text, language) if stands_in_capitals(text) else text


def _keep_code(changed: list[str], text: str) -> None:
    for start, end in verbatim_spans(text):
        changed[start:end] = text[start:end]


def _has_letters_without_case(text: str) -> bool:
    return any(unicodedata.category(character) == "Lo" and character not in _ORDINALS for character in text)


def _is_capital(character: str) -> bool:
    return _small(character) != character


def _is_small(character: str) -> bool:
    return _large(character) != character


def _small(character: str) -> str:
    return _one(character.lower(), character) if _has_case(character) else character


def _large(character: str) -> str:
    return _one(character.upper(), character) if _has_case(character) else character


def _has_case(character: str) -> bool:
    """Not circled letters, numerals and marks, which Unicode gives two forms too."""
    return unicodedata.category(character) in _CASES and character not in _SIGNS


def _one(changed: str, character: str) -> str:
    """``changed`` if it is one character."""
    return changed if len(changed) == 1 else character
