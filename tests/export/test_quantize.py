import pytest
import torch

from export.quantize import EMBEDDING, PROJECTION, dequantized, quantize
from tests.conftest import random_checkpoint, tiny_run_config


@pytest.mark.parametrize("tied", [True, False])
def test_weights_come_back_within_half_a_level(tied: bool) -> None:
    checkpoint = random_checkpoint(tiny_run_config(tie_embeddings=tied))
    found = dequantized(quantize(checkpoint, [])).weights
    assert found.keys() == checkpoint.weights.keys()
    for name, weight in checkpoint.weights.items():
        if weight.ndim == 1:
            assert torch.equal(found[name], weight)
        else:
            level = weight.abs().amax(dim=1, keepdim=True) / 127
            assert ((found[name] - weight).abs() <= level * 0.5001).all(), name


def test_quantising_twice_changes_nothing() -> None:
    once = dequantized(quantize(random_checkpoint(tiny_run_config()), []))
    twice = dequantized(quantize(once, []))
    for name, weight in once.weights.items():
        torch.testing.assert_close(twice.weights[name], weight, rtol=1e-6, atol=0)


def test_a_column_of_zeros_stays_zero() -> None:
    checkpoint = random_checkpoint(tiny_run_config())
    checkpoint.weights["encoder.0.feed_forward.expand.weight"][3] = 0
    found = dequantized(quantize(checkpoint, [])).weights["encoder.0.feed_forward.expand.weight"]
    assert (found[3] == 0).all()


def test_tied_embeddings_are_stored_once() -> None:
    assert PROJECTION not in quantize(random_checkpoint(tiny_run_config()), []).matrices
    assert EMBEDDING not in quantize(random_checkpoint(tiny_run_config(tie_embeddings=False)), []).matrices
