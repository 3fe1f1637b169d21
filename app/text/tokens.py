"""Pieces and words of one sentence, each with the place in its text that it stands for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.text.capitals import as_read, capitals, has_only_capitals, sentence_case
from app.text.normalise import normalise
from app.text.offsets import normalise_with_offsets
from app.text.tokenizer import Tokenizer
from app.text.words import word_spans

Special = Literal["tag", "bos", "eos"]
Span = tuple[int, int]


@dataclass(frozen=True)
class Token:
    """One piece.

    Attributes:
        span: half-open, in code points, into the text, without the space before a word; None for special pieces.
            Empty for a piece that has no character of its own: all but the last byte of a character, a lone space.
        word: index of the word that it is part of; None for special pieces, and where the text has no word.
        special: what structure it carries, None for text.
    """

    piece: str
    id: int
    span: Span | None
    word: int | None
    special: Special | None


@dataclass(frozen=True)
class Word:
    """One word and the indices of the tokens that spell it, at least one."""

    text: str
    span: Span
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class TokenisedText:
    """One sentence. Spans ascend and do not overlap; every token that is not special belongs to one word.

    Text and words are as they stand for the reader, pieces as the model has them: in small letters where a sentence in
    capitals was recased.
    """

    text: str
    tokens: tuple[Token, ...]
    words: tuple[Word, ...]


def read_ids(tokenizer: Tokenizer, text: str, language: str, target: str) -> list[int]:
    """Ids that the encoder reads for a sentence as it stands in the request; see ``source_tokens``."""
    return tokenizer.encode_source(normalise(as_read(text, language)), target)


def written_text(tokenizer: Tokenizer, ids: Sequence[int], recased: bool) -> str:
    """The translation that ``ids`` are: ``recased``, of a sentence in capitals, so that it is to be raised."""
    text = tokenizer.decode(ids)
    return capitals(text) if recased else text


def source_tokens(tokenizer: Tokenizer, text: str, language: str, target: str) -> TokenisedText:
    """What the encoder reads for ``text``: tag, pieces, end of sentence.

    A sentence in capitals is read in sentence case: pieces and ids are of that, text, words and spans of ``text``.

    Args:
        text: the sentence as it stands in the request, not normalised.
        language: its language, for the words.
        target: language to translate into, for the tag.
    """
    return _given(tokenizer, text, as_read(text, language), language, [tokenizer.tag_id(target)])


def given_tokens(tokenizer: Tokenizer, text: str, language: str, recased: bool = False) -> TokenisedText:
    """What the decoder would have to write for ``text``, normalised or not: pieces, end of sentence.

    Args:
        recased: the source was, so that the model's own translation would have been raised: a ``text`` without small
            letters is taken for a raised one, however short it is.
    """
    return _given(tokenizer, text, lowered(text, language) if recased else text, language, [])


def lowered(text: str, language: str) -> str:
    """What was written before it was raised to ``text``; capitals inside the sentence, as of names, are not known."""
    return sentence_case(text, language) if has_only_capitals(text) else text


def _given(tokenizer: Tokenizer, text: str, form: str, language: str, before: Sequence[int]) -> TokenisedText:
    """``form`` is what the model has for ``text``, of the same length."""
    normalised = normalise_with_offsets(form)
    ids = [*before, *tokenizer.encode(normalised.text), tokenizer.special_ids.eos]
    # The tokenizer puts a space before the first word.
    _, spans = tokenizer.spell(ids)
    spans = [(max(start - 1, 0), max(end - 1, 0)) for start, end in spans]
    trimmed = [_trim(normalised.text, span) for span in spans]
    original = [normalised.original_span(*span) for span in trimmed]
    return _annotate(tokenizer, text, language, ids, original)


def target_tokens(tokenizer: Tokenizer, ids: Sequence[int], language: str, recased: bool = False) -> TokenisedText:
    """What the decoder writes; the text is ``written_text(tokenizer, ids, recased)``."""
    raw, spans = tokenizer.spell(ids)
    normalised = normalise_with_offsets(raw)
    trimmed = [_trim(normalised.text, normalised.normalised_span(*span)) for span in spans]
    shown = capitals(normalised.text) if recased else normalised.text
    return _annotate(tokenizer, shown, language, ids, trimmed)


def _annotate(
    tokenizer: Tokenizer, text: str, language: str, ids: Sequence[int], spans: Sequence[Span]
) -> TokenisedText:
    specials = [_special(tokenizer, index) for index in ids]
    disjoint = list(_disjoint(spans))
    plain = [index for index, special in enumerate(specials) if special is None]
    words = list(_words(text, word_spans(text, language), {index: disjoint[index] for index in plain}))
    word_of = {token: number for number, word in enumerate(words) for token in word.tokens}
    rows = zip(tokenizer.pieces(ids), ids, disjoint, specials, strict=True)
    tokens = (
        Token(piece, number, None if special else span, word_of.get(index), special)
        for index, (piece, number, span, special) in enumerate(rows)
    )
    return TokenisedText(text, tuple(tokens), tuple(words))


def _words(text: str, spans: Sequence[Span], tokens: dict[int, Span]) -> Iterator[Word]:
    """Words with their tokens; those that share a piece are one, those without any are left out."""
    found: list[tuple[int, int, list[int]]] = []  # first and last of ``spans``, tokens
    for index, (start, end) in tokens.items():
        first = next((number for number, span in enumerate(spans) if span[1] > start), len(spans) - 1)
        if first < 0:
            continue
        last = max((number for number, span in enumerate(spans) if span[0] < end), default=first)
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(last, found[-1][1]), [*found[-1][2], index])
        else:
            found.append((first, max(first, last), [index]))
    for first, last, indices in found:
        span = (spans[first][0], spans[last][1])
        yield Word(text[slice(*span)], span, tuple(indices))


def _disjoint(spans: Sequence[Span]) -> Iterator[Span]:
    """Of two pieces that stand for one character, such as halves of a composed one, the first has its span."""
    position = 0
    for start, end in spans:
        start, end = max(start, position), max(end, position)
        position = end
        yield start, end


def _trim(text: str, span: Span) -> Span:
    """``span`` without spaces at either end; an empty one stands where the next character is."""
    start, end = span
    while start < end and text[start] == " ":
        start += 1
    while end > start and text[end - 1] == " ":
        end -= 1
    return start, end


def _special(tokenizer: Tokenizer, index: int) -> Special | None:
    if index == tokenizer.special_ids.eos:
        return "eos"
    if index == tokenizer.special_ids.bos:
        return "bos"
    return "tag" if tokenizer.is_tag(index) else None
