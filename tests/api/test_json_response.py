import gzip

import pytest
from fastapi import Request

from app.api.json_response import json_response


def request(*encodings: str) -> Request:
    headers = [(b"accept-encoding", encoding.encode()) for encoding in encodings]
    return Request({"type": "http", "headers": headers})


@pytest.mark.parametrize(
    ("size", "encodings", "compressed"),
    [(200_000, ("gzip, br",), True), (200_000, (), False), (200_000, ("br",), False), (1_000, ("gzip",), False)],
)
def test_large_answers_are_compressed_for_those_who_take_it(
    size: int, encodings: tuple[str, ...], compressed: bool
) -> None:
    body = '"' + "é" * size + '"'
    response = json_response(body, request(*encodings))
    assert response.headers["content-type"] == "application/json"
    assert (response.headers.get("content-encoding") == "gzip") == compressed
    data = bytes(response.body)
    assert (gzip.decompress(data) if compressed else data).decode() == body
