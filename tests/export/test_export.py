"""A model directory appears whole or not at all."""

import shutil
import sys
from pathlib import Path

import onnx
import onnxruntime
import pytest

import export.export
from app.runtime.model_directory import WEIGHTS_FILE, open_model_directory
from export.__main__ import main
from export.export import ExportError, ExportRequest, export_model
from export.parity import Comparison
from export.quality import Quality, quality_faults
from model.scoring import Scores
from tests.conftest import PAIRS


def request(checkpoint: Path, output: Path, texts: Path | None = None, force: bool = False) -> ExportRequest:
    return ExportRequest(checkpoint, output, "tiny", texts, force)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two checks find something."""
    monkeypatch.setattr(
        export.export,
        "_compare_numbers",
        lambda *_: [Comparison(what, "int8", "cases", 2.0, 1.0) for what in ("steps", "paths")],
    )


@pytest.mark.usefixtures("failing")
def test_a_failed_check_leaves_nothing_behind_and_every_fault_is_told(tiny_checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(ExportError) as caught:
        export_model(request(tiny_checkpoint, tmp_path / "out"))
    assert [fault.split(",")[0] for fault in caught.value.faults] == ["steps", "paths"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("failing")
def test_a_failed_check_keeps_the_directory_that_was_there(tiny_checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "kept").touch()
    with pytest.raises(ExportError):
        export_model(request(tiny_checkpoint, tmp_path / "out", force=True))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["kept"]


def test_an_existing_directory_and_missing_files_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ExportError) as caught:
        export_model(request(tmp_path / "no.pt", tmp_path))
    assert len(caught.value.faults) == 3


@pytest.mark.usefixtures("failing")
def test_the_command_fails_with_code_1(
    tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["export", str(tiny_checkpoint), str(tmp_path / "out")])
    assert main() == 1
    assert capsys.readouterr().err.count("differs by") == 2


def test_texts_are_compared_and_scored(tiny_checkpoint: Path, tmp_path: Path) -> None:
    texts = tmp_path / "pairs.tsv"
    texts.write_text("".join(f"{en}\t{fr}\n" for en, fr in PAIRS[:3]), encoding="utf-8")
    certificate = export_model(request(tiny_checkpoint, tmp_path / "out", texts))
    assert {(one["direction"], one["precision"]) for one in certificate["quality"]} == {
        (direction, precision) for direction in ("en-fr", "fr-en") for precision in ("int8", "float32", "float16")
    }
    identity = [one for one in certificate["comparisons"] if one["what"] == "translations that differ"]
    assert [one["largest"] for one in identity] == [0, 0, 0, 0]
    assert open_model_directory(tmp_path / "out").certificate() == certificate


@pytest.mark.parametrize("text", ["one column\n", "word " * 200 + "\tmot\n"])
def test_texts_that_cannot_be_used_are_a_fault(tiny_checkpoint: Path, tmp_path: Path, text: str) -> None:
    texts = tmp_path / "pairs.tsv"
    texts.write_text(text, encoding="utf-8")
    with pytest.raises(ExportError, match=r"pairs\.tsv"):
        export_model(request(tiny_checkpoint, tmp_path / "out", texts))
    assert not (tmp_path / "out").exists()


def test_the_same_checkpoint_gives_the_same_revision(tiny_checkpoint: Path, tiny_model_directory: Path) -> None:
    again = tiny_checkpoint.with_name("again")
    export_model(request(tiny_checkpoint, again))
    revisions = {open_model_directory(path).config.revision for path in (again, tiny_model_directory)}
    shutil.rmtree(again)
    assert len(revisions) == 1


@pytest.mark.parametrize(("int8", "faults"), [(29.8, 0), (29.6, 1)])
def test_too_large_a_drop_is_a_fault(int8: float, faults: int) -> None:
    qualities = [
        Quality("en-fr", precision, 10, Scores(bleu, 50, "", ""))
        for precision, bleu in (("float32", 30.0), ("int8", int8))
    ]
    assert len(list(quality_faults(qualities))) == faults


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_weights_are_dequantised_when_a_session_opens(
    tiny_model_directory: Path, tmp_path: Path, precision: str
) -> None:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    options.log_severity_level = 3
    graph = tiny_model_directory / f"decoder_step.{precision}.onnx"
    onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    optimised = onnx.load(tmp_path / "optimised.onnx", load_external_data=False).graph
    stored = {tensor.name for tensor in optimised.initializer if tensor.data_type == onnx.TensorProto.INT8}
    assert stored == set()


def test_graphs_hold_no_weights_of_their_own(tiny_model_directory: Path) -> None:
    weights = (tiny_model_directory / WEIGHTS_FILE).stat().st_size
    assert all(graph.stat().st_size < weights for graph in tiny_model_directory.glob("*.onnx"))
    for path in tiny_model_directory.glob("*.onnx"):
        for tensor in onnx.load(path, load_external_data=False).graph.initializer:
            assert tensor.data_location == onnx.TensorProto.EXTERNAL or len(tensor.raw_data) <= 64
