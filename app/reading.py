"""Text to what the model reads: sentences with their places and ids."""

from dataclasses import dataclass

from app.text.capitals import stands_in_capitals
from app.text.kept import KeptPart
from app.text.split import split
from app.text.tokenizer import Tokenizer
from app.text.tokens import is_read, kept_parts, read_fits, read_ids


@dataclass(frozen=True)
class Part:
    """One sentence of a text.

    Attributes:
        source_ids: what the encoder reads; None where the sentence is copied, because there is nothing to translate
            or because the model does not know most of its letters.
        recased: whether they are of the sentence in small letters, because it stands in capitals.
        kept: what the translation must contain as it is, in order; each is one id.
    """

    text: str
    span: tuple[int, int]
    source_ids: tuple[int, ...] | None
    recased: bool
    kept: tuple[KeptPart, ...] = ()


def read_text(text: str, languages: tuple[str, str], tokenizer: Tokenizer, longest: int) -> list[Part]:
    """Text to sentences to at most ``longest`` ids each; ``languages`` are (source, target)."""
    parts = []
    for sentence in split(text, languages[0], lambda candidate: read_fits(tokenizer, candidate, languages, longest)):
        if is_read(tokenizer, sentence.text):
            recased, kept = stands_in_capitals(sentence.text), kept_parts(tokenizer, sentence.text)
            source_ids = tuple(read_ids(tokenizer, sentence.text, *languages))
            parts.append(Part(sentence.text, sentence.span, source_ids, recased, kept))
        else:
            parts.append(Part(sentence.text, sentence.span, None, recased=False))
    return parts
