import time

import pytest
from fastapi import Request

from app.api.negotiation import accepted, best_media_type


def named(*values: str) -> dict[str, float]:
    return accepted(Request({"type": "http", "headers": [(b"accept", one.encode()) for one in values]}), "accept")


@pytest.mark.parametrize(
    ("told", "quality"),
    [
        ("q=0", 0.0),
        ("q=0.25", 0.25),
        ("Q = 1.000", 1.0),
        ("level=1; q=0.5", 0.5),
        ("q=nan", 1.0),
        ("q=-nan", 1.0),
        ("q=inf", 1.0),
        ("q=-inf", 1.0),
        ("q=1.5", 1.0),
        ("q=-0.5", 1.0),
        ("q=1e999", 1.0),
        ("q=", 1.0),
        ("q", 1.0),
        ('q="0.5"', 1.0),
        ("q=half", 1.0),
    ],
)
def test_what_is_no_quality_is_as_none(told: str, quality: float) -> None:
    assert named(f"image/png;{told}") == {"image/png": quality}


def test_a_quality_that_is_no_number_does_not_decide_by_its_place() -> None:
    assert best_media_type(named("a/a;q=nan, b/b;q=0.5"), ["a/a", "b/b"]) == "a/a"
    assert best_media_type(named("a/a;q=nan, b/b;q=0.5"), ["b/b", "a/a"]) == "a/a"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (('a/a;t="x, b/b";q=0.5, c/c',), {"a/a": 0.5, "c/c": 1.0}),
        (('a/a;t="x; q=0";q=0.5',), {"a/a": 0.5}),
        ((r'a/a;t="\", b/b;q=0";q=0.5, c/c',), {"a/a": 0.5, "c/c": 1.0}),
        (('a/a;t="";q=0.5', "c/c"), {"a/a": 0.5, "c/c": 1.0}),
        (('a/a;q=0.5;t="x, b/b',), {"a/a": 0.5}),
        (('a/a;q=0.5;t="x\\',), {"a/a": 0.5}),
        ((", ;q=0.1, a/a,,",), {"a/a": 1.0}),
    ],
)
def test_commas_and_semicolons_in_quotes_separate_nothing(values: tuple[str, ...], expected: dict[str, float]) -> None:
    assert named(*values) == expected


@pytest.mark.parametrize("part", ['"', '\\"', '"\\', "\\", ',"'])
def test_a_long_header_is_read_in_one_go(part: str) -> None:
    started = time.process_time()
    named('a/a;t="' + part * 30_000)
    assert time.process_time() - started < 1
