import pytest
import torch
from torch.nn import functional

from model.loss import smoothed_cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("pieces", [3, 700])
def test_value_and_gradients_equal_torchs(smoothing: float, pieces: int) -> None:
    torch.manual_seed(0)
    states = torch.randn(pieces, 16, requires_grad=True)
    projection = torch.randn(40, 16, requires_grad=True)
    targets = torch.randint(0, 40, (pieces,))
    loss, nll = smoothed_cross_entropy(states, projection, targets, smoothing)
    gradients = torch.autograd.grad(loss * 3, (states, projection))
    logits = states @ projection.T
    expected = functional.cross_entropy(logits, targets, label_smoothing=smoothing)
    expected_gradients = torch.autograd.grad(expected * 3, (states, projection))
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(nll, functional.cross_entropy(logits, targets).detach())
    for gradient, expected_gradient in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(gradient, expected_gradient, atol=1e-6, rtol=1e-5)
    assert not nll.requires_grad


def test_true_piece_far_from_certain_costs_its_negative_log_probability() -> None:
    projection = torch.tensor([[0.0], [torch.log(torch.tensor(3.0))]])
    loss, _ = smoothed_cross_entropy(torch.ones(1, 1), projection, torch.tensor([1]), 0.0)
    assert loss.item() == pytest.approx(-torch.log(torch.tensor(0.75)).item())
