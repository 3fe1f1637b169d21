"""The one table from errors to status codes, and the one shape in which errors are told."""

import email.message
import json
import logging
import math
import re
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from app.api.disconnect import ClientDisconnected
from app.api.request_id import request_id_of
from app.errors import (
    DeadlineExceeded,
    EngineFailed,
    InvalidInput,
    NotReady,
    QueueFull,
    TooLarge,
    VitrailError,
)

# One of the values that are allowed, as pydantic lists them: "'codepoint', 'utf16' or 'utf8'".
_QUOTED = re.compile(r"'([^']*)'")
_log = logging.getLogger(__name__)

# The first line that an error is an instance of decides.
_TABLE: tuple[tuple[type[Exception], int, str], ...] = (
    (TooLarge, 413, "too_large"),
    (InvalidInput, 422, "invalid_input"),
    (QueueFull, 429, "queue_full"),
    (NotReady, 503, "not_ready"),
    (DeadlineExceeded, 504, "deadline_exceeded"),
    (Exception, 500, "internal_error"),
)
_HTTP_CODES = {400: "malformed_json", 404: "not_found", 405: "method_not_allowed", 415: "unsupported_media_type"}
_QUEUE_FULL_RETRY_SECONDS = 1
_NOT_READY_RETRY_SECONDS = 5
_CLIENT_CLOSED_REQUEST = 499
_LONGEST_VALUE = 100

# Where pydantic speaks of its own classes.
_MESSAGES = {
    "extra_forbidden": "there is no such field",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
}

# Parts of a pydantic location that name the branch of a union, not a field; see ``app.api.schemas``.
_BRANCHES = ("<list>", "<single>")


class ErrorBody(BaseModel):
    """What went wrong."""

    code: str = Field(description="Stable name of the kind of error, for programs.")
    message: str = Field(description="What went wrong, for people.")
    field: str | None = Field(description="The field of the request at fault, such as `text[3]`; null if none is.")
    limit: int | float | str | list[int | str] | None = Field(
        description="The limit that was passed; null if there is none."
    )
    value: int | float | str | bool | None = Field(
        description=f"The value given, shortened to {_LONGEST_VALUE} characters; null if there is none."
    )


class ErrorAnswer(BaseModel):
    """The shape of every error."""

    error: ErrorBody = Field(description="What went wrong.")


def error_response(error: Exception) -> JSONResponse:
    """The answer that tells of ``error``; what is not the client's business is left out."""
    status, code = next((status, code) for kind, status, code in _TABLE if isinstance(error, kind))
    headers: dict[str, str] = {}
    body = ErrorBody(code=code, message=str(error), field=None, limit=None, value=None)
    match error:
        case InvalidInput():
            body = _invalid(code, str(error), error.field, error.limit, error.value)
        case QueueFull():
            headers["Retry-After"] = str(_QUEUE_FULL_RETRY_SECONDS)
            body = body.model_copy(update={"limit": error.limit, "value": error.waiting})
        case NotReady():
            headers["Retry-After"] = str(_NOT_READY_RETRY_SECONDS)
        case DeadlineExceeded():
            body = body.model_copy(update={"limit": error.seconds})
        case EngineFailed():
            body = body.model_copy(update={"code": "engine_failed", "message": "the model failed; the cause is logged"})
        case _:
            body = body.model_copy(update={"message": "an unexpected error; the cause is logged"})
    return _response(status, body, headers)


def add_error_handlers(app: FastAPI) -> None:
    """Makes every error of ``app`` answer in the one shape."""
    app.add_exception_handler(VitrailError, _handle)
    app.add_exception_handler(Exception, _handle)
    app.add_exception_handler(RequestValidationError, _handle_validation)
    app.add_exception_handler(HTTPException, _handle_http)
    app.add_exception_handler(ClientDisconnected, _handle_disconnect)


def logged_response(request: Request, error: Exception) -> JSONResponse:
    """``error_response``; what is our own fault is logged with its cause."""
    response = error_response(error)
    if response.status_code == 500:
        identity = request_id_of(request)
        _log.error("%s %s failed, request %s", request.method, request.url.path, identity, exc_info=error)
    return response


async def _handle(request: Request, error: Exception) -> Response:
    return logged_response(request, error)


