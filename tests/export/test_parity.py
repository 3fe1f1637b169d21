"""ONNX computes what torch computes, for every shape of model."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from app.runtime.explain_model import OnnxExplainModel
from app.runtime.model_directory import ModelDirectory
from app.runtime.onnx_step_model import OnnxStepModel, model_limits
from app.runtime.providers import RuntimeOptions
from export.model_directory import build_model_directory
from export.parity import (
    Comparison,
    compare_explanations,
    compare_paths,
    compare_steps,
    explanation_difference,
    step_shapes,
)
from export.quantize import dequantized, quantize
from export.restore import restore_checkpoint
from model.step_model import TorchExplainModel, TorchStepModel
from tests.conftest import random_checkpoint, random_pairs, tiny_run_config

SHAPES = {
    "pre": {},
    "post": {"norm": "post"},
    "learned positions": {"positions": "learned"},
    "untied": {"tie_embeddings": False, "norm": "post", "positions": "learned"},
    "sources up to the last position": {"max_positions": 96},
    "deeper decoder": {"encoder_layers": 1, "decoder_layers": 3},
}


@dataclass(frozen=True)
class Exported:
    directory: ModelDirectory
    step: TorchStepModel
    explain: TorchExplainModel


@pytest.fixture(params=SHAPES.values(), ids=SHAPES, scope="module")
def exported(
    request: pytest.FixtureRequest, tiny_tokenizer: Path, tmp_path_factory: pytest.TempPathFactory
) -> Exported:
    run = tiny_run_config(**request.param)
    weights = quantize(random_checkpoint(run), random_pairs(run))
    path = tmp_path_factory.mktemp("exported")
    config = build_model_directory(weights, tiny_tokenizer, path, "tiny")
    transformer = dequantized(weights).transformer()
    limits = model_limits(config)
    return Exported(
        ModelDirectory(path, config), TorchStepModel(transformer, limits), TorchExplainModel(transformer, limits.bos_id)
    )


@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-5), ("float16", 1e-2), ("int8", 1.0)])
def test_steps_equal_torch(exported: Exported, precision: str, tolerance: float) -> None:
    model = OnnxStepModel(exported.directory, RuntimeOptions("cpu", precision, 1))
    assert compare_steps(exported.step, model).largest <= tolerance


def test_explanations_equal_torch(exported: Exported) -> None:
    model = OnnxExplainModel(exported.directory, RuntimeOptions("cpu", threads=1))
    assert compare_explanations(exported.explain, model, exported.step).largest <= 1e-5


def test_cached_steps_equal_the_teacher_forced_pass(exported: Exported) -> None:
    options = RuntimeOptions("cpu", "float32", 1)
    model = OnnxStepModel(exported.directory, options)
    assert compare_paths(OnnxExplainModel(exported.directory, options), model).largest <= 1e-5


def test_attention_is_a_distribution_and_never_looks_ahead(exported: Exported) -> None:
    found = OnnxExplainModel(exported.directory, RuntimeOptions("cpu", threads=1)).explain_pair(
        [5, 9, 30, 2], [7, 8, 2]
    )
    for weights in (found.encoder, found.decoder, found.cross):
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-6)
    future = np.triu(np.ones((3, 3), dtype=bool), k=1)
    assert (found.decoder[..., future] == 0).all()
    assert (found.decoder[..., ~future] > 0).all()


def test_a_source_of_exactly_the_limit_is_compared(exported: Exported) -> None:
    limits = exported.step.limits
    assert (limits.source_len,) in {shape.source_lens for shape in step_shapes(limits)}


@pytest.mark.parametrize("largest", [0.2, float("nan"), float("inf")])
def test_a_difference_beyond_the_tolerance_is_a_fault(largest: float) -> None:
    assert list(Comparison("steps", "int8", "cases", largest, 0.1).faults())


def test_explanations_of_other_shapes_differ_infinitely(exported: Exported) -> None:
    explain = exported.explain.explain_pair
    assert explanation_difference(explain([5, 2], [7, 2]), explain([5, 6, 2], [7, 2])) == float("inf")


def test_a_model_directory_gives_its_weights_back(exported: Exported) -> None:
    restored = restore_checkpoint(exported.directory).weights
    expected = exported.step._transformer.state_dict()
    assert restored.keys() == expected.keys()
    for name, weight in restored.items():
        torch.testing.assert_close(weight, expected[name], rtol=1e-6, atol=1e-7)
