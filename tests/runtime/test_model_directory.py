import json
import shutil
from pathlib import Path

import pytest

from app.errors import ModelDirectoryError
from app.runtime.model_directory import CHECKSUMS_FILE, CONFIG_FILE, open_model_directory
from app.runtime.onnx_step_model import OnnxStepModel
from app.runtime.providers import RuntimeOptions


@pytest.fixture
def directory(tiny_model_directory: Path, tmp_path: Path) -> Path:
    return shutil.copytree(tiny_model_directory, tmp_path / "model")


def faults(directory: Path) -> tuple[str, ...]:
    with pytest.raises(ModelDirectoryError) as caught:
        open_model_directory(directory)
    return caught.value.faults


def edit_config(directory: Path, **changes: object) -> None:
    path = directory / CONFIG_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_what_was_exported_opens(directory: Path) -> None:
    opened = open_model_directory(directory)
    assert opened.config.directions == (("en", "fr"), ("fr", "en"))
    assert opened.config.limits.source_len == 102
    assert opened.config.limits.target_len == 160
    assert opened.tokenizer_path.is_file()


def test_every_fault_of_a_damaged_directory_is_listed(directory: Path) -> None:
    (directory / "explain_decoder.onnx").unlink()
    (directory / "explain_encoder.onnx").write_bytes(b"")
    with (directory / "weights.bin").open("r+b") as file:
        file.write(b"!")
    (directory / "certificate.json").write_text("{}")
    assert faults(directory) == (
        "certificate.json differs from its checksum",
        "explain_decoder.onnx is missing",
        "explain_encoder.onnx differs from its checksum",
        "weights.bin differs from its checksum",
    )


@pytest.mark.parametrize("name", ["weights.bin", "config.json"])
def test_a_file_that_nothing_vouches_for_is_a_fault(directory: Path, name: str) -> None:
    checksums = json.loads((directory / CHECKSUMS_FILE).read_text())
    del checksums[name]
    (directory / CHECKSUMS_FILE).write_text(json.dumps(checksums))
    assert faults(directory) == (f"{name} has no checksum",)


def test_checksums_never_lead_out_of_the_directory(directory: Path) -> None:
    checksums = json.loads((directory / CHECKSUMS_FILE).read_text())
    (directory / CHECKSUMS_FILE).write_text(json.dumps(checksums | {"../elsewhere": "0"}))
    assert faults(directory) == ("../elsewhere is not a plain file name",)


def test_an_unknown_format_is_refused(directory: Path) -> None:
    edit_config(directory, format_version=99)
    assert faults(directory)[0] == "format version 99 is not supported, only 1"


@pytest.mark.parametrize(
    "changes", [{"surprise": 1}, {"limits": {}}, {"directions": [["en"]]}, {"graphs": []}, {"explain": "one.onnx"}]
)
def test_a_configuration_of_another_shape_is_a_fault(directory: Path, changes: dict[str, object]) -> None:
    edit_config(directory, **changes)
    assert faults(directory)[0].startswith("config.json does not follow format 1")


@pytest.mark.parametrize("text", ["{", "[]"])
def test_files_that_are_not_json_objects_are_faults(directory: Path, text: str) -> None:
    (directory / CONFIG_FILE).write_text(text)
    (directory / CHECKSUMS_FILE).write_text(text)
    assert len(faults(directory)) == 2


def test_an_empty_and_a_missing_directory(tmp_path: Path) -> None:
    assert faults(tmp_path) == ("checksums.json is missing", "config.json is missing")
    assert faults(tmp_path / "nowhere") == ("there is no such directory",)


def test_a_precision_that_was_not_exported_is_refused(directory: Path) -> None:
    opened = open_model_directory(directory)
    opened.config.graphs.pop("float16")
    with pytest.raises(ModelDirectoryError, match="no float16 graphs"):
        OnnxStepModel(opened, RuntimeOptions("cpu", "float16"))


def test_a_graph_that_onnxruntime_refuses_is_a_fault(directory: Path) -> None:
    opened = open_model_directory(directory)
    (directory / "encoder.int8.onnx").write_bytes(b"not a graph")
    with pytest.raises(ModelDirectoryError, match=r"encoder\.int8\.onnx cannot be opened"):
        OnnxStepModel(opened, RuntimeOptions("cpu", "int8"))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"alignment_layer": 2}, "alignment_layer is 2, the decoder has layers 0 to 1"),
        ({"alignment_rule": "best"}, "alignment_rule is 'best', there are predicted, shifted"),
        (
            {"search": {"beam_size": 4, "length_penalty": 1.0, "whole_len": 103}},
            "whole_len is 103, the model reads 1 to 102 ids",
        ),
    ],
)
def test_a_choice_that_cannot_be_is_a_fault(directory: Path, changes: dict[str, object], fault: str) -> None:
    edit_config(directory, **changes)
    assert any(fault in found for found in faults(directory))
