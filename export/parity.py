"""ONNX graphs against the torch model that carries the same de-quantised weights."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from app.engine.step_model import Explanation, Float32, HeadMasks, ModelLimits
from app.runtime.explain_model import OnnxExplainModel
from app.runtime.onnx_step_model import OnnxDecoding, OnnxStepModel
from model.config import TransformerConfig
from model.step_model import TorchDecoding, TorchExplainModel, TorchStepModel

_CANDIDATES = 8
_FIRST_ORDINARY_ID = 4

STEP_TOLERANCES = {"float32": 1e-4, "float16": 5e-2, "int8": 1.0}
"""Largest allowed difference of a candidate's log-probability. Rounding activations to 8 bits is part of
what int8 is: its bound only tells a broken graph from a coarse one, quality is judged by BLEU."""

EXPLAIN_TOLERANCE = 1e-4


@dataclass(frozen=True)
class StepShape:
    """One decoding to compare: lengths of its sources, rows per sentence, steps."""

    source_lens: tuple[int, ...]
    width: int
    steps: int


STEP_SHAPES = (
    StepShape((1,), 1, 2),
    StepShape((8,), 4, 12),
    StepShape((16, 17), 1, 33),
    StepShape((3, 40, 21), 2, 24),
    StepShape((90, 5), 3, 70),
)
_STEPS_AT_THE_LIMIT = 2
EXPLAIN_SHAPES = ((1, 1), (2, 9), (17, 16), (40, 33), (90, 70))


@dataclass(frozen=True)
class Comparison:
    """One row of a certificate: ``largest`` is the largest absolute difference over ``cases``."""

    what: str
    precision: str
    cases: str
    largest: float
    tolerance: float

    def faults(self) -> Iterator[str]:
        """A sentence if the difference is not within the tolerance (which NaN never is)."""
        if not self.largest <= self.tolerance:
            yield f"{self.what}, {self.precision}: differs by {self.largest:.3g}, allowed is {self.tolerance:g}"


def compare_steps(reference: TorchStepModel, model: OnnxStepModel) -> Comparison:
    """Candidates of cached steps over random pieces, with rows reordered between steps."""
    random = np.random.default_rng(0)
    shapes = step_shapes(model.limits)
    largest = [_step_difference(reference, model, shape, random) for shape in shapes]
    cases = ", ".join(f"{shape.source_lens} x {shape.width}, {shape.steps} steps" for shape in shapes)
    tolerance = STEP_TOLERANCES[model.precision]
    return Comparison("log-probabilities of candidates", model.precision, cases, _maximum(largest), tolerance)


def step_shapes(limits: ModelLimits) -> list[StepShape]:
    """``STEP_SHAPES`` within the limits, and the longest source that the model reads."""
    shapes = [
        StepShape(
            tuple(min(length, limits.source_len) for length in shape.source_lens),
            shape.width,
            min(shape.steps, limits.target_len),
        )
        for shape in STEP_SHAPES
    ]
    return [*shapes, StepShape((limits.source_len,), 1, min(_STEPS_AT_THE_LIMIT, limits.target_len))]


def compare_explanations(reference: TorchExplainModel, model: OnnxExplainModel, step: TorchStepModel) -> Comparison:
    """Log-probabilities, rivals, entropy and all attention weights of random pairs, without and with muted heads."""
    random = np.random.default_rng(0)
    largest = []
    shapes = _explain_shapes(step.limits)
    for source_len, target_len in shapes:
        source, target = _random_ids(random, source_len, step), _random_ids(random, target_len, step)
        for masks in (None, _random_masks(random, reference.config)):
            expected = reference.explain_pair(source, target, masks)
            found = model.explain_pair(source, target, masks)
            largest.append(explanation_difference(expected, found))
    cases = ", ".join(f"{source_len} x {target_len}" for source_len, target_len in shapes)
    return Comparison("explanations", "float32", cases, _maximum(largest), EXPLAIN_TOLERANCE)


def compare_paths(explain: OnnxExplainModel, model: OnnxStepModel) -> Comparison:
    """The teacher-forced pass against cached steps over the same pair: what is shown against what is served."""
    random = np.random.default_rng(0)
    largest = []
    shapes = _explain_shapes(model.limits)
    for source_len, target_len in shapes:
        source, target = _random_ids(random, source_len, model), _random_ids(random, target_len, model)
        decoding = model.encode([source], 1)
        teacher_forced = explain.explain_pair(source, target).log_probs
        for fed, expected, log_prob in zip([model.limits.bos_id, *target[:-1]], target, teacher_forced, strict=True):
            candidates = decoding.step(np.array([fed]), model.limits.vocab_size)
            cached = candidates.log_probs[0, candidates.ids[0] == expected]
            largest.append(float(np.abs(cached - log_prob).max()))
    cases = ", ".join(f"{source_len} x {target_len}" for source_len, target_len in shapes)
    return Comparison("cached against teacher-forced", model.precision, cases, _maximum(largest), EXPLAIN_TOLERANCE)


def _explain_shapes(limits: ModelLimits) -> list[tuple[int, int]]:
    return [(min(source, limits.source_len), min(target, limits.target_len)) for source, target in EXPLAIN_SHAPES]


def explanation_difference(expected: Explanation, found: Explanation) -> float:
    """Largest absolute difference over everything that an explanation holds but the rivals' ids.

    Rivals of the same probability may change places; their log-probabilities may not.
    """
    names = [name for name in vars(expected) if name != "rival_ids"]
    return _maximum([_largest(getattr(expected, name), getattr(found, name)) for name in names])


def _step_difference(
    reference: TorchStepModel, model: OnnxStepModel, shape: StepShape, random: np.random.Generator
) -> float:
    sources = [_random_ids(random, length, model) for length in shape.source_lens]
    rows = len(sources) * shape.width
    expected, found = reference.encode(sources, shape.width), model.encode(sources, shape.width)
    last_ids = np.full(rows, model.limits.bos_id)
    largest = []
    for _ in range(shape.steps):
        largest.append(_candidate_difference(expected, found, last_ids, model.limits.vocab_size))
        last_ids = random.integers(_FIRST_ORDINARY_ID, model.limits.vocab_size, rows)
        parents = np.arange(rows) // shape.width * shape.width + random.integers(0, shape.width, rows)
        expected.reorder(parents)
        found.reorder(parents)
    return _maximum(largest)


def _candidate_difference(
    expected: TorchDecoding, found: OnnxDecoding, last_ids: npt.NDArray[np.int64], vocab_size: int
) -> float:
    """Over the candidates found: their log-probabilities, and whether better ones were missed."""
    log_probs = expected.logits(last_ids).log_softmax(dim=-1)
    k = min(_CANDIDATES, vocab_size)
    candidates = found.step(last_ids, k)
    same_ids = log_probs.gather(1, torch.from_numpy(candidates.ids)).numpy()
    best = log_probs.topk(k).values.numpy()
    return max(_largest(same_ids, candidates.log_probs), _largest(best, candidates.log_probs))


def _random_masks(random: np.random.Generator, config: TransformerConfig) -> HeadMasks:
    """Some heads muted, some halved, the others as they are."""
    layers = (config.encoder_layers, config.decoder_layers, config.decoder_layers)
    numbers = np.array([0, 0.5, 1], dtype=np.float32)
    return HeadMasks(*(random.choice(numbers, (depth, config.heads)) for depth in layers))


def _random_ids(random: np.random.Generator, length: int, model: TorchStepModel | OnnxStepModel) -> list[int]:
    ids: list[int] = random.integers(_FIRST_ORDINARY_ID, model.limits.vocab_size, length).tolist()
    return ids


def _largest(expected: Float32, found: Float32) -> float:
    if expected.shape != found.shape:
        return float("inf")
    return float(np.abs(expected - found).max())


def _maximum(values: list[float]) -> float:
    """The largest, where ``max`` would lose a NaN."""
    return float(np.max(values))
