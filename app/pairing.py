"""A text and a translation that was given with it: which sentence goes with which."""

from app.engine.step_model import ModelLimits
from app.errors import InvalidInput, TooLarge
from app.explainer import Pair, TextPairs
from app.explanation import ExplainRequest
from app.text.normalise import normalise
from app.text.segments import is_translatable
from app.text.split import Sentence, split
from app.text.tokenizer import Tokenizer
from app.text.tokens import TokenisedText, given_tokens, source_tokens


def pair_texts(request: ExplainRequest, tokenizer: Tokenizer, limits: ModelLimits) -> TextPairs:
    """Sentences of the text with those of ``target_text``, in order, or alone where there is none.

    As many on both sides are paired one by one. Otherwise the two texts are one pair, if the model can read them so.

    Raises:
        InvalidInput: neither is possible.
        TooLarge: a sentence of ``target_text`` has more pieces than the model writes.
    """

    def source_fits(text: str) -> bool:
        return len(tokenizer.encode_source(normalise(text), request.target)) <= limits.source_len

    def target_fits(text: str) -> bool:
        return len(tokenizer.encode(normalise(text))) < limits.target_len

    sources = split(request.text, request.source, source_fits)
    if request.target_text is None:
        pairs = [_pair(request, tokenizer, source, None) for source in sources]
        return TextPairs(request.text, None, tuple(pairs))
    targets = split(request.target_text, request.target, target_fits)
    if len(sources) != len(targets) and sources:
        wholes = _whole(request.text), _whole(request.target_text)
        if not source_fits(request.text) or not target_fits(request.target_text):
            message = (
                f"target_text: has {len(targets)} sentences, text has {len(sources)}, and together they are longer "
                "than the model reads in one: give as many sentences on both sides"
            )
            raise InvalidInput(message, field="target_text", limit=len(sources), value=len(targets))
        sources, targets = [wholes[0]], [wholes[1]]
    for target in targets:
        _check_length(target.text, tokenizer, limits)
    pairs = [_pair(request, tokenizer, *both) for both in zip(sources, targets, strict=False)]
    return TextPairs(request.text, request.target_text, tuple(pairs))


def _check_length(text: str, tokenizer: Tokenizer, limits: ModelLimits) -> None:
    pieces, limit = len(tokenizer.encode(normalise(text))), limits.target_len - 1
    if pieces > limit:
        message = f"target_text: a sentence of {pieces} pieces, the model writes at most {limit}"
        raise TooLarge(message, field="target_text", limit=limit, value=pieces)


def _whole(text: str) -> Sentence:
    stripped = text.strip()
    start = len(text) - len(text.lstrip()) if stripped else 0
    return Sentence(stripped, (start, start + len(stripped)))


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
