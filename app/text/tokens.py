"""Pieces and words of one sentence, each with the place in its text that it stands for."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.text.capitals import as_read, capitals, has_only_capitals, sentence_case
from app.text.kept import KeptForm, KeptPart, kept_spans, take_out
from app.text.normalise import normalise
from app.text.offsets import normalise_with_offsets
from app.text.segments import is_translatable
from app.text.tokenizer import Tokenizer
from app.text.verbatim import Span, without_verbatim
from app.text.words import word_spans

Special = Literal["tag", "bos", "eos"]


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
    capitals was recased. A kept part is one piece, the part itself.

    Attributes:
        kept: the parts that ``Tokenizer.kept_ids`` stand for here, in their order.
    """

    text: str
    tokens: tuple[Token, ...]
    words: tuple[Word, ...]
    kept: tuple[str, ...] = ()


def kept_parts(tokenizer: Tokenizer, text: str) -> tuple[KeptPart, ...]:
    """What a translation of the sentence ``text`` must contain as it is, in order."""
    return take_out(text, _kept_spans(tokenizer, text)).parts


def is_read(tokenizer: Tokenizer, text: str) -> bool:
    """Whether the model is to read a sentence: it has letters besides what is kept, and most words are of such letters.

    Other sentences are copied.
    """
    between = take_out(text, _kept_spans(tokenizer, text))
    return is_translatable(between.text) and tokenizer.knows_letters_of(without_verbatim(text))


def read_ids(tokenizer: Tokenizer, text: str, language: str, target: str) -> list[int]:
    """Ids that the encoder reads for a sentence as it stands in the request; see ``source_tokens``."""
    form = _source_form(tokenizer, text, language)
    ids = _encode(tokenizer, replace(form, text=normalise(form.text)), form.parts)
    return [tokenizer.tag_id(target), *ids, tokenizer.special_ids.eos]


def read_fits(tokenizer: Tokenizer, text: str, languages: tuple[str, str], longest: int) -> bool:
    """Whether the model can read a sentence: it has at most ``longest`` ids, and a piece for each part that is kept.

    Args:
        languages: source and target.
    """
    if tokenizer.kept_ids:
        spans = kept_spans(text, tokenizer.knows)
        if len(spans) > len(tokenizer.kept_ids) < len(_distinct(take_out(text, spans).parts)):
            return False
    return len(read_ids(tokenizer, text, *languages)) <= longest


def written_text(tokenizer: Tokenizer, ids: Sequence[int], recased: bool, kept: Sequence[KeptPart] = ()) -> str:
    """The translation that ``ids`` are.

    Args:
        recased: of a sentence in capitals, so that it is to be raised.
        kept: ``kept_parts`` of the source: each stands in the text as often as there.
    """
    form, _ = tokenizer.spell_kept(ids, _distinct(kept))
    return _finished(replace(form, text=normalise(form.text)), recased, kept).put_back()


def source_tokens(tokenizer: Tokenizer, text: str, language: str, target: str) -> TokenisedText:
    """What the encoder reads for ``text``: tag, pieces, end of sentence.

    A sentence in capitals is read in sentence case: pieces and ids are of that, text, words and spans of ``text``.
    A part that is to be kept (``app.text.kept``) is one piece.

    Args:
        text: the sentence as it stands in the request, not normalised.
        language: its language, for the words.
        target: language to translate into, for the tag.
    """
    form = _source_form(tokenizer, text, language)
    placed = _placed(tokenizer, form, form.parts)
    return _annotate(tokenizer, text, language, [(tokenizer.tag_id(target), (0, 0)), *placed], form.parts)


def given_tokens(
    tokenizer: Tokenizer, text: str, language: str, recased: bool = False, kept: Sequence[KeptPart] = ()
) -> TokenisedText:
    """What the decoder would have to write for ``text``, normalised or not: pieces, end of sentence.

    Args:
        recased: the source was, so that the model's own translation would have been raised: a ``text`` without small
            letters is taken for a raised one, however short it is.
        kept: ``kept_parts`` of the source: of ``text`` these are one piece each.
    """
    form = _given_form(text, language, recased, kept)
    return _annotate(tokenizer, text, language, _placed(tokenizer, form, kept), kept)


def all_kept(tokenizer: Tokenizer, text: str) -> frozenset[str]:
    """What the sentences of ``text`` keep, however many parts that are."""
    spans = kept_spans(text, tokenizer.knows) if tokenizer.kept_ids else []
    return frozenset(text[slice(*span)] for span in spans)


def given_length(tokenizer: Tokenizer, text: str, language: str, kept: Container[str]) -> int:
    """About how many pieces ``given_tokens`` has, the end of sentence aside; ``kept``: ``all_kept`` of the source."""
    # A translation in capitals is most likely that of a source in capitals, and has far fewer pieces then.
    spans = [span for span in kept_spans(text, tokenizer.knows) if text[slice(*span)] in kept]
    form = take_out(text, spans, lowered(text, language))
    return len(tokenizer.encode_kept(replace(form, text=normalise(form.text)), [0] * len(spans)))


def _given_form(text: str, language: str, recased: bool, kept: Sequence[KeptPart]) -> KeptForm:
    """Parts of ``kept`` wherever they stand in ``text``, as the model may have placed them."""
    texts = sorted(kept_texts(kept), key=len, reverse=True)
    found = re.finditer("|".join(map(re.escape, texts)), text) if texts else ()
    return take_out(text, [match.span() for match in found], lowered(text, language) if recased else text)


