"""Our engine's search without its queue, int8."""

from collections.abc import Sequence

from app.engine.batch_search import search_batch
from app.engine.hypotheses import SearchOptions
from app.runtime.model_directory import ModelDirectory
from app.runtime.onnx_step_model import OnnxStepModel
from app.runtime.providers import RuntimeOptions


class OurDecoder:
    """Decodes ids."""

    def __init__(self, directory: ModelDirectory, threads: int) -> None:
        self.model = OnnxStepModel(directory, RuntimeOptions("cpu", "int8", threads))

    def translate(self, sources: Sequence[Sequence[int]], beam_size: int, target_len: int) -> list[list[int]]:
        """Best hypothesis of every source in one batch."""
        options = SearchOptions(beam_size, 1.0, 0, target_len)
        return [list(found[0].ids) for found in search_batch(self.model, sources, options)]
