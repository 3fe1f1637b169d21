import os
import platform
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


_ENGINE_THREADS_FLUSH = """
import sys, threading
from pathlib import Path
import numpy as np
from app.engine.engine import Engine, EngineSettings
from app.engine.hypotheses import SearchOptions
from app.engine.tickets import Sentence
from app.runtime.model_directory import open_model_directory
from app.runtime.onnx_step_model import OnnxStepModel
from app.runtime.providers import RuntimeOptions

smallest, found = np.full(32, 1e-40, np.float32), []

def serve():
    directory = open_model_directory(Path(sys.argv[1]))
    engine = Engine([OnnxStepModel(directory, RuntimeOptions("cpu", "int8", 1))], EngineSettings(8, 8))
    engine.start()
    sentence = Sentence((5, 6, engine.limits.eos_id), SearchOptions(1, 1.0, 0, 3))
    engine.submit([sentence], 60, lambda number, piece: found.append(float((smallest * 1).max())))[0].result()
    engine.stop(5)

served = threading.Thread(target=serve)
served.start()
served.join()
assert float((smallest * 1).max()) > 0
assert found and max(found) == 0.0, found
"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="x86's arithmetic slows with subnormals")
def test_threads_that_step_models_count_the_smallest_floats_as_zero(tiny_model_directory: Path) -> None:
    code = [sys.executable, "-c", _ENGINE_THREADS_FLUSH, str(tiny_model_directory)]
    subprocess.run(code, check=True, cwd=Path(__file__).parents[2])
