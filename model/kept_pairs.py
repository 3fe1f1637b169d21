"""Pairs to ids, with the parts that both sides keep as one piece each (``app.text.kept``)."""

from collections import Counter
from collections.abc import Sequence

from app.text.kept import KeptForm, kept_spans, take_out
from app.text.tokenizer import Tokenizer


def encode_pairs(tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> tuple[list[list[int]], list[list[int]]]:
    """Ids of both sides of normalised pairs.

    A part that stands equally often on both sides is one piece, another is spelled. Serving numbers parts from the
    first kept piece on; here they begin anywhere, so that each of these pieces is learned from as many pairs.
    """
    sides: tuple[list[KeptForm], list[KeptForm]] = ([], [])
    numbers: list[dict[str, int]] = []
    for pair in pairs:
        spans = [kept_spans(text, tokenizer.knows) if tokenizer.kept_ids else [] for text in pair]
        counts = [Counter(text[slice(*span)] for span in found) for text, found in zip(pair, spans, strict=True)]
        common = [part for part, count in counts[0].items() if counts[1][part] == count][: len(tokenizer.kept_ids)]
        numbers.append({part: (len(pair[0]) + place) % len(tokenizer.kept_ids) for place, part in enumerate(common)})
        for text, found, forms in zip(pair, spans, sides, strict=True):
            forms.append(take_out(text, [span for span in found if text[slice(*span)] in common]))
    first, second = (
        tokenizer.encode_kept_batch(
            forms, [[number[part.text] for part in form.parts] for form, number in zip(forms, numbers, strict=True)]
        )
        for forms in sides
    )
    return first, second
