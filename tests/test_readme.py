"""The README's example is what the service answers, word for word."""

import json
import re
from pathlib import Path

from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings

README = Path(__file__).parent.parent.joinpath("README.md").read_text(encoding="utf-8")


def test_the_curl_gives_the_answer_shown() -> None:
    body = re.search(r"curl [^\n]*?/translate.*?-d '(.*?)'\n", README, re.DOTALL)
    shown = re.search(r"```json\n(.*?)```", README, re.DOTALL)
    assert body
    assert shown
    with TestClient(create_app(Settings())) as client:
        answer = client.post("/translate", json=json.loads(body[1].replace("'\\''", "'")))
    expected = json.loads(shown[1])
    found = answer.json()
    assert found["model"].keys() == expected["model"].keys()
    assert found["usage"] == expected["usage"]
    for translation, wanted in zip(found["translations"], expected["translations"], strict=True):
        for segment, wanted_segment in zip(translation["segments"], wanted["segments"], strict=True):
            assert abs(segment.pop("log_prob") - wanted_segment.pop("log_prob")) < 1e-2
            assert abs(segment.pop("score") - wanted_segment.pop("score")) < 1e-2
    assert found["translations"] == expected["translations"]


def test_every_file_that_is_named_exists() -> None:
    root = Path(__file__).parent.parent
    named = set(re.findall(r"\]\((?!https?:|#)([^)]+)\)", README))
    assert named
    assert [name for name in named if not (root / name).exists()] == []


def test_every_make_target_that_is_named_exists() -> None:
    makefile = Path(__file__).parent.parent.joinpath("Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    assert set(re.findall(r"`?make ([a-z]+)", README)) <= targets
