"""A text and a translation that was given with it: which sentence goes with which."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

from app.engine.step_model import ModelLimits
from app.errors import InvalidInput, TooLarge
from app.explainer import Pair, TextPairs
from app.explanation import ExplainRequest
from app.text.capitals import stands_in_capitals
from app.text.segments import is_translatable
from app.text.split import Sentence, split
from app.text.tokenizer import Tokenizer
from app.text.tokens import (
    TokenisedText,
    all_kept,
    given_length,
    given_tokens,
    is_read,
    kept_parts,
    read_ids,
    source_tokens,
)
from app.text.verbatim import Span


@dataclass(frozen=True)
class _Side:
    """One of the two texts; ``pieces`` counts those of a sentence, of which the model takes at most ``limit``."""

    text: str
    language: str
    pieces: Callable[[str], int]
    limit: int

    def fits(self, sentence: str) -> bool:
        """Whether the model can take it."""
        return self.pieces(sentence) <= self.limit

    def sentences(self, part: Span) -> list[Sentence]:
        """Sentences of a part of the text, their spans in the whole of it."""
        found = split(self.text[slice(*part)], self.language, self.fits)
        return [Sentence(one.text, (one.span[0] + part[0], one.span[1] + part[0])) for one in found]

    def joined(self, sentences: list[Sentence]) -> list[Sentence]:
        """What has nothing to translate, a dash or an emoji, together with the sentence after it in its line.

        Where none is after it, with the one before.
        """
        forwards = self._merged(sentences, lambda before, _: not is_translatable(before.text))
        return self._merged(forwards, lambda _, after: not is_translatable(after.text))

    def _merged(self, sentences: list[Sentence], wanted: Callable[[Sentence, Sentence], bool]) -> list[Sentence]:
        """Neighbours in a line put together where that is ``wanted`` and the model can take them."""
        found: list[Sentence] = []
        for one in sentences:
            span = (found[-1].span[0] if found else one.span[0], one.span[1])
            text = self.text[slice(*span)]
            if found and wanted(found[-1], one) and len(text.splitlines()) == 1 and self.fits(text):
                found[-1] = Sentence(text, span)
            else:
                found.append(one)
        return found

    def lines(self) -> list[Span]:
        """Lines that are not blank."""
        ends = list(accumulate(map(len, self.text.splitlines(keepends=True))))
        lines = zip([0, *ends], ends, strict=False)
        return [(start, end) for start, end in lines if self.text[start:end].strip()]

    def whole(self, part: Span) -> Sentence:
        """A part of the text as one sentence."""
        text = self.text[slice(*part)]
        stripped = text.strip()
        start = part[0] + (len(text) - len(text.lstrip()) if stripped else 0)
        return Sentence(stripped, (start, start + len(stripped)))


def pair_texts(request: ExplainRequest, tokenizer: Tokenizer, limits: ModelLimits) -> TextPairs:
    """Sentences of the text with those of ``target_text``, in order, or alone where there is none.

    As many on both sides are paired one by one; marks that stand alone (the dash of a dialogue) count only where both
    sides have them. Otherwise lines are paired, where there are as many on both sides: their sentences if those are as
    many, else each line as it stands. Otherwise the two texts are one pair.

    Raises:
        InvalidInput: a line or text that would be a pair as it stands is longer than the model reads; or
            ``target_text`` translates a blank text.
        TooLarge: a sentence of ``target_text`` has more pieces than the model writes.
    """

    def source_pieces(text: str) -> int:
        return len(read_ids(tokenizer, text, request.source, request.target))

    kept = all_kept(tokenizer, request.text)

    def target_pieces(text: str) -> int:
        return given_length(tokenizer, text, request.target, kept)

    source = _Side(request.text, request.source, source_pieces, limits.source_len)
    if request.target_text is None:
        alone = source.sentences((0, len(request.text)))
        return TextPairs(request.text, None, tuple(_pair(request, tokenizer, one, None) for one in alone))
    if request.target_text.strip() and not request.text.strip():
        message = "text: is blank, target_text is not: there is nothing that it could be the translation of"
        raise InvalidInput(message, field="text", limit="text that is not blank", value=request.text)
    target = _Side(request.target_text, request.target, target_pieces, limits.target_len - 1)
    pairs = [_pair(request, tokenizer, *both) for both in _pair_sentences(source, target)]
    for pair in pairs:
        _check_length(pair, limits.target_len - 1)
    return TextPairs(request.text, request.target_text, tuple(pairs))


def _pair_sentences(source: _Side, target: _Side) -> list[tuple[Sentence, Sentence]]:
    whole = (0, len(source.text)), (0, len(target.text))
    if (pairs := _one_by_one(source, target, whole)) is not None:
        return pairs
    lines = source.lines(), target.lines()
    if len(lines[0]) != len(lines[1]) or len(lines[0]) == 1:
        return _pair_part(source, target, whole, "")
    parts = enumerate(zip(*lines, strict=True), start=1)
    return [pair for number, part in parts for pair in _pair_part(source, target, part, f"line {number} ")]


def _one_by_one(source: _Side, target: _Side, part: tuple[Span, Span]) -> list[tuple[Sentence, Sentence]] | None:
    """Sentences in order; None where there are not as many on both sides."""
    sources, targets = source.sentences(part[0]), target.sentences(part[1])
    if not sources:
        return []
    if _kinds(sources) != _kinds(targets):
        sources, targets = source.joined(sources), target.joined(targets)
    return list(zip(sources, targets, strict=True)) if _kinds(sources) == _kinds(targets) else None


def _kinds(sentences: list[Sentence]) -> list[bool]:
    return [is_translatable(one.text) for one in sentences]


def _pair_part(source: _Side, target: _Side, part: tuple[Span, Span], name: str) -> list[tuple[Sentence, Sentence]]:
    """The sentences of a part if there are as many on both sides, else the part as it stands."""
    if (pairs := _one_by_one(source, target, part)) is not None:
        return pairs
    sources, targets = source.sentences(part[0]), target.sentences(part[1])
    both = source.whole(part[0]), target.whole(part[1])
    if source.fits(both[0].text) and target.fits(both[1].text):
        return [both]
    side, one = (target, both[1]) if source.fits(both[0].text) else (source, both[0])
    pieces, of_text = side.pieces(one.text), f"{name and 'that of '}text has {len(sources)}"
    message = (
        f"target_text: {name}has {len(targets)} sentences, {of_text}, cut where they were too long; "
        f"as one it has {pieces} pieces in {side.language}, the model takes {side.limit}: "
        "give as many sentences on both sides, or as many lines"
    )
    raise InvalidInput(message, field="target_text", limit=len(sources), value=len(targets))


def _check_length(pair: Pair, limit: int) -> None:
    assert pair.target is not None
    pieces = len(pair.target.tokens) - 1  # without the end of sentence
    if pieces > limit:
        message = f"target_text: a sentence of {pieces} pieces, the model writes at most {limit}"
        raise TooLarge(message, field="target_text", limit=limit, value=pieces)


def _pair(request: ExplainRequest, tokenizer: Tokenizer, source: Sentence, target: Sentence | None) -> Pair:
    if not is_read(tokenizer, source.text) and (target is None or not is_read(tokenizer, target.text)):
        copied = target or source
        texts = (TokenisedText(source.text, (), ()), TokenisedText(copied.text, (), ()))
        return Pair(source.span, texts[0], copied.span, texts[1] if target else None, "copied")
    read = source_tokens(tokenizer, source.text, request.source, request.target)
    if target is None:
        return Pair(source.span, read, (0, 0), None, None)
    kept = kept_parts(tokenizer, source.text)
    written = given_tokens(tokenizer, target.text, request.target, stands_in_capitals(source.text), kept)
    return Pair(source.span, read, target.span, written, "forced")
