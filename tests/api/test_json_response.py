import gzip

import pytest
from fastapi import Request

from app.api.json_response import json_response, text_response


def request(*encodings: str) -> Request:
    headers = [(b"accept-encoding", encoding.encode()) for encoding in encodings]
    return Request({"type": "http", "headers": headers})


@pytest.mark.parametrize(
    ("size", "encodings", "compressed"),
    [
        (200_000, ("gzip, br",), True),
        (200_000, ("br", "GZIP;q=0.5"), True),
        (200_000, ("*",), True),
        (200_000, ("gzip;q=1.0, identity; q=0.5",), True),
        (200_000, (), False),
        (200_000, ("",), False),
        (200_000, ("br",), False),
        (200_000, ("identity",), False),
        (200_000, ("gzip;q=0",), False),
        (200_000, ("gzip; q=0.000, *",), False),
        (200_000, ("*;q=0",), False),
        (200_000, ("gzip;q=0.5, identity",), False),
        (200_000, ("notgzip",), False),
        (1_000, ("gzip",), False),
        (1_000, ("gzip, identity;q=0",), True),
        (1_000, ("gzip, *;q=0",), True),
    ],
)
def test_large_answers_are_compressed_for_those_who_take_it(
    size: int, encodings: tuple[str, ...], compressed: bool
) -> None:
    body = '"' + "é" * size + '"'
    response = json_response(body, request(*encodings))
    assert response.headers["content-type"] == "application/json"
    assert response.headers["vary"] == "Accept-Encoding"
    assert response.headers.get("content-encoding") == ("gzip" if compressed else None)
    data = bytes(response.body)
    assert (gzip.decompress(data) if compressed else data).decode() == body


def test_other_texts_are_compressed_too_and_say_what_they_depend_on() -> None:
    body = "<svg>" + " " * 100_000
    response = text_response(body, "image/svg+xml", request("gzip"), vary="Accept, Accept-Encoding")
    assert gzip.decompress(bytes(response.body)).decode() == body
    assert response.headers["content-type"] == "image/svg+xml"
    assert response.headers["vary"] == "Accept, Accept-Encoding"
