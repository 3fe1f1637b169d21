"""Thresholds beside a model: read whole, or refused with every fault."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.errors import ModelDirectoryError
from app.main import create_app
from app.runtime.model_directory import SIGNALS_FILE, open_model_directory
from app.runtime.signal_thresholds import MeasuredThresholds, read_signal_thresholds
from app.settings import Settings

PAIR = {"text": "The cat sleeps on the old chair.", "target_text": "Le chat dort."}


def report(*thresholds: object) -> dict[str, Any]:
    names = ("ignored_source", "unsourced_target", "low_logprob")
    blocks = {name: {"threshold": one} for name, one in zip(names, thresholds, strict=True)}
    return {"sentences": 10, "signals": {**blocks, "repetition": {"threshold": None}}}


@pytest.fixture
def directory(tiny_model_directory: Path, tmp_path: Path) -> Path:
    return shutil.copytree(tiny_model_directory, tmp_path / "model")


def faults(directory: Path, text: str) -> tuple[str, ...]:
    (directory / SIGNALS_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(ModelDirectoryError) as caught:
        read_signal_thresholds(open_model_directory(directory))
    return caught.value.faults


def test_each_direction_has_its_own(directory: Path) -> None:
    stored = {"fr-en": report(0.025, 0.1, -2), "en-fr": report(0.08, 0.2, -3.5)}
    (directory / SIGNALS_FILE).write_text(json.dumps(stored))
    assert read_signal_thresholds(open_model_directory(directory)) == {
        ("fr", "en"): MeasuredThresholds(0.025, 0.1, -2.0),
        ("en", "fr"): MeasuredThresholds(0.08, 0.2, -3.5),
    }


def test_what_was_not_measured_is_left_out(directory: Path) -> None:
    assert read_signal_thresholds(open_model_directory(directory)) == {}
    (directory / SIGNALS_FILE).write_text(json.dumps({"fr-en": report(0.025, 0.1, -2)}))
    assert list(read_signal_thresholds(open_model_directory(directory))) == [("fr", "en")]


@pytest.mark.parametrize(
    ("text", "fault"), [("{", "signals.json is not JSON"), ("[]", "signals.json is not an object")]
)
def test_what_is_no_object_is_a_fault(directory: Path, text: str, fault: str) -> None:
    (found,) = faults(directory, text)
    assert found.startswith(fault)


def test_every_fault_is_told(directory: Path) -> None:
    stored = {"en-fr": report(0.05, True, float("nan")), "fr-en": {"signals": []}, "en-de": {}}
    assert faults(directory, json.dumps(stored)) == (
        "signals.json: the model has no direction en-de",
        "signals.json: en-fr.signals.unsourced_target.threshold is no number but True",
        "signals.json: en-fr.signals.low_logprob.threshold is no number but nan",
        "signals.json: fr-en.signals.ignored_source.threshold is missing",
        "signals.json: fr-en.signals.unsourced_target.threshold is missing",
        "signals.json: fr-en.signals.low_logprob.threshold is missing",
        "write signals.json anew with model.calibrate",
    )


def test_a_server_gives_signals_by_them(directory: Path) -> None:
    stored = {"en-fr": report(50, 0, -1e9), "fr-en": report(0, 50, -1e9)}
    (directory / SIGNALS_FILE).write_text(json.dumps(stored))
    found = {}
    with TestClient(create_app(Settings(model=directory))) as client:
        for source, target in (("en", "fr"), ("fr", "en")):
            answer = client.post("/attention", json={**PAIR, "source": source, "target": target})
            signals = answer.json()["segments"][0]["signals"]["found"]
            found[source] = {(one["kind"], one["threshold"]) for one in signals}
        assert client.get("/info").json()["model"]["signals"] == stored
    assert found == {"en": {("ignored_source", 50.0)}, "fr": {("unsourced_target", 50.0)}}


def test_a_server_does_not_start_with_a_file_that_it_cannot_read(directory: Path) -> None:
    (directory / SIGNALS_FILE).write_text(json.dumps({"en-fr": report(None, 0, 0)}))
    client = TestClient(create_app(Settings(model=directory)))
    with pytest.raises(ModelDirectoryError, match=r"ignored_source\.threshold is missing"), client:
        pass
