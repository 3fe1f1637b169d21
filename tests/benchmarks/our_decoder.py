"""Our engine, int8, as the server runs it."""

from collections.abc import Sequence

from app.engine.counts import EngineCounts
from app.engine.engine import Engine, EngineSettings
from app.engine.hypotheses import SearchOptions
from app.engine.step_model import ModelLimits
from app.engine.tickets import Sentence
from app.runtime.model_directory import ModelDirectory
from app.runtime.onnx_step_model import OnnxStepModel
from app.runtime.providers import RuntimeOptions

_PATIENCE_SECONDS = 600


class OurDecoder:
    """Decodes ids; ``batches`` of at most ``batch_rows`` rows at the same time, ``threads`` for each."""

    def __init__(self, directory: ModelDirectory, batches: int, threads: int, batch_rows: int = 128) -> None:
        options = RuntimeOptions("cpu", "int8", threads)
        models = [OnnxStepModel(directory, options) for _ in range(batches)]
        self._engine = Engine(models, EngineSettings(batch_rows, 1_000_000))
        self._engine.start()

    @property
    def limits(self) -> ModelLimits:
        """The model's."""
        return self._engine.limits

    def translate(self, sources: Sequence[Sequence[int]], beam_size: int, target_len: int) -> list[list[int]]:
        """Best hypothesis of every source, all submitted at once."""
        options = SearchOptions(beam_size, 1.0, 0, target_len)
        sentences = [Sentence(tuple(source), options) for source in sources]
        answers = self._engine.submit(sentences, _PATIENCE_SECONDS)
        return [list(answer.result()[0].ids) for answer in answers]

    def counts(self) -> EngineCounts:
        """What the engine has done."""
        return self._engine.counts()

    def close(self) -> None:
        """Ends the engine's threads."""
        self._engine.stop(0)
