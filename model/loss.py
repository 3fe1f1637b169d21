"""Label-smoothed cross-entropy (Vaswani et al. 2017, section 5.4) that never holds all logits."""

from typing import Any

import torch
from torch import Tensor

_CHUNK_ROWS = 512


def smoothed_cross_entropy(
    states: Tensor, projection: Tensor, targets: Tensor, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Mean loss over target pieces.

    The smoothed target is ``(1 - smoothing)`` on the true piece plus ``smoothing / vocab`` on every piece.

    Args:
        states: ``[pieces, d_model]``, one row per real target piece (no padding).
        projection: ``[vocab, d_model]``.
        targets: ``[pieces]``, the true ids.

    Returns:
        The smoothed loss in nats, differentiable, and the plain negative log-likelihood for the log.
    """
    loss, nll = _LinearCrossEntropy.apply(states, projection, targets, smoothing)  # type: ignore[no-untyped-call]
    return loss, nll


class _LinearCrossEntropy(torch.autograd.Function):
    """Projection and loss in one: the gradient of a chunk is taken while its logits are in the cache."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, projection: Tensor, targets: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        """See ``smoothed_cross_entropy``."""
        dtype = (
            torch.get_autocast_dtype(states.device.type)
            if torch.is_autocast_enabled(states.device.type)
            else states.dtype
        )
        pieces, vocab = states.shape[0], projection.shape[0]
        matrix = projection.to(dtype)
        grad_states = torch.empty(states.shape, dtype=dtype, device=states.device)
        grad_matrix = torch.zeros(projection.shape, dtype=torch.float32, device=states.device)
        loss = torch.zeros((), device=states.device)
        nll = torch.zeros((), device=states.device)
        for start in range(0, pieces, _CHUNK_ROWS):
            chunk = states[start : start + _CHUNK_ROWS].to(dtype)
            truth = targets[start : start + _CHUNK_ROWS, None]
            log_probs = (chunk @ matrix.T).float().log_softmax(dim=-1)
            true_log_probs = log_probs.gather(1, truth)
            nll -= true_log_probs.sum()
            loss -= (1 - smoothing) * true_log_probs.sum() + smoothing / vocab * log_probs.sum()
            grad = log_probs.exp_().sub_(smoothing / vocab)
            grad.scatter_add_(1, truth, torch.full_like(true_log_probs, smoothing - 1)).div_(pieces)
            grad = grad.to(dtype)
            grad_states[start : start + _CHUNK_ROWS] = grad @ matrix
            grad_matrix += grad.T @ chunk
        ctx.save_for_backward(grad_states.to(states.dtype), grad_matrix.to(projection.dtype))
        mean_nll = nll / pieces
        ctx.mark_non_differentiable(mean_nll)
        return loss / pieces, mean_nll

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        """Scales the stored gradients."""
        grad_states, grad_matrix = ctx.saved_tensors
        return grad_states * grads[0], grad_matrix * grads[0], None, None
