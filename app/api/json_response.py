"""Large answers of text, compressed where the client takes it: weights with four decimals shrink to a third."""

import gzip

from fastapi import Request, Response

from app.api.negotiation import gzip_and_identity

_LEAST_BYTES = 100_000
_LEVEL = 1  # level 6 took 65 times as long on weights with four decimals and saved a fifth more


def json_response(body: str, request: Request) -> Response:
    """``body`` as an answer to ``request``; takes long for megabytes, so not for the event loop."""
    return text_response(body, "application/json", request)


def text_response(body: str, media_type: str, request: Request, vary: str = "Accept-Encoding") -> Response:
    """The same for any kind of text; ``vary`` names the headers of the request that the answer depends on."""
    data = body.encode()
    headers = {"Vary": vary}
    compressed, plain = gzip_and_identity(request)
    large = len(data) >= _LEAST_BYTES
    if compressed > 0 and (plain == 0 or (large and compressed >= plain)):
        headers["Content-Encoding"] = "gzip"
        data = gzip.compress(data, _LEVEL)
    return Response(data, media_type=media_type, headers=headers)
