"""A text and a translation that was given with it: which sentence goes with which."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

from app.engine.step_model import ModelLimits
from app.errors import InvalidInput, TooLarge
from app.explainer import Pair, TextPairs
from app.explanation import ExplainRequest
from app.text.normalise import normalise
from app.text.segments import is_translatable
from app.text.split import Sentence, split
from app.text.tokenizer import Tokenizer
from app.text.tokens import Span, TokenisedText, given_tokens, source_tokens


@dataclass(frozen=True)
class _Side:
    """One of the two texts; ``fits`` says whether the model can take a sentence of it."""

    text: str
    language: str
    fits: Callable[[str], bool]

    def sentences(self, part: Span) -> list[Sentence]:
        """Sentences of a part of the text, their spans in the whole of it."""
        found = split(self.text[slice(*part)], self.language, self.fits)
        return [Sentence(one.text, (one.span[0] + part[0], one.span[1] + part[0])) for one in found]

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

    As many on both sides are paired one by one. Otherwise lines are, where there are as many on both sides: their
    sentences if those are as many, else each line as it stands. Otherwise the two texts are one pair.

    Raises:
        InvalidInput: a line or text that would be a pair as it stands is longer than the model reads.
        TooLarge: a sentence of ``target_text`` has more pieces than the model writes.
    """

    def source_fits(text: str) -> bool:
        return len(tokenizer.encode_source(normalise(text), request.target)) <= limits.source_len

    def target_fits(text: str) -> bool:
        return len(tokenizer.encode(normalise(text))) < limits.target_len

    source = _Side(request.text, request.source, source_fits)
    if request.target_text is None:
        alone = source.sentences((0, len(request.text)))
        return TextPairs(request.text, None, tuple(_pair(request, tokenizer, one, None) for one in alone))
    pairs = _pair_sentences(source, _Side(request.target_text, request.target, target_fits))
    for _, target in pairs:
        _check_length(target.text, tokenizer, limits)
    return TextPairs(request.text, request.target_text, tuple(_pair(request, tokenizer, *both) for both in pairs))


def _pair_sentences(source: _Side, target: _Side) -> list[tuple[Sentence, Sentence]]:
    whole = (0, len(source.text)), (0, len(target.text))
    sources, targets = source.sentences(whole[0]), target.sentences(whole[1])
    if len(sources) == len(targets) or not sources:
        return list(zip(sources, targets, strict=False))
    lines = source.lines(), target.lines()
    if len(lines[0]) != len(lines[1]) or len(lines[0]) == 1:
        return _pair_part(source, target, whole, "")
    parts = enumerate(zip(*lines, strict=True), start=1)
    return [pair for number, part in parts for pair in _pair_part(source, target, part, f"line {number} ")]


def _pair_part(source: _Side, target: _Side, part: tuple[Span, Span], name: str) -> list[tuple[Sentence, Sentence]]:
    """The sentences of a part if there are as many on both sides, else the part as it stands."""
    sources, targets = source.sentences(part[0]), target.sentences(part[1])
    if len(sources) == len(targets):
        return list(zip(sources, targets, strict=True))
    both = source.whole(part[0]), target.whole(part[1])
    if source.fits(both[0].text) and target.fits(both[1].text):
        return [both]
    message = (
        f"target_text: {name}has {len(targets)} sentences, {name and 'that of '}text has {len(sources)}, and it is too "
        "long for the model to read as one: give as many sentences on both sides, or as many lines"
    )
    raise InvalidInput(message, field="target_text", limit=len(sources), value=len(targets))


def _check_length(text: str, tokenizer: Tokenizer, limits: ModelLimits) -> None:
    pieces, limit = len(tokenizer.encode(normalise(text))), limits.target_len - 1
    if pieces > limit:
        message = f"target_text: a sentence of {pieces} pieces, the model writes at most {limit}"
        raise TooLarge(message, field="target_text", limit=limit, value=pieces)


def _pair(request: ExplainRequest, tokenizer: Tokenizer, source: Sentence, target: Sentence | None) -> Pair:
    if not is_translatable(source.text):
        copied = target or source
        texts = (TokenisedText(source.text, (), ()), TokenisedText(copied.text, (), ()))
        return Pair(source.span, texts[0], copied.span, texts[1] if target else None, "copied")
    read = source_tokens(tokenizer, source.text, request.source, request.target)
    if target is None:
        return Pair(source.span, read, (0, 0), None, None)
    written = given_tokens(tokenizer, target.text, request.target)
    return Pair(source.span, read, target.span, written, "forced")
