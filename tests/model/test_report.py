import json
from pathlib import Path

import pytest

from model import report, samples
from model.corpus import read_lines
from model.samples import SAMPLES

EXPECTED_ROWS = 8  # one set, two directions, two beam sizes, two precisions


def test_every_set_direction_search_and_precision_is_scored(
    tiny_model_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = tmp_path / "sets"
    sets.mkdir()
    (sets / "words.en").write_text("the cat\na dog\n", encoding="utf-8")
    (sets / "words.fr").write_text("le chat\nun chien\n", encoding="utf-8")
    (sets / "lonely.en").write_text("the cat\n", encoding="utf-8")
    output = tmp_path / "report.json"
    monkeypatch.setattr("sys.argv", ["report", str(tiny_model_directory), str(sets), str(output)])
    report.main()
    found = json.loads(output.read_text(encoding="utf-8"))
    keys = {(row["direction"], row["beam_size"], row["precision"]) for row in found["rows"]}
    assert len(keys) == len(found["rows"]) == EXPECTED_ROWS
    assert {(row["test_set"], row["lines"]) for row in found["rows"]} == {("words", 2)}
    assert "version" in found["bleu_signature"]
    assert "| words, 2 | beam 4, int8 |" in capsys.readouterr().out


def test_a_set_with_more_lines_on_one_side_is_refused(tiny_model_directory: Path, tmp_path: Path) -> None:
    (tmp_path / "words.en").write_text("the cat\na dog\n", encoding="utf-8")
    (tmp_path / "words.fr").write_text("le chat\n", encoding="utf-8")
    with pytest.raises(ValueError, match="words: 2 lines in en, 1 in fr, there must be as many"):
        report.report(tiny_model_directory, tmp_path)


def test_a_folder_without_test_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no test set of en, fr"):
        report.test_sets(tmp_path, ("en", "fr"))


def test_sixty_samples_are_translated_in_file_order(
    tiny_model_directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["samples", str(tiny_model_directory)])
    samples.main()
    lines = capsys.readouterr().out.splitlines()[2:]
    inputs = [line.split("\t") for line in read_lines(SAMPLES)]
    assert len(lines) == len(inputs) == 60
    for line, (language, text) in zip(lines, inputs, strict=True):
        assert line.startswith(f"| {language}-")
        assert text in line
    # Nothing to translate: copied.
    assert "| en-fr | `1.` | `1.` |" in lines
