"""Marks that begin a line: bullets, numbers of lists and headings, quoted lines. The same in every language."""

import re

# Bullets, dashes, arrows, emoji.
_BULLET = (
    r"[-*+#>\u00b7\u2010-\u2015\u2022\u2023\u2043\u2190-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
    r"\u200d\ufe0f\U000e0020-\U000e007f]{1,16}|[\d#*]\ufe0f?\u20e3|\u2139\ufe0f"
)
# 1. 2) (3) [4] [x] 1.2.3 a) (b) iv. 1°; a capital with a full stop begins a name: "J. Dupont".
_NUMBER = (
    r"\d{1,3}(?:\.\d{1,3}){0,4}[.)]|\(\d{1,3}\)|\[(?:\d{1,3}|[ xX])\]|\d{1,2}(?:\.\d{1,2}){2,4}"
    r"|\(?(?:[A-Za-z]|[ivx]{2,5}|[IVX]{2,5})\)|(?:[a-z]|[ivx]{2,5}|[IVX]{2,5})\.|\d{1,2}°\)?"
)
# What needs no space after it.
_GLUED = (
    r"[\u2022\u2023\u25a0\u25a1\u25aa\u25ab\u25b6\u25ba\u25cb\u25cf\u25e6\u2605\u2606\u2713-\u2718\u27a4]{1,8}"
    r"|>{1,8}(?=[^\W\d_])"
)

LINE_MARK = re.compile(rf"\s*(?:(?:{_BULLET}|{_NUMBER})\s+|(?:{_GLUED})\s*)+")
"""At the beginning of a line, with the space after it."""

_MARK_ALONE = re.compile(rf"\s*(?:(?:{_BULLET}|{_NUMBER})\s+)*(?:{_BULLET}|{_NUMBER})\s*")


def is_line_mark(text: str) -> bool:
    """Whether ``text`` is such marks and nothing else."""
    return _MARK_ALONE.fullmatch(text) is not None
