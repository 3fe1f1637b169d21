"""What a client takes: the quality values of Accept and Accept-Encoding (RFC 9110, section 12.5)."""

import re
from collections.abc import Sequence

from fastapi import Request

# One that is not closed goes on to the end.
_QUOTED = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)


def accepted(request: Request, header: str) -> dict[str, float]:
    """Every name in ``header`` with its quality from 0 to 1; empty where the client does not say."""
    named: dict[str, float] = {}
    # A quoted string is never a name or a quality, but its commas and semicolons separate nothing.
    told = _QUOTED.sub('""', ",".join(request.headers.getlist(header)))
    for item in told.split(","):
        name, *parameters = (part.strip().lower() for part in item.split(";"))
        if name:
            named[name] = _quality(parameters)
    return named


def _quality(parameters: Sequence[str]) -> float:
    """The ``q`` of ``parameters``, else 1: RFC 9110 says so where there is none, and nothing of one that is no quality.

    What is no number from 0 to 1, ``nan`` for instance, is therefore taken as not there.
    """
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                quality = float(value)
            except ValueError:
                return 1.0
            return quality if 0 <= quality <= 1 else 1.0
    return 1.0


def media_quality(named: dict[str, float], media_type: str) -> float:
    """How much ``media_type`` is wanted: by its own name, else by its wildcard, else by ``*/*``, else not at all."""
    patterns = (media_type, f"{media_type.split('/')[0]}/*", "*/*")
    return next((named[pattern] for pattern in patterns if pattern in named), 0.0) if named else 1.0


def best_media_type(named: dict[str, float], offers: Sequence[str]) -> str | None:
    """The most wanted of ``offers``, the first of equals; None where the client takes none."""
    best = max(offers, key=lambda offer: media_quality(named, offer), default=None)
    return best if best is not None and media_quality(named, best) > 0 else None


def gzip_and_identity(request: Request) -> tuple[float, float]:
    """How much an answer in gzip is wanted, and one as it is, which is taken unless the client says otherwise."""
    named = accepted(request, "accept-encoding")
    gzip = named.get("gzip", named.get("x-gzip", named.get("*", 0.0)))
    return gzip, named.get("identity", named.get("*", gzip or 1.0))
