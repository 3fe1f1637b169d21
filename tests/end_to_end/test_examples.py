"""The answers that the documentation shows are those of the bundled model."""

from typing import Any

from fastapi.testclient import TestClient

from app.api.attention_examples import ATTENTION_ANSWER
from app.api.attention_schemas import EXAMPLE_EXPLAIN
from app.api.examples import TRANSLATE_ANSWER
from app.api.schemas import EXAMPLE_REQUEST


def differences(found: Any, shown: Any, path: str = "") -> list[str]:
    """Where two JSON values differ; numbers with a point may by a hundredth, other machines round otherwise."""
    if isinstance(found, dict) and isinstance(shown, dict) and found.keys() == shown.keys():
        return [one for key in found for one in differences(found[key], shown[key], f"{path}.{key}")]
    if isinstance(found, list) and isinstance(shown, list) and len(found) == len(shown):
        pairs = zip(found, shown, strict=True)
        return [one for index, pair in enumerate(pairs) for one in differences(*pair, f"{path}[{index}]")]
    if isinstance(found, float) and isinstance(shown, float):
        return [] if abs(found - shown) < 1e-2 else [f"{path}: {found} is shown as {shown}"]
    return [] if found == shown else [f"{path}: {found!r} is shown as {shown!r}"]


def test_the_translation_shown_is_the_real_one(client: TestClient) -> None:
    assert differences(client.post("/translate", json=EXAMPLE_REQUEST).json(), TRANSLATE_ANSWER) == []


def test_the_explanation_shown_is_the_real_one_but_for_rivals(client: TestClient) -> None:
    answer = client.post("/attention", json=EXAMPLE_EXPLAIN["own translation"]["value"]).json()
    for segment in answer["segments"]:
        for piece in segment["target"]["predicted"]:
            assert len(piece["rivals"]) > 1
            del piece["rivals"][1:]
    assert differences(answer, ATTENTION_ANSWER) == []