async def _handle_disconnect(_request: Request, _error: Exception) -> Response:
    return Response(status_code=_CLIENT_CLOSED_REQUEST)


async def _handle_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:
        return _malformed(f"the body cannot be read as JSON: {_unreadable(error)}")
    messages = {
        404: f"there is nothing at {request.url.path}",
        405: f"{request.method} is not possible at {request.url.path}",
    }
    message = messages.get(error.status_code, str(error.detail))
    code = _HTTP_CODES.get(error.status_code, "http_error")
    value = request.method if error.status_code == 405 else None
    body = ErrorBody(code=code, message=message, field=None, limit=None, value=value)
    return _response(error.status_code, body, error.headers or {})


async def _handle_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    fault = error.errors()[0]
    if fault["type"] == "json_invalid":
        reason = fault["ctx"]["error"]
        return _malformed(f"the body cannot be read as JSON: {reason} at character {fault['loc'][-1]}")
    content_type = request.headers.get("content-type", "")
    if fault["loc"] == ("body",) and not _is_json(content_type):
        message = "the body must be JSON and say so: Content-Type: application/json"
        value = _shown(content_type) if content_type else None
        body = ErrorBody(
            code=_HTTP_CODES[415], message=message, field="Content-Type", limit="application/json", value=value
        )
        return _response(415, body, {})
    if fault["loc"] == ("body",) and fault["type"] == "missing":
        return _malformed("the body is empty")
    field = _path(fault["loc"])
    value = None if fault["type"] == "missing" else fault["input"]
    limit = _field_names(request, fault["loc"]) if fault["type"] == "extra_forbidden" else _limit(fault)
    message = f"{field}: {_MESSAGES.get(fault['type'], fault['msg'])}"
    return _response(422, _invalid("invalid_input", message, field, limit, value), {})


def _field_names(request: Request, location: tuple[int | str, ...]) -> list[str] | None:
    """The fields that the body has, where an unknown one stands beside them."""
    body = getattr(request.scope.get("route"), "body_field", None)
    model = body.field_info.annotation if body is not None and len(location) == 2 else None
    return sorted(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else None


def _is_json(content_type: str) -> bool:
    """Read the way FastAPI reads it, which decides whether the body was taken for JSON."""
    message = email.message.Message()
    message["content-type"] = content_type
    kind, _, what = message.get_content_type().partition("/")
    return kind == "application" and (what == "json" or what.endswith("+json"))


def _unreadable(error: HTTPException) -> str:
    match error.__cause__:
        case UnicodeDecodeError():
            return "it is not in UTF-8"
        case RecursionError():
            return "it is nested too deeply"
        case ValueError():
            return "a number has too many digits"
        case _:
            return str(error.detail)


def _malformed(message: str) -> Response:
    return _response(400, ErrorBody(code=_HTTP_CODES[400], message=message, field="body", limit=None, value=None), {})


def _invalid(code: str, message: str, field: str, limit: object, value: object) -> ErrorBody:
    if limit is not None and not isinstance(limit, int | float | str):
        limit = (
            [item if isinstance(item, int) else str(item) for item in limit]
            if isinstance(limit, list | tuple)
            else str(limit)
        )
    return ErrorBody(code=code, message=message, field=field, limit=limit, value=_shown(value))


def _limit(fault: Mapping[str, Any]) -> object:
    context = fault.get("ctx", {})
    if fault["type"] == "literal_error":
        return _QUOTED.findall(context["expected"])
    names = ("ge", "gt", "le", "lt", "min_length", "max_length", "expected")
    return next((context[name] for name in names if name in context), None)


def _path(location: tuple[int | str, ...]) -> str:
    """``("body", "text", "<list>", 3)`` is written ``text[3]``."""
    path = ""
    for part in location[1:]:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part not in _BRANCHES:
            path += f".{part}" if path else part
    return _shortened(path) or "body"


def _shown(value: object) -> int | float | str | bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 10**15:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return _shortened(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def _shortened(text: str) -> str:
    # A lone surrogate cannot be encoded; it is shown the way JSON escapes it.
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _response(status: int, body: ErrorBody, headers: Mapping[str, str]) -> JSONResponse:
    return JSONResponse(ErrorAnswer(error=body).model_dump(), status_code=status, headers=dict(headers))
