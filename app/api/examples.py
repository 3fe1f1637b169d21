"""Worked examples for the interface's documentation; tests hold them against the models they illustrate."""

from collections.abc import Sequence
from typing import Any

from app.api.attention_examples import ATTENTION_ANSWER
from app.api.errors import ErrorAnswer, ErrorBody, error_response
from app.errors import DeadlineExceeded, EngineFailed, InvalidInput, NotReady, QueueFull, TooLarge

TRANSLATE_ANSWER: dict[str, Any] = {
    "translations": [
        {
            "text": "Le chat dort.",
            "source": "en",
            "target": "fr",
            "segments": [
                {
                    "source": {
                        "text": "The cat sleeps.",
                        "span": [0, 15],
                        "pieces": ["▁The", "▁cat", "▁sleep", "s", "."],
                    },
                    "target": {"text": "Le chat dort.", "span": [0, 13], "pieces": ["▁Le", "▁chat", "▁d", "ort", "."]},
                    "log_prob": -0.403161,
                    "score": -0.0671934,
                    "finish_reason": "eos",
                    "alternatives": [],
                    "recased": False,
                    "kept": [],
                }
            ],
            "attention": None,
        }
    ],
    "model": {
        "id": "vitrail-en-fr-small",
        "revision": "c0f5d0bae079",
        "precision": "int8",
        "provider": "CPUExecutionProvider",
    },
    "usage": {"characters": 15, "source_pieces": 5, "target_pieces": 5},
    "offset_unit": "codepoint",
}

_WITH_NULLS = {"/translate": TRANSLATE_ANSWER, "/attention": ATTENTION_ANSWER}

_MESSAGES: dict[int, tuple[str, Exception]] = {
    413: (
        "The request is larger than a limit.",
        TooLarge(
            "text: 60,000 characters in all, at most 50,000 are allowed", field="text", limit=50_000, value=60_000
        ),
    ),
    422: (
        "A field is not what it must be.",
        InvalidInput("beam_size: is 99, at most 16 is allowed", field="beam_size", limit=16, value=99),
    ),
    429: (
        "Too many sentences, or pictures, are waiting: try again in `Retry-After` seconds.",
        QueueFull(4_096, 4_096),
    ),
    500: ("The model failed, or there is a bug; the cause is in the log.", EngineFailed("the model raised")),
    503: ("Draining or failed: try another replica.", NotReady("the engine is draining")),
    504: ("The answer was not there in time.", DeadlineExceeded(60)),
}
_PLAIN: dict[int, tuple[str, dict[str, Any]]] = {
    400: (
        "The body cannot be read as JSON.",
        {
            "code": "malformed_json",
            "message": "the body cannot be read as JSON: Expecting value at character 9",
            "field": "body",
        },
    ),
    415: (
        "The body does not say that it is JSON.",
        {
            "code": "unsupported_media_type",
            "message": "the body must be JSON and say so: Content-Type: application/json",
            "field": "Content-Type",
            "limit": "application/json",
            "value": "text/plain",
        },
    ),
}


def error_documentation(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says about errors with ``statuses``, an example of each included."""
    documented: dict[int | str, dict[str, Any]] = {}
    for status in statuses:
        if status in _PLAIN:
            description, error = _PLAIN[status]
            example = {"error": {"field": None, "limit": None, "value": None} | error}
        else:
            description, raised = _MESSAGES[status]
            example = ErrorAnswer.model_validate_json(bytes(error_response(raised).body)).model_dump()
        content = {"application/json": {"example": example}}
        documented[status] = {"model": ErrorAnswer, "description": description, "content": content}
        if status in (429, 503):
            seconds = {"description": "Seconds to wait before trying again.", "schema": {"type": "integer"}}
            documented[status]["headers"] = {"Retry-After": seconds}
    return documented


def with_nulls(schema: dict[str, Any]) -> dict[str, Any]:
    """Puts back the fields that are null in the examples of an OpenAPI schema: its maker drops them."""
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            for response in operation["responses"].values():
                example = response["content"].get("application/json", {}).get("example", {})
                if path in _WITH_NULLS and "error" not in example:
                    response["content"]["application/json"]["example"] = _WITH_NULLS[path]
                if "error" in example:
                    example["error"] = {name: example["error"].get(name) for name in ErrorBody.model_fields}
    return schema


def example_of(description: str, example: object, others: Sequence[str] = ()) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says about the answer that is no error, in JSON and in ``others``, types of bytes."""
    content: dict[str, Any] = {"application/json": {"example": example}}
    content |= {other: {"schema": {"type": "string", "format": "binary"}} for other in others}
    return {200: {"description": description, "content": content}}
