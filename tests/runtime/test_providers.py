import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import ModelDirectoryError
from app.runtime import providers
from app.runtime.model_directory import open_model_directory
from app.runtime.onnx_step_model import OnnxStepModel
from app.runtime.providers import RuntimeOptions


@pytest.mark.parametrize(("works", "provider", "precision"), [(False, "cpu", "int8"), (True, "cuda", "float16")])
def test_auto_follows_the_provider(monkeypatch: pytest.MonkeyPatch, works: bool, provider: str, precision: str) -> None:
    monkeypatch.setattr(providers, "_cuda_works", lambda: works)
    assert RuntimeOptions().resolved_provider() == provider
    assert RuntimeOptions().resolved_precision() == precision


def test_what_is_asked_for_is_not_second_guessed() -> None:
    options = RuntimeOptions("cuda", "float32")
    assert (options.resolved_provider(), options.resolved_precision()) == ("cuda", "float32")


@pytest.mark.skipif(providers._cuda_works(), reason="needs a machine without a GPU")
def test_a_provider_that_does_not_start_is_an_error(tiny_model_directory: Path) -> None:
    with pytest.raises(ModelDirectoryError, match="CUDAExecutionProvider"):
        OnnxStepModel(open_model_directory(tiny_model_directory), RuntimeOptions("cuda", "float16"))


def test_graphs_that_a_provider_cannot_run_are_refused(tiny_model_directory: Path) -> None:
    with pytest.raises(ModelDirectoryError, match="int8 graphs do not run on CUDA"):
        OnnxStepModel(open_model_directory(tiny_model_directory), RuntimeOptions("cuda", "int8"))


def test_the_runtime_switches_telemetry_off_before_onnxruntime_is_imported() -> None:
    code = (
        "import os, sys, app.runtime;"
        "assert 'onnxruntime' not in sys.modules;"
        "import app.runtime.onnx_step_model;"
        "assert os.environ['ORT_DISABLE_TELEMETRY'] == '1';"
        "assert not {'torch', 'onnx', 'model', 'export'} & set(sys.modules)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=Path(__file__).parents[2])
