"""The whole export in reading order: load, quantise, build, compare, certify, rename into place."""

import dataclasses
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

from app.engine.step_model import ModelLimits
from app.runtime.explain_model import OnnxExplainModel
from app.runtime.model_directory import ModelDirectory, open_model_directory
from app.runtime.onnx_step_model import OnnxStepModel, model_limits
from app.runtime.providers import Precision, RuntimeOptions
from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from export.model_directory import build_model_directory, seal_model_directory
from export.parity import Comparison, compare_explanations, compare_paths, compare_steps
from export.quality import Direction, Quality, compare_tokens, measure, quality_faults, read_directions
from export.quantize import dequantized, quantize
from model.checkpoint import Checkpoint, load_checkpoint
from model.step_model import TorchExplainModel, TorchStepModel
from model.transformer import Transformer

_BEAM_SIZES = (1, 4)


class ExportError(Exception):
    """An export that must not be used; ``faults`` lists every reason."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


@dataclass(frozen=True)
class ExportRequest:
    """What to export and where to.

    Attributes:
        checkpoint: its tokenizer lies beside it.
        output: the model directory to make.
        texts: two columns of sentences, one a language; without them nothing is said about quality.
        force: replace ``output`` if it exists.
    """

    checkpoint: Path
    output: Path
    model_id: str
    texts: Path | None
    force: bool


def export_model(request: ExportRequest) -> dict[str, Any]:
    """Makes a model directory and returns its certificate.

    Raises:
        ExportError: ``output`` exists, or a check failed; nothing was written.
    """
    tokenizer_path = request.checkpoint.with_name(TOKENIZER_FILE)
    needed = [request.checkpoint, tokenizer_path, *([] if request.texts is None else [request.texts])]
    faults = [f"{path} is missing" for path in needed if not path.is_file()]
    if request.output.exists() and not request.force:
        faults.append(f"{request.output} exists")
    if faults:
        raise ExportError(faults)
    weights = quantize(load_checkpoint(request.checkpoint))
    with _staging(request.output) as staging:
        config = build_model_directory(weights, tokenizer_path, staging, request.model_id)
        certificate, faults = certify(dequantized(weights), ModelDirectory(staging, config), request.texts)
        if faults:
            raise ExportError(faults)
        seal_model_directory(staging, certificate)
        open_model_directory(staging)
        if request.output.exists():
            shutil.rmtree(request.output)
        staging.rename(request.output)
    return certificate


def certify(reference: Checkpoint, directory: ModelDirectory, texts: Path | None) -> tuple[dict[str, Any], list[str]]:
    """Compares everything with ``reference``; the certificate, and every fault found on the way."""
    transformer = reference.transformer()
    limits = model_limits(directory.config)
    options = RuntimeOptions(provider="cpu")
    precisions = get_args(Precision)
    models = {one: OnnxStepModel(directory, dataclasses.replace(options, precision=one)) for one in precisions}
    explain = OnnxExplainModel(directory, options)
    comparisons = _compare_numbers(transformer, limits, models, explain)
    faults: list[str] = []
    qualities: list[Quality] = []
    tokenizer = Tokenizer(directory.tokenizer_path)
    for direction in _directions(texts, directory, tokenizer, faults):
        comparisons += _compare_texts(TorchStepModel(transformer, limits), models["float32"], direction)
        beam_size = directory.config.search.beam_size
        qualities += [measure(model, one, direction, tokenizer, beam_size) for one, model in models.items()]
    faults += [fault for comparison in comparisons for fault in comparison.faults()]
    return _certificate(directory, comparisons, qualities), [*faults, *quality_faults(qualities)]


def _directions(
    texts: Path | None, directory: ModelDirectory, tokenizer: Tokenizer, faults: list[str]
) -> list[Direction]:
    if texts is None:
        return []
    config = directory.config
    try:
        return read_directions(texts, config.languages, tokenizer, config.limits.source_len)
    except ValueError as error:
        faults.append(str(error))
        return []


def _compare_numbers(
    transformer: Transformer, limits: ModelLimits, models: dict[Precision, OnnxStepModel], explain: OnnxExplainModel
) -> list[Comparison]:
    step = TorchStepModel(transformer, limits)
    return [
        *(compare_steps(step, model) for model in models.values()),
        compare_explanations(TorchExplainModel(transformer, limits.bos_id), explain, step),
        compare_paths(explain, models["float32"]),
    ]


def _compare_texts(reference: TorchStepModel, model: OnnxStepModel, direction: Direction) -> list[Comparison]:
    return [compare_tokens(reference, model, direction, beam_size) for beam_size in _BEAM_SIZES]


def _certificate(
    directory: ModelDirectory, comparisons: Sequence[Comparison], qualities: Sequence[Quality]
) -> dict[str, Any]:
    packages = ("numpy", "onnx", "onnxruntime", "sacrebleu", "sentencepiece", "torch")
    return {
        "model": directory.config.id,
        "revision": directory.config.revision,
        "reference": "the torch model carrying the de-quantised weights, on the CPU",
        "comparisons": [dataclasses.asdict(comparison) for comparison in comparisons],
        "quality": [dataclasses.asdict(quality) for quality in qualities],
        "machine": platform.processor() or platform.machine(),
        "versions": {"python": platform.python_version(), **{package: version(package) for package in packages}},
    }


@contextmanager
def _staging(output: Path) -> Iterator[Path]:
    """A directory beside ``output`` that is gone afterwards unless it was renamed."""
    output.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=output.parent, prefix=f".{output.name}."))
    os.chmod(staging, 0o755)
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)
