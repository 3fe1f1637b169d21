"""Where graphs run: the execution provider, the precision that suits it, and session options."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import onnxruntime

from app.errors import ModelDirectoryError
from app.runtime.model_directory import ModelDirectory

Precision = Literal["int8", "float32", "float16"]
Device = Literal["cpu", "cuda"]

_CUDA = "CUDAExecutionProvider"
_CPU = "CPUExecutionProvider"


@dataclass(frozen=True)
class RuntimeOptions:
    """How sessions are opened.

    Attributes:
        device: ``auto`` is CUDA where onnxruntime offers it, else the CPU.
        precision: ``auto`` is float16 on CUDA and int8 on the CPU.
        threads: of one session, 0 = one per core.
        spinning: threads wait in a loop between operators, which costs a core and saves microseconds.
    """

    device: Literal["auto"] | Device = "auto"
    precision: Literal["auto"] | Precision = "auto"
    threads: int = 0
    spinning: bool = False

    def resolved_device(self) -> Device:
        """The device that ``auto`` stands for."""
        if self.device != "auto":
            return self.device
        return "cuda" if _CUDA in onnxruntime.get_available_providers() else "cpu"

    def resolved_precision(self, directory: ModelDirectory) -> Precision:
        """The precision that ``auto`` stands for.

        Raises:
            ModelDirectoryError: the directory has no such graphs, or the device cannot run them.
        """
        device = self.resolved_device()
        best: Precision = "float16" if device == "cuda" else "int8"
        precision = best if self.precision == "auto" else self.precision
        if precision not in directory.config.graphs:
            raise ModelDirectoryError(directory.path, [f"it has no {precision} graphs"])
        if device == "cuda" and precision != "float16":
            raise ModelDirectoryError(directory.path, [f"{precision} graphs do not run on cuda, float16 does"])
        return precision


def open_session(directory: ModelDirectory, file: str, options: RuntimeOptions) -> Any:
    """An ``onnxruntime.InferenceSession`` of one graph.

    Raises:
        ModelDirectoryError: ONNX Runtime refuses the graph.
    """
    path = directory.file(file)
    providers = [_CUDA, _CPU] if options.resolved_device() == "cuda" else [_CPU]
    try:
        return onnxruntime.InferenceSession(str(path), _session_options(options), providers=providers)
    except Exception as error:  # onnxruntime's exceptions share no base of their own
        raise ModelDirectoryError(directory.path, [f"{Path(file).name} cannot be opened: {error}"]) from error


def _session_options(options: RuntimeOptions) -> Any:
    session_options = onnxruntime.SessionOptions()
    # Higher levels fuse Add and LayerNormalization into an operator six times slower than the two.
    session_options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    session_options.intra_op_num_threads = options.threads
    session_options.log_severity_level = 3
    session_options.add_session_config_entry("session.intra_op.allow_spinning", "1" if options.spinning else "0")
    return session_options
