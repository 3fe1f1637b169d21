"""Where graphs run: the execution provider, the precision that suits it, and session options."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import onnxruntime

from app.errors import ModelDirectoryError
from app.runtime.model_directory import ModelDirectory

Precision = Literal["int8", "float32", "float16"]
Provider = Literal["cpu", "cuda"]

_CUDA = "CUDAExecutionProvider"
_CPU = "CPUExecutionProvider"


@dataclass(frozen=True)
class RuntimeOptions:
    """How sessions are opened.

    Attributes:
        provider: ``auto`` is CUDA where onnxruntime offers it, else the CPU.
        precision: ``auto`` is float16 on CUDA and int8 on the CPU.
        threads: of one session, 0 = one per core.
    """

    provider: Literal["auto"] | Provider = "auto"
    precision: Literal["auto"] | Precision = "auto"
    threads: int = 0

    def resolved_provider(self) -> Provider:
        """The provider that ``auto`` stands for."""
        if self.provider != "auto":
            return self.provider
        return "cuda" if _cuda_works() else "cpu"

    def resolved_precision(self) -> Precision:
        """The precision that ``auto`` stands for."""
        if self.precision != "auto":
            return self.precision
        return "float16" if self.resolved_provider() == "cuda" else "int8"


def open_session(directory: ModelDirectory, file: str, options: RuntimeOptions) -> Any:
    """An ``onnxruntime.InferenceSession`` of one graph.

    Raises:
        ModelDirectoryError: ONNX Runtime refuses the graph, or the provider that was asked for.
    """
    # Without this, CUDA rounds the factors of float32 products to 10 bits.
    cuda = (_CUDA, {"use_tf32": "0"})
    providers = [cuda, _CPU] if options.resolved_provider() == "cuda" else [_CPU]
    try:
        session = onnxruntime.InferenceSession(
            str(directory.file(file)), _session_options(options), providers=providers
        )
    except Exception as error:  # onnxruntime's exceptions share no base of their own
        raise ModelDirectoryError(directory.path, [f"{file} cannot be opened: {error}"]) from error
    if options.resolved_provider() == "cuda" and _CUDA not in session.get_providers():
        raise ModelDirectoryError(directory.path, [f"{file} needs {_CUDA}, which does not start here"])
    return session


@cache
def _cuda_works() -> bool:
    """Whether onnxruntime is built for CUDA and a device answers; not measured on a GPU."""
    if _CUDA not in onnxruntime.get_available_providers():
        return False
    onnxruntime.preload_dlls()
    try:
        onnxruntime.OrtValue.ortvalue_from_shape_and_type([1], np.float32, "cuda", 0)
    except Exception:  # whatever the driver says, there is no device to use
        return False
    return True


def _session_options(options: RuntimeOptions) -> Any:
    session_options = onnxruntime.SessionOptions()
    # Higher levels fuse Add and LayerNormalization into an operator six times slower than the two.
    session_options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    session_options.intra_op_num_threads = options.threads
    session_options.log_severity_level = 3
    # Patterns are kept for every shape of batch that was ever seen, and batches have hundreds.
    session_options.enable_mem_pattern = False
    # Threads that wait for the next operator in a loop cost a core and save microseconds.
    session_options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Weights of positions that are padding pass through the smallest floats there are on their way to zero, which
    # takes ten times as long. The first session of a process sets this, for the thread that opens it and for those
    # that this thread starts then: whoever steps models in threads opens them before it starts these.
    session_options.add_session_config_entry("session.set_denormal_as_zero", "1")
    # Else quantisation moves in front of every transposition, which is then undone for its other readers.
    session_options.add_session_config_entry("session.disable_quant_qdq", "1")
    return session_options