def lowered(text: str, language: str) -> str:
    """What was written before it was raised to ``text``; capitals inside the sentence, as of names, are not known."""
    return sentence_case(text, language) if has_only_capitals(text) else text


def target_tokens(
    tokenizer: Tokenizer, ids: Sequence[int], language: str, recased: bool = False, kept: Sequence[KeptPart] = ()
) -> TokenisedText:
    """What the decoder writes; the text is ``written_text(tokenizer, ids, recased, kept)``."""
    raw, spans = tokenizer.spell_kept(ids, _distinct(kept))
    normalised = normalise_with_offsets(raw.text)
    trimmed = [_trim(normalised.text, normalised.normalised_span(*span)) for span in spans]
    form = _finished(replace(raw, text=normalised.text), recased, kept)
    placed = zip(ids, map(form.span_in_whole, trimmed), strict=True)
    return _annotate(tokenizer, form.put_back(), language, list(placed), kept)


def _kept_spans(tokenizer: Tokenizer, text: str) -> list[Span]:
    """Of the parts to be kept as many as there are pieces for; equal ones share a piece."""
    if not tokenizer.kept_ids:
        return []
    spans = kept_spans(text, tokenizer.knows)
    parts = take_out(text, spans).parts
    chosen = _distinct(parts)[: len(tokenizer.kept_ids)]
    return [span for span, part in zip(spans, parts, strict=True) if part in chosen]


def kept_texts(parts: Sequence[KeptPart]) -> list[str]:
    """What ``Tokenizer.kept_ids`` stand for, in their order: equal ones share a piece."""
    return [part.text for part in _distinct(parts)]


def _distinct(parts: Sequence[KeptPart]) -> list[KeptPart]:
    return list(dict.fromkeys(parts))


def _source_form(tokenizer: Tokenizer, text: str, language: str) -> KeptForm:
    """What the model reads for a sentence: in sentence case if it stands in capitals, without the parts to be kept."""
    return take_out(text, _kept_spans(tokenizer, text), as_read(text, language))


def _finished(form: KeptForm, recased: bool, kept: Sequence[KeptPart]) -> KeptForm:
    """A normalised translation for the reader: raised if ``recased``, with each part as often as the source has it.

    What the model left out stands at the end; what it wrote too often is nothing from then on.
    """
    left = Counter(part.text for part in kept)
    parts, place = [], -1
    for part in form.parts:
        place = form.text.index(form.stand_in, place + 1)
        left[part.text] -= 1
        if left[part.text] < 0:
            part = KeptPart("", glued=form.text[:place][-1:] in ("", " "), apart=False)
        parts.append(part)
    missing = [KeptPart(text, glued=False, apart=True) for text in (+left).elements()] if form.text else []
    text = capitals(form.text) if recased else form.text
    return KeptForm(text + f" {form.stand_in}" * len(missing), form.stand_in, (*parts, *missing))


def _encode(tokenizer: Tokenizer, form: KeptForm, kept: Sequence[KeptPart]) -> list[int]:
    known, texts = _distinct(kept), kept_texts(kept)
    numbers = [known.index(part) if part in known else texts.index(part.text) for part in form.parts]
    return tokenizer.encode_kept(form, numbers)


def _placed(tokenizer: Tokenizer, form: KeptForm, kept: Sequence[KeptPart]) -> list[tuple[int, Span]]:
    """Ids of a form, end of sentence included, and their spans in its whole text; its parts are among ``kept``."""
    normalised = normalise_with_offsets(form.text)
    encoded = _encode(tokenizer, replace(form, text=normalised.text), kept)
    ids = [*encoded, tokenizer.special_ids.eos]
    # The tokenizer puts a space before the first word.
    _, spans = tokenizer.spell(ids, dict.fromkeys(tokenizer.kept_ids, form.stand_in))
    spans = [(max(start - 1, 0), max(end - 1, 0)) for start, end in spans]
    trimmed = [_trim(normalised.text, span) for span in spans]
    return [
        (index, form.span_in_whole(normalised.original_span(*span))) for index, span in zip(ids, trimmed, strict=True)
    ]


def _annotate(
    tokenizer: Tokenizer, text: str, language: str, placed: Sequence[tuple[int, Span]], kept: Sequence[KeptPart]
) -> TokenisedText:
    """``placed``: ids with their spans in ``text``."""
    texts = kept_texts(kept)
    ids, spans = [index for index, _ in placed], [span for _, span in placed]
    specials = [_special(tokenizer, index) for index in ids]
    disjoint = list(_disjoint(spans))
    plain = [index for index, special in enumerate(specials) if special is None]
    words = list(_words(text, word_spans(text, language), {index: disjoint[index] for index in plain}))
    word_of = {token: number for number, word in enumerate(words) for token in word.tokens}
    rows = zip(tokenizer.pieces(ids, texts), ids, disjoint, specials, strict=True)
    tokens = (
        Token(piece, number, None if special else span, word_of.get(index), special)
        for index, (piece, number, span, special) in enumerate(rows)
    )
    return TokenisedText(text, tuple(tokens), tuple(words), tuple(texts))


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
