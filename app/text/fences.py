"""Blocks of code between fences, as in Markdown: lines of three backticks or tildes."""

import re

from app.text.verbatim import Span

_LINES = re.compile(r"[^\n]*\n?")
_OPENING = re.compile(r"[ \t>]{0,12}(?:[-*+][ \t]+)?(`{3,}|~{3,})[^`\r\n]*\r?\n?")
_CLOSING = re.compile(r"[ \t>]{0,12}(`{3,}|~{3,})[ \t]*\r?\n?")


def fenced_blocks(text: str) -> list[Span]:
    """Where such blocks stand, both fences included, without the line break at the end.

    A fence that nothing closes opens no block: what follows is text.
    """
    if "```" not in text and "~~~" not in text:
        return []
    lines = [match.span() for match in _LINES.finditer(text)]
    closing = [(number, found[1]) for number, span in enumerate(lines) if (found := _CLOSING.fullmatch(text, *span))]
    blocks: list[Span] = []
    number = 0
    while number < len(lines):
        opening = _OPENING.fullmatch(text, *lines[number])
        last = opening and next(
            (line for line, fence in closing if line > number and fence.startswith(opening[1])), None
        )
        if last:
            start, end = lines[number][0], lines[last][1]
            inner = text[start:end]
            blocks.append((start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip())))
            number = last
        number += 1
    return blocks
