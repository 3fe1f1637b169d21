"""The whole path over a scripted model: when something goes wrong."""

import dataclasses
import time
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.errors import DeadlineExceeded, EngineFailed
from app.main import Running, create_app
from app.settings import Settings
from app.text.tokenizer import Tokenizer
from tests.scripted_world import SETTINGS, World


def test_the_deadline_frees_the_engine(tiny_tokenizer: Path) -> None:
    world = World(Tokenizer(tiny_tokenizer), dataclasses.replace(SETTINGS, deadline_seconds=0.2))
    world.seconds_per_step = 0.05
    with pytest.raises(DeadlineExceeded, match=r"0\.2 seconds"):
        world.translate(*(f"The cat sleeps on the old chair {number} times." for number in range(30)))
    freed_by = time.monotonic() + 2
    while (counts := world.engine.counts()).rows or counts.waiting:
        assert time.monotonic() < freed_by, counts
        time.sleep(0.01)
    world.seconds_per_step = 0.0
    assert world.translate("The cat.").translations[0].text == "The cat."
    world.engine.stop(5)


def test_one_failed_sentence_ends_its_request_not_others(world: World) -> None:
    world.model.fault = RuntimeError("poison")
    world.model.fault_source = tuple(Tokenizer.encode_source(world.translator._tokenizer, "The dog.", "fr"))
    with pytest.raises(EngineFailed):
        world.translate("The dog.", *["The cat sleeps."] * 20)
    world.model.fault = None
    assert world.translate("The dog.").translations[0].text == "The dog."


def test_a_dead_model_answers_500_and_is_neither_ready_nor_alive(tiny_tokenizer: Path) -> None:
    world = World(Tokenizer(tiny_tokenizer))
    app = create_app(
        Settings(), lambda _: Running(world.translator, 1, lambda: world.engine.stop(5), failed=world.failed)
    )
    with TestClient(app) as client:
        body = {"text": "The cat.", "source": "en", "target": "fr"}
        assert client.get("/health/ready").status_code == 200
        assert client.post("/translate", json=body).json()["translations"][0]["text"] == "The cat."
        world.model.fault = RuntimeError("the device is gone")
        assert client.post("/translate", json=body).status_code == 500
        assert client.get("/health/ready").status_code == 503
        assert client.get("/health/live").status_code == 500
        assert client.post("/translate", json=body).status_code == 503
