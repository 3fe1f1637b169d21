"""The whole export in reading order: load, quantise, build, compare, certify, rename into place."""

import dataclasses
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from app.engine.step_model import ModelLimits, StepModel
from app.runtime.explain_model import OnnxExplainModel
from app.runtime.model_directory import ModelConfig, ModelDirectory, SearchDefaults, open_model_directory
from app.runtime.onnx_step_model import OnnxStepModel, model_limits
from app.runtime.providers import Precision, RuntimeOptions
from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from export.calibrate import Pair
from export.graphs import ELEMENT_TYPES
from export.model_directory import (
    DEFAULT_SEARCH,
    NOT_MEASURED,
    AlignmentChoice,
    build_model_directory,
    model_config,
    seal_model_directory,
)
from export.parity import Comparison, compare_explanations, compare_paths, compare_steps
from export.placing import is_model_directory, put_in_place, staging_directory
from export.quality import (
    CHECKPOINT,
    ParallelTexts,
    Quality,
    compare_tokens,
    measure,
    parted,
    quality_faults,
    read_texts,
)
from export.quantize import QuantizedWeights, dequantized, quantize
from model.checkpoint import load_checkpoint
from model.step_model import TorchExplainModel, TorchStepModel
from model.transformer import Transformer

_LARGEST_LENGTH_PENALTY = 10
_CALIBRATED = 500
_SHORTEST_WHOLE = 10
_CALIBRATED_AT_RANDOM = 60


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
        texts: two columns of sentences, one a language; without them the certificate says that quality was not
            measured.
        force: replace ``output`` if it is a model directory.
        search: how to search where a request does not say; quality is measured so, too.
        fewest_pairs: how many pairs of ``texts`` the model must be able to read in each direction.
        alignment: how cross-attention aligns words best, as ``python -m model.align`` measures it.
    """

    checkpoint: Path
    output: Path
    model_id: str
    texts: Path | None
    force: bool
    search: SearchDefaults = DEFAULT_SEARCH
    fewest_pairs: int = 1
    alignment: AlignmentChoice = NOT_MEASURED

    def faults(self) -> Iterator[str]:
        """Whatever can be known to be wrong before any work is done."""
        needed = (self.checkpoint, self.tokenizer_path, *([] if self.texts is None else [self.texts]))
        yield from (f"{path} is missing" for path in needed if not path.is_file())
        if self.output.exists() and not self.force:
            yield f"{self.output} exists"
        elif self.output.exists() and not is_model_directory(self.output):
            yield f"{self.output} is not a model directory: it is not replaced"
        if self.search.beam_size < 1:
            yield f"the beam size must be at least 1, not {self.search.beam_size}"
        if not 0 <= self.search.length_penalty <= _LARGEST_LENGTH_PENALTY:
            yield f"the length penalty must be from 0 to {_LARGEST_LENGTH_PENALTY}, not {self.search.length_penalty}"

    @property
    def tokenizer_path(self) -> Path:
        """The tokenizer of the checkpoint."""
        return self.checkpoint.with_name(TOKENIZER_FILE)


def export_model(request: ExportRequest) -> dict[str, Any]:
    """Makes a model directory and returns its certificate.

    Raises:
        ExportError: ``output`` exists and may not be replaced, or a check failed; nothing was written.
    """
    if faults := list(request.faults()):
        raise ExportError(faults)
    try:
        checkpoint = load_checkpoint(request.checkpoint)
    except ValueError as error:
        raise ExportError([str(error)]) from error
    whole_len, longest = request.search.whole_len, checkpoint.config.training.max_pieces
    if whole_len is not None and not _SHORTEST_WHOLE <= whole_len <= longest:
        raise ExportError([f"the longest whole source must have {_SHORTEST_WHOLE} to {longest} ids, not {whole_len}"])
    layer, layers = request.alignment.layer, checkpoint.config.transformer.decoder_layers
    if layer is not None and not 0 <= layer < layers:
        raise ExportError([f"the alignment layer must be from 0 to {layers - 1}, not {layer}"])
    tokenizer = Tokenizer(request.tokenizer_path)
    config = model_config(checkpoint, tokenizer, request.model_id, request.search)
    parts = [parted(sample) for sample in _read_texts(request, config, tokenizer)]
    calibrating, samples = [one for one, _ in parts], [other for _, other in parts]
    weights = quantize(checkpoint, _calibration_pairs(calibrating, config, tokenizer))
    with staging_directory(request.output) as staging:
        config = build_model_directory(
            weights, request.tokenizer_path, staging, request.model_id, request.search, request.alignment
        )
        directory = ModelDirectory(staging, config)
        certificate, faults = certify(weights, directory, request.texts, samples)
        if faults:
            raise ExportError(faults)
        seal_model_directory(staging, certificate)
        open_model_directory(staging)
        put_in_place(staging, request.output)
    return certificate


def certify(
    weights: QuantizedWeights, directory: ModelDirectory, texts: Path | None, samples: Sequence[ParallelTexts]
) -> tuple[dict[str, Any], list[str]]:
    """Compares numbers with the de-quantised weights and translations with the trained ones.

    Returns:
        The certificate, and every fault found on the way.
    """
    transformer = dequantized(weights).transformer()
    limits = model_limits(directory.config)
    options = RuntimeOptions(provider="cpu")
    models = {one: OnnxStepModel(directory, dataclasses.replace(options, precision=one)) for one in ELEMENT_TYPES}
    explain = OnnxExplainModel(directory, options)
    comparisons = _compare_numbers(transformer, limits, models, explain)
    qualities: list[Quality] = []
    tokenizer = Tokenizer(directory.tokenizer_path)
    search = directory.config.search
    trained = TorchStepModel(weights.checkpoint.transformer(), limits)
    scored: list[tuple[str, StepModel]] = [(CHECKPOINT, trained), *models.items()]
    for sample in samples:
        comparisons += _compare_texts(TorchStepModel(transformer, limits), models["float32"], sample, search)
        qualities += [measure(model, one, sample, tokenizer, search) for one, model in scored]
    faults = [fault for comparison in comparisons for fault in comparison.faults()]
    return _certificate(directory, texts, comparisons, qualities), [*faults, *quality_faults(qualities)]


def _read_texts(request: ExportRequest, config: ModelConfig, tokenizer: Tokenizer) -> list[ParallelTexts]:
    if request.texts is None:
        return []
    try:
        return read_texts(request.texts, config.languages, tokenizer, config.limits.source_len, request.fewest_pairs)
    except ValueError as error:
        raise ExportError([str(error)]) from error


def _calibration_pairs(samples: Sequence[ParallelTexts], config: ModelConfig, tokenizer: Tokenizer) -> Iterator[Pair]:
    """Texts of both directions, and pieces at random: what nobody has seen must not overflow."""
    bos = config.special_ids.bos
    for sample in samples:
        for source, reference in zip(sample.sources[:_CALIBRATED], sample.references, strict=False):
            yield source, [bos, *tokenizer.encode(reference)[: config.limits.target_len - 1]]
    random = np.random.default_rng(0)
    lengths = random.integers(1, config.limits.source_len, _CALIBRATED_AT_RANDOM).tolist()
    for length in lengths:
        source, target = random.integers(0, config.architecture.vocab_size, (2, length)).tolist()
        yield source, [bos, *target]


def _compare_numbers(
    transformer: Transformer, limits: ModelLimits, models: dict[Precision, OnnxStepModel], explain: OnnxExplainModel
) -> list[Comparison]:
    step = TorchStepModel(transformer, limits)
    return [
        *(compare_steps(step, model) for model in models.values()),
        compare_explanations(TorchExplainModel(transformer, limits.bos_id), explain, step),
        compare_paths(explain, models["float32"]),
    ]


def _compare_texts(
    reference: TorchStepModel, model: OnnxStepModel, sample: ParallelTexts, search: SearchDefaults
) -> list[Comparison]:
    """Greedy search, and the one that serves."""
    searches = [dataclasses.replace(search, beam_size=beam_size) for beam_size in sorted({1, search.beam_size})]
    return [compare_tokens(reference, model, sample, one) for one in searches]


def _certificate(
    directory: ModelDirectory, texts: Path | None, comparisons: Sequence[Comparison], qualities: Sequence[Quality]
) -> dict[str, Any]:
    packages = ("numpy", "onnx", "onnxruntime", "sacrebleu", "sentencepiece", "torch")
    return {
        "model": directory.config.id,
        "revision": directory.config.revision,
        "reference": "the torch model carrying the de-quantised weights, on the CPU",
        "texts": "none: quality was not measured" if texts is None else texts.name,
        "comparisons": [dataclasses.asdict(comparison) for comparison in comparisons],
        "quality": [dataclasses.asdict(quality) for quality in qualities],
        "machine": platform.processor() or platform.machine(),
        "versions": {"python": platform.python_version(), **{package: version(package) for package in packages}},
    }
