"""Limits that need nothing but the request, checked before any work."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.errors import InvalidInput, TooLarge
from app.explanation import ExplainRequest
from app.translation import TranslateRequest


@dataclass(frozen=True)
class RequestLimits:
    """What one request may ask for.

    Attributes:
        max_texts: most texts.
        max_characters: most code points in all texts together.
        max_sentences: most sentences in all texts together; checked when they have been split.
        max_beam_size: most hypotheses per sentence.
        default_beam_size: hypotheses per sentence where the request does not say.
        default_length_penalty: likewise.
        max_attention_values: most attention weights in one JSON answer; known, and so checked, only after decoding.
    """

    max_texts: int
    max_characters: int
    max_sentences: int
    max_beam_size: int
    default_beam_size: int
    default_length_penalty: float
    max_attention_values: int


def check_request(request: TranslateRequest, limits: RequestLimits, directions: Sequence[tuple[str, str]]) -> None:
    """Passes a request that is within all limits.

    Raises:
        InvalidInput: it is not; the first fault.
        TooLarge: it is, but for its size.
    """
    _check_direction(request, directions)
    _check_sizes(request, limits)
    _check_search(request, limits)


def check_explain(request: ExplainRequest, limits: RequestLimits, directions: Sequence[tuple[str, str]]) -> None:
    """The same for a request to explain.

    Raises:
        InvalidInput, TooLarge: as ``check_request``.
    """
    _check_direction(request, directions)
    characters = len(request.text) + len(request.target_text or "")
    if characters > limits.max_characters:
        message = (
            f"text: {characters:,} characters with those of target_text, at most {limits.max_characters:,} are allowed"
        )
        raise TooLarge(message, field="text", limit=limits.max_characters, value=characters)


def _check_direction(request: TranslateRequest | ExplainRequest, directions: Sequence[tuple[str, str]]) -> None:
    sources = sorted({source for source, _ in directions})
    if request.source not in sources:
        message = f"source: no translation from {request.source[:20]!r}"
        raise InvalidInput(message, field="source", limit=sources, value=request.source)
    targets = sorted(target for source, target in directions if source == request.source)
    if request.target == request.source:
        message = f"target: is {request.target!r} like the source"
        raise InvalidInput(message, field="target", limit=targets, value=request.target)
    if request.target not in targets:
        message = f"target: no translation from {request.source!r} to {request.target[:20]!r}"
        raise InvalidInput(message, field="target", limit=targets, value=request.target)


def _check_sizes(request: TranslateRequest, limits: RequestLimits) -> None:
    texts = len(request.texts)
    if texts > limits.max_texts:
        message = f"text: {texts:,} texts, at most {limits.max_texts:,} are allowed"
        raise TooLarge(message, field="text", limit=limits.max_texts, value=texts)
    characters = sum(map(len, request.texts))
    if characters > limits.max_characters:
        message = f"text: {characters:,} characters in all, at most {limits.max_characters:,} are allowed"
        raise TooLarge(message, field="text", limit=limits.max_characters, value=characters)


def _check_search(request: TranslateRequest, limits: RequestLimits) -> None:
    beam_size = limits.default_beam_size if request.beam_size is None else request.beam_size
    if beam_size > limits.max_beam_size:
        message = f"beam_size: is {beam_size}, at most {limits.max_beam_size} is allowed"
        raise InvalidInput(message, field="beam_size", limit=limits.max_beam_size, value=beam_size)
    if request.alternatives >= beam_size:
        message = f"alternatives: a beam of {beam_size} has {beam_size - 1} beside the best one"
        raise InvalidInput(message, field="alternatives", limit=beam_size - 1, value=request.alternatives)
