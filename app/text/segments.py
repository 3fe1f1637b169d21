"""What of a text is translated, and how the translated parts go back into it."""

from collections.abc import Sequence

from app.text.marks import is_line_mark
from app.text.verbatim import without_verbatim


def is_translatable(text: str) -> bool:
    """Whether there is anything to translate: a letter of any script outside addresses, placeholders and code.

    The letters of marks that begin lines (``a)``, ``iv.``, ``[x]``) are none.

    Digits, punctuation, symbols and emoji mean the same in every language, and a translated address is a
    broken one: such text is to be copied unchanged.
    """
    return any(map(str.isalpha, without_verbatim(text))) and not is_line_mark(text)


def join(
    text: str, spans: Sequence[tuple[int, int]], replacements: Sequence[str]
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Puts ``replacements`` in the place of ``spans``; whatever lies between the spans stays verbatim.

    Args:
        text: the text that the spans are offsets into.
        spans: half-open, in code points, ascending, without overlap.
        replacements: one for each span.

    Returns:
        The new text and the span of every replacement in it.
    """
    parts: list[str] = []
    target_spans: list[tuple[int, int]] = []
    position = length = 0
    for (start, end), replacement in zip(spans, replacements, strict=True):
        parts += (text[position:start], replacement)
        length += start - position
        target_spans.append((length, length + len(replacement)))
        length += len(replacement)
        position = end
    parts.append(text[position:])
    return "".join(parts), tuple(target_spans)
