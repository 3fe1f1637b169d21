import json
import random
import shutil
import sys
from pathlib import Path

import pytest

from app.attention.alignment import AlignmentRule
from app.attention.signals import Signal, SignalKind, Signals
from app.runtime.model_directory import SIGNALS_FILE, open_model_directory
from app.runtime.signal_thresholds import read_signal_thresholds
from model import calibrate
from model.calibrate import FAULTS, Calibration, Sample
from tests.conftest import PAIRS

SOUND = "Le chat noir dort sur la vieille chaise du jardin."
SAMPLE = ("The black cat sleeps on the old garden chair.", SOUND, "Il pleut depuis ce matin.", "fr")
TRANSLATED = [Sample(*pair, PAIRS[0][1]) for pair in PAIRS if len(pair[1].split()) > 6]


def faulty(name: str) -> str:
    return FAULTS[name](*SAMPLE, random.Random(1))


def test_faults_are_what_they_say() -> None:
    assert len(faulty("dropped").split()) == len(SOUND.split()) - 3
    assert faulty("swapped") == SAMPLE[2]
    words = faulty("repeated").split()
    assert any(words[i : i + n] == words[i + n : i + 2 * n] for n in (2, 3, 4) for i in range(len(words)))
    assert faulty("untranslated") == "Le chat noir dort sur on the old garden chair."


class Scripted(Calibration):
    """Every source is the number that its signals have; a faulty translation has a tenth of the sound one's."""

    def __init__(self) -> None:
        self.rule, self.languages = AlignmentRule(1), ("en", "fr")

    def signals(self, source: str, target: str) -> Signals | None:
        return hints(float(source) * (1 if target == SOUND else 0.1))


def hints(value: float) -> Signals:
    kinds: tuple[SignalKind, ...] = ("ignored_source", "unsourced_target", "low_logprob")
    found = (Signal(kind, "source", 0, 0, (0, 1), one, 9.0) for kind in kinds for one in (value, value + 1))
    return Signals(-value, (), 0.0, tuple(found))


def test_a_threshold_lets_a_twentieth_of_sound_translations_have_the_hint() -> None:
    chosen = calibrate.choose_thresholds([*(hints(number) for number in range(101)), None])
    assert chosen == {"ignored_source": 5.0, "unsourced_target": 5.0, "low_logprob": 5.0}


def test_thresholds_are_judged_on_sentences_that_they_were_not_chosen_on() -> None:
    # Every other sentence: 0, 10 ... 1000 choose 50; of 7, 17 ... 1007 five are below it.
    samples = [Sample(str(number), SOUND, "Il pleut.") for ten in range(0, 1010, 10) for number in (ten, ten + 7)]
    report = calibrate.calibrate(Scripted(), samples)
    assert (report["sentences"], report["thresholds_from"]) == (101, 101)
    judged = report["signals"]["ignored_source"]
    assert judged["threshold"] == 50.0
    assert judged["false_alarms"] == round(5 / 101, 3)
    hits = 50 / 101
    assert judged["faults"]["dropped"] == {"given": round(hits, 3), "precision": round(50 / 55, 3)}
    assert report["signals"]["repetition"]["threshold"] is None


def test_a_threshold_that_suits_one_half_alone_is_found_out() -> None:
    samples = [Sample(number, SOUND, "Il pleut.") for number in ["10", "1"] * 20]
    judged = calibrate.calibrate(Scripted(), samples)["signals"]["low_logprob"]
    assert (judged["threshold"], judged["false_alarms"]) == (10.0, 1.0)
    assert {one["precision"] for one in judged["faults"].values()} == {0.5}


def test_every_hint_is_judged_against_every_fault(tiny_model_directory: Path) -> None:
    calibration = Calibration(open_model_directory(tiny_model_directory), "en", "fr")
    report = calibrate.calibrate(calibration, TRANSLATED)
    assert report["sentences"] == len(TRANSLATED) // 2 > 1
    for kind in ("ignored_source", "unsourced_target", "low_logprob", "repetition", "copy_through"):
        judged = report["signals"][kind]
        assert set(judged["faults"]) == set(FAULTS)
        assert all(0 <= one["precision"] <= 1 for one in judged["faults"].values())
    assert report["signals"]["repetition"]["faults"]["repeated"]["precision"] > 0.5


def test_the_server_reads_what_is_written(
    tiny_model_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = shutil.copytree(tiny_model_directory, tmp_path / "model")
    (directory / SIGNALS_FILE).write_text("what another version wrote")
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("A\tB\n", encoding="utf-8")
    monkeypatch.setattr(Calibration, "samples", lambda *_: TRANSLATED)
    monkeypatch.setattr(sys, "argv", ["calibrate", str(directory), str(pairs)])
    calibrate.main()
    written = json.loads((directory / SIGNALS_FILE).read_text())
    read = read_signal_thresholds(open_model_directory(directory))
    assert set(read) == {("en", "fr"), ("fr", "en")}
    for (source, target), thresholds in read.items():
        signals = written[f"{source}-{target}"]["signals"]
        assert vars(thresholds) == {name: signals[name]["threshold"] for name in vars(thresholds)}


def test_sentences_too_short_to_lose_words_are_told(tiny_model_directory: Path) -> None:
    calibration = Calibration(open_model_directory(tiny_model_directory), "en", "fr")
    with pytest.raises(ValueError, match="at least 8 words"):
        calibrate.calibrate(calibration, calibration.samples([]))
