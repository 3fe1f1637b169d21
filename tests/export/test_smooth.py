"""A smoothed model is the same model, with features that share their levels better."""

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from app.runtime.model_directory import ModelDirectory
from app.runtime.onnx_step_model import OnnxStepModel, model_limits
from app.runtime.providers import RuntimeOptions
from export.calibrate import MEMORY, PROJECTION_INPUT, Range, measure_ranges
from export.model_directory import build_model_directory
from export.parity import compare_steps
from export.quantize import dequantized, quantize
from export.smooth import balance, smooth
from model.checkpoint import Checkpoint
from model.config import RunConfig
from model.step_model import TorchStepModel
from tests.conftest import random_checkpoint, random_pairs, tiny_run_config

SHAPES = {
    "pre": {},
    "pre, untied": {"tie_embeddings": False},
    "post": {"norm": "post"},
    "one layer": {"encoder_layers": 1, "decoder_layers": 1},
}


@pytest.fixture(params=SHAPES.values(), ids=SHAPES)
def run(request: pytest.FixtureRequest) -> RunConfig:
    return tiny_run_config(**request.param)


def uneven(run: RunConfig) -> Checkpoint:
    """Some rows of every weight are three times as large as they were: features of very different size."""
    checkpoint = random_checkpoint(run)
    layers = {name: tensor for name, tensor in checkpoint.weights.items() if name.startswith(("encoder", "decoder"))}
    for tensor in layers.values():
        tensor[::13] *= 3
    return checkpoint


def smoothed(checkpoint: Checkpoint) -> tuple[Checkpoint, dict[str, Range]]:
    found = measure_ranges(checkpoint.transformer(), random_pairs(checkpoint.config))
    weights, ranges = smooth(checkpoint, found)
    return Checkpoint(checkpoint.config, weights, checkpoint.step, checkpoint.target_pieces), ranges


def logits(checkpoint: Checkpoint) -> Tensor:
    source, target = torch.randint(4, 400, (2, 3, 20), generator=torch.Generator().manual_seed(3))
    return checkpoint.transformer()(source, torch.ones_like(source, dtype=torch.bool), target).detach()


def test_the_model_stays_the_same(run: RunConfig) -> None:
    checkpoint = uneven(run)
    before = {name: tensor.clone() for name, tensor in checkpoint.weights.items()}
    expected = logits(checkpoint)
    found = logits(smoothed(checkpoint)[0])
    assert (found - expected).abs().max() <= 1e-3 * expected.abs().max()
    assert all(torch.equal(checkpoint.weights[name], tensor) for name, tensor in before.items())


def test_ranges_are_those_of_the_smoothed_model(run: RunConfig) -> None:
    checkpoint, ranges = smoothed(uneven(run))
    measured = measure_ranges(checkpoint.transformer(), random_pairs(run))
    assert ranges.keys() == measured.keys()
    for name, found in ranges.items():
        torch.testing.assert_close(found.lowest, measured[name].lowest, rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(found.highest, measured[name].highest, rtol=1e-3, atol=1e-4)


def test_features_of_every_product_are_made_alike(run: RunConfig) -> None:
    """But what the embedding shares with the projection, and what a post-LN norm also adds to what follows."""
    checkpoint = uneven(run)
    before = measure_ranges(checkpoint.transformer(), random_pairs(run))
    after = smoothed(checkpoint)[1]
    shape = run.transformer
    expected = {PROJECTION_INPUT} if shape.tie_embeddings or shape.norm == "post" else set()
    if shape.norm == "post":
        expected |= {name for name in before if name.endswith(("qkv", "query", "expand"))} | {MEMORY}
    assert {name for name in before if torch.equal(before[name].highest, after[name].highest)} == expected
    for name in before.keys() - expected:
        assert unevenness(after[name]) < unevenness(before[name]), name


def test_weights_lose_at_most_half_more_to_rounding() -> None:
    run = tiny_run_config()
    checkpoint = uneven(run)
    expected = logits(checkpoint)
    plain = (logits(dequantized(quantize(checkpoint, []))) - expected).abs().mean()
    smooth_weights = (logits(dequantized(quantize(checkpoint, random_pairs(run)))) - expected).abs().mean()
    assert smooth_weights < 1.5 * plain


def test_int8_does_not_suffer_from_features_of_uneven_size(
    tiny_tokenizer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same model with some features of its norms 300 times as large loses no more than before."""
    run = tiny_run_config()
    checkpoint = random_checkpoint(run)
    even = int8_error(checkpoint, tiny_tokenizer, tmp_path / "even")
    for layer in range(run.transformer.encoder_layers):
        for part in ("weight", "bias"):
            checkpoint.weights[f"encoder.{layer}.feed_forward_residual.norm.{part}"][::7] *= 300
        checkpoint.weights[f"encoder.{layer}.feed_forward.expand.weight"][:, ::7] /= 300
    smoothed_error = int8_error(checkpoint, tiny_tokenizer, tmp_path / "smoothed")
    monkeypatch.setattr("export.quantize.smooth", lambda checkpoint, ranges: (checkpoint.weights, ranges))
    plain = int8_error(checkpoint, tiny_tokenizer, tmp_path / "plain")
    assert smoothed_error < 1.3 * even
    assert plain > 2 * even


def test_features_that_are_always_zero_stay_finite() -> None:
    run = tiny_run_config()
    checkpoint = random_checkpoint(run)
    for part in ("weight", "bias"):
        checkpoint.weights[f"encoder.0.feed_forward.expand.{part}"][5] = -0.0
    checkpoint.weights["decoder.1.self_attention.output.weight"][:, 7] = 0
    found, _ = smoothed(checkpoint)
    assert all(tensor.isfinite().all() for tensor in found.weights.values())
    torch.testing.assert_close(logits(found), logits(checkpoint), rtol=1e-4, atol=1e-4)


def test_a_balanced_model_is_the_same_model_however_it_was_smoothed(run: RunConfig) -> None:
    checkpoint = uneven(run)
    balanced = balance(checkpoint)
    assert (logits(balanced) - logits(checkpoint)).abs().max() <= 1e-3 * logits(checkpoint).abs().max()
    again = balance(smoothed(checkpoint)[0])
    for name, tensor in balanced.weights.items():
        torch.testing.assert_close(again.weights[name], tensor, rtol=1e-3, atol=1e-5)


def test_a_balanced_feature_is_made_as_large_as_it_is_read() -> None:
    weights = balance(uneven(tiny_run_config())).weights
    for layer in ("encoder.0", "decoder.1"):
        made = weights[f"{layer}.feed_forward.expand.weight"].norm(dim=1)
        torch.testing.assert_close(made, weights[f"{layer}.feed_forward.contract.weight"].norm(dim=0))
        assert (weights[f"{layer}.self_residual.norm.weight"] == 1).all()


def unevenness(found: Range) -> float:
    """Standard deviation of the logarithm of the features' largest numbers."""
    largest = found.largest()
    value = largest[largest > 0].log().std().item()
    assert math.isfinite(value)
    return value


def int8_error(checkpoint: Checkpoint, tokenizer: Path, path: Path) -> float:
    """Largest difference of a candidate's log-probability between int8 graphs and torch."""
    weights = quantize(checkpoint, random_pairs(checkpoint.config))
    path.mkdir()
    config = build_model_directory(weights, tokenizer, path, "tiny")
    model = OnnxStepModel(ModelDirectory(path, config), RuntimeOptions("cpu", "int8", 1))
    return compare_steps(TorchStepModel(dequantized(weights).transformer(), model_limits(config)), model).largest
