import random
from pathlib import Path

import pytest

from app.runtime.model_directory import open_model_directory
from model import calibrate
from model.calibrate import FAULTS, Calibration, Sample
from tests.conftest import PAIRS

SOUND = "Le chat noir dort sur la vieille chaise du jardin."
SAMPLE = ("The black cat sleeps on the old garden chair.", SOUND, "Il pleut depuis ce matin.", "fr")


def faulty(name: str) -> str:
    return FAULTS[name](*SAMPLE, random.Random(1))


def test_faults_are_what_they_say() -> None:
    assert len(faulty("dropped").split()) == len(SOUND.split()) - 3
    assert faulty("swapped") == SAMPLE[2]
    words = faulty("repeated").split()
    assert any(words[i : i + n] == words[i + n : i + 2 * n] for n in (2, 3, 4) for i in range(len(words)))
    assert faulty("untranslated") == "Le chat noir dort sur on the old garden chair."


def test_every_hint_is_judged_against_every_fault(tiny_model_directory: Path) -> None:
    calibration = Calibration(open_model_directory(tiny_model_directory), "en", "fr")
    samples = [Sample(*pair, PAIRS[0][1]) for pair in PAIRS if len(pair[1].split()) > 6]
    report = calibrate.calibrate(calibration, samples)
    assert report["sentences"] == len(samples) > 1
    for kind in ("ignored_source", "unsourced_target", "low_logprob", "repetition", "copy_through"):
        judged = report["signals"][kind]["present"]
        assert set(judged["faults"]) == set(FAULTS)
        assert all(0 <= one["precision"] <= 1 for one in judged["faults"].values())
    assert report["signals"]["repetition"]["present"]["faults"]["repeated"]["precision"] > 0.5


def test_sentences_too_short_to_lose_words_are_told(tiny_model_directory: Path) -> None:
    calibration = Calibration(open_model_directory(tiny_model_directory), "en", "fr")
    with pytest.raises(ValueError, match="at least 8 words"):
        calibrate.calibrate(calibration, calibration.samples([]))
