"""``<attention-map src>``: answers of ``/attention``, however they were reduced, are drawn right or refused by name."""

import json
import urllib.request
from typing import Any

import pytest

from app.api.attention_schemas import EXAMPLE_EXPLAIN
from tests.web.test_page import SENTENCE

PAIR = {"text": SENTENCE, "source": "en", "target": "fr"}
LIVE = f"text={SENTENCE}&source=en&target=fr&draw=table"
ENCODER = {"families": ["encoder"]}
MEANS = {"aggregate": {"layers": "mean", "heads": "mean"}}


def answer_of(address: str, body: dict[str, Any]) -> dict[str, Any]:
    asked = urllib.request.Request(
        f"{address}/attention", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(asked) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def draw(page: Any, fragment: str) -> Any:
    page.goto("about:blank")
    page.goto(f"/embed#{fragment}")
    page.wait_for_selector("attention-map:not([aria-busy]) .stage > *", state="attached")
    return page.locator("attention-map")


def draw_saved(page: Any, answer: dict[str, Any], attributes: str = "") -> Any:
    page.route("**/saved.json", lambda route: route.fulfill(json=answer))
    return draw(page, f"src=/saved.json&draw=table&source=en&target=fr{attributes}")


def table(drawn: Any) -> tuple[list[str], list[str], list[float]]:
    return (
        drawn.locator("thead th").all_inner_texts(),
        drawn.locator("tbody th").all_inner_texts(),
        [float(cell) for cell in drawn.locator("tbody td").all_inner_texts()],
    )


def test_the_first_example_of_the_documentation(page: Any, address: str) -> None:
    answer = answer_of(address, next(iter(EXAMPLE_EXPLAIN.values()))["value"])
    found = answer["segments"][0]["attention"]["maps"]["cross"]
    drawn = draw_saved(page, answer)
    keys, queries, cells = table(drawn)
    assert keys == found["key_labels"][1:-1]
    assert queries == ["start", *found["query_labels"][1:]]
    kept = [row[1:-1] for row in found["data"][0][0]]
    assert cells == pytest.approx([weight / sum(row) for row in kept for weight in row], abs=2e-3)
    assert drawn.locator("figcaption b").inner_text() == "Cross, layer 2, mean of heads."


@pytest.mark.parametrize(
    ("body", "attributes", "live"),
    [
        ({"layers": [1], "heads": [4, 0]}, "&head=4", "layer=1&head=4"),
        ({"special_tokens": "drop_renormalize"}, "", ""),
        ({"special_tokens": "drop", "unit": "word", "aggregate": {"layers": "mean"}}, "&head=3", "head=3"),
        ({"aggregate": {"heads": "max"}}, "&layer=0", "layer=0&head=max"),
        ({"aggregate": {"heads": "max"}, "encoding": "base64"}, "&special=keep", "head=max&special=keep"),
        ({"layers": [1], **MEANS}, "&layer=1&unit=pieces", "layer=1&unit=pieces"),
        ({"families": ["decoder"], "unit": "word", **MEANS}, "", "family=decoder"),
        (
            {**ENCODER, "aggregate": {"layers": "rollout", "heads": "mean"}, "encoding": "base64"},
            "",
            "family=encoder&layer=rollout",
        ),
        ({**ENCODER, "dtype": "uint8_sqrt", "encoding": "base64"}, "&layer=3", "family=encoder&layer=3"),
    ],
)
def test_a_file_shows_what_a_live_map_does(
    page: Any, address: str, body: dict[str, Any], attributes: str, live: str
) -> None:
    saved = draw_saved(page, answer_of(address, PAIR | body), attributes)
    found, caption = table(saved), saved.locator("figcaption b").inner_text()
    fresh = draw(page, f"{LIVE}&{live}")
    wanted = table(fresh)
    assert found[:2] == wanted[:2]
    assert found[2] == pytest.approx(wanted[2], abs=0.005)
    assert caption == fresh.locator("figcaption b").inner_text()


def test_a_row_without_weight_on_words_is_empty(page: Any, address: str) -> None:
    answer = answer_of(address, PAIR | {"special_tokens": "drop_renormalize", "unit": "word", **MEANS})
    found = answer["segments"][0]["attention"]["maps"]["cross"]
    found["data"][0][0][1], found["hidden_mass"][0][0][1] = None, 1
    _, queries, cells = table(draw_saved(page, answer))
    rows = [cells[at : at + len(cells) // len(queries)] for at in range(0, len(cells), len(cells) // len(queries))]
    assert sum(rows[1]) == 0
    assert [sum(row) for row in (rows[0], *rows[2:])] == pytest.approx([1] * (len(rows) - 1), abs=0.01)


def test_some_layers_and_heads_are_named(page: Any, address: str) -> None:
    answer = answer_of(address, PAIR | {"layers": [0], "heads": [3, 0]})
    assert draw_saved(page, answer).locator("figcaption b").inner_text() == "Cross, layer 1, mean of heads 4, 1."


@pytest.mark.parametrize(
    ("body", "attributes", "told"),
    [
        ({"layers": [1]}, "&layer=0", "layers is [1]"),
        ({"aggregate": {"heads": "mean"}}, "&head=0", 'aggregate.heads is "mean"'),
        ({"aggregate": {"layers": "mean"}}, "&head=max", 'aggregate.layers is "mean"'),
        ({}, "&family=encoder", 'maps is ["cross"]'),
        ({**ENCODER}, "&layer=rollout", "layers is [0"),
        ({"unit": "word"}, "&unit=pieces", 'unit is "word"'),
        ({"resolution": 8}, "", "query_units is null"),
        ({"special_tokens": "drop"}, "&special=keep", 'special_tokens is "drop"'),
        ({"special_tokens": "drop_renormalize", "aggregate": {"heads": "max"}}, "", "special_tokens is"),
        ({}, "&segment=4", "number of translated segments is 1"),
    ],
)
def test_what_a_file_lacks_is_named(page: Any, address: str, body: dict[str, Any], attributes: str, told: str) -> None:
    drawn = draw_saved(page, answer_of(address, PAIR | body), attributes)
    message = drawn.locator("[role=alert]").inner_text()
    assert message.startswith(f"The file's {told}")
    assert message.endswith(".")


def test_a_file_that_was_cut_is_refused(page: Any, address: str) -> None:
    answer = answer_of(address, PAIR | MEANS)
    answer["segments"][0]["attention"]["maps"]["cross"]["data"][0][0].pop()
    assert "shape is" in draw_saved(page, answer).locator("[role=alert]").inner_text()


def test_other_files_are_refused_in_words(page: Any) -> None:
    for file, told in (
        ({"translations": []}, "no answer of /attention"),
        ({"schema": "attention/2", "segments": []}, 'schema is "attention/2"'),
        ({"segments": []}, "Nothing was translated"),
    ):
        page.unroute_all()
        assert told in draw_saved(page, file).locator("[role=alert]").inner_text()


def test_a_text_that_is_explained_alone(page: Any) -> None:
    drawn = draw(page, f"{LIVE}&family=encoder")
    keys, queries, _ = table(drawn)
    assert keys == [*SENTENCE.removesuffix(".").split(), "."]
    assert len(queries) == len(keys) + 2
    assert drawn.locator(".map-pair").inner_text() == SENTENCE
