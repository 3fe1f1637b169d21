import pytest

from app.text.segments import is_translatable, join


@pytest.mark.parametrize(
    "text",
    ["", " ", "-", "1.", "42 %", "…?!", "😀👩🏽‍🚀", "\0", "https://example.org/a?b=c", "www.example.org", "HTTP://X.Y",
     "jo.doe@example.org", "<jo@example.org>", "mailto:jo@example.org", " ftp://example.org/x ",
     "- https://x.org", "(www.x.org, me@x.org)", '"https://x.org/a"', "**https://x.org**", "« https://x.org »",
     "`www.x.org`", "“http://x.org”", "[https://x.org]"],
)  # fmt: skip
def test_copied(text: str) -> None:
    assert not is_translatable(text)


@pytest.mark.parametrize(
    "text", ["a", "é", "你", "Ж!", "1st", "See https://example.org", "user@home", "e.g.", "it's: fine", "and/or"]
)
def test_translated(text: str) -> None:
    assert is_translatable(text)


def test_join_moves_the_spans_that_follow() -> None:
    assert join(" ab\ncd. ", [(1, 3), (4, 7)], ["12345", ""]) == (" 12345\n ", ((1, 6), (7, 7)))


def test_join_wants_a_replacement_for_each_span() -> None:
    with pytest.raises(ValueError, match="shorter"):
        join("ab", [(0, 1)], [])
