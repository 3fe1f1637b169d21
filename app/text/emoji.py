"""Emoji at the ends of a sentence: the same in every language, and a model that writes them may lose count."""

import re
from collections.abc import Callable

from app.text.segments import is_translatable

# Without the ornamental quotation marks and brackets among them.
_RANGES = (
    *((0x203C, 0x203C), (0x2049, 0x2049), (0x2190, 0x21FF), (0x2300, 0x23FF), (0x24C2, 0x24C2), (0x25A0, 0x25FF)),
    *((0x2600, 0x275A), (0x2761, 0x2767), (0x2776, 0x27BF), (0x2B00, 0x2BFF), (0x3030, 0x3030), (0x303D, 0x303D)),
    *((0x3297, 0x3297), (0x3299, 0x3299), (0x1F000, 0x1FAFF)),
)
EMOJI = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _RANGES) + "]")
"""One emoji or symbol, without what may stand around it."""

_EVERY = "".join(chr(code) for first, last in _RANGES for code in range(first, last + 1))
SELECTORS = "\u200d\ufe0e\ufe0f" + "".join(map(chr, range(0xE0020, 0xE0080)))
"""Selectors, joiners and tags, which belong to the character before them."""

_AROUND = SELECTORS + " \t\xa0\u2009\u202f\u3000"

# Words after which an emoji stands for a noun: without it the sentence would be broken off.
_AWAITS_NOUN = {
    "en": re.compile(r"\b(?:an?|the|my|your|our|their|its|of|in|on|at|to|for|from|with|by|and|or)$", re.IGNORECASE),
    "fr": re.compile(
        r"\b(?:une?|l[ae]s?|du|des?|[mts](?:on|a|es)|notre|votre|leurs?|[nv]os|ce(?:t|tte|s)?|à|aux?|en|dans|sur|sous"
        r"|avec|pour|par|et|ou|chez|[ld]['’])$",
        re.IGNORECASE,
    ),
}
_LONGEST_WORD = 16


def after_emoji(text: str) -> int:
    """Where ``text`` goes on after the emoji that it begins with and the spaces around them; 0 if there are none."""
    return len(text) - len(_stripped(text, str.lstrip))


def between_emoji(sentence: str, language: str) -> tuple[int, int]:
    """Which part of ``sentence`` stands between the emoji at its ends; all of it where nothing is to be translated.

    An emoji in the place of a noun ("She plays the 🎸") is part of the sentence.
    """
    if not EMOJI.search(sentence) or not is_translatable(sentence):
        return 0, len(sentence)
    end = len(_stripped(sentence, str.rstrip))
    while end < len(sentence) and sentence[end] in SELECTORS:
        end += 1
    awaits_noun = _AWAITS_NOUN.get(language)
    if awaits_noun and awaits_noun.search(sentence, max(end - _LONGEST_WORD, 0), end):
        end = len(sentence)
    return after_emoji(sentence), end


def _stripped(text: str, strip: Callable[[str, str], str]) -> str:
    """``text`` without the emoji at the end that ``strip`` takes off; the same if there are none."""
    bare = strip(text, _EVERY + _AROUND)
    return text if len(bare) == len(strip(text, _AROUND)) else bare
