"""The two optimisers of a training run.

Hidden matrices are updated by Muon (Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"):
the momentum of a matrix is made orthogonal before it is applied, so that all its directions learn at one speed.
Its step is scaled to the root mean square of Adam's (Liu et al. 2025, "Muon is scalable for LLM training",
section 2.2), so both follow one schedule. Embeddings, biases and layer norms are updated by Adam
(Kingma and Ba 2015).
"""

from typing import Any

import torch
from torch import nn

from model.config import TrainingConfig
from model.transformer import Transformer


class Optimizer:
    """Muon for the hidden matrices of a Transformer, Adam for everything else."""

    def __init__(self, transformer: Transformer, config: TrainingConfig) -> None:
        matrices, others = _split(transformer)
        # Each has its share of the scheduled rate.
        self._parts: list[tuple[torch.optim.Optimizer, float]] = [
            (
                torch.optim.Muon(matrices, momentum=0.95, weight_decay=0.0, adjust_lr_fn="match_rms_adamw"),
                config.matrix_rate_factor,
            ),
            (torch.optim.Adam(others, betas=(0.9, config.adam_beta2), eps=1e-9, fused=True), 1.0),
        ]

    def step(self, learning_rate: float) -> None:
        """Applies the gradients and forgets them."""
        for optimizer, factor in self._parts:
            for group in optimizer.param_groups:
                group["lr"] = learning_rate * factor
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    def state(self) -> list[dict[str, Any]]:
        """All that an exact resume needs."""
        return [optimizer.state_dict() for optimizer, _ in self._parts]

    def load_state(self, state: list[dict[str, Any]]) -> None:
        """What ``state`` returned."""
        for (optimizer, _), part in zip(self._parts, state, strict=True):
            optimizer.load_state_dict(part)


def _split(transformer: Transformer) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """Hidden matrices, and the rest: the embeddings and the projection to the vocabulary are look-up tables."""
    matrices: dict[int, nn.Parameter] = {}
    for stack in (transformer.encoder, transformer.decoder):
        matrices |= {id(parameter): parameter for parameter in stack.parameters() if parameter.ndim == 2}
    others = [parameter for parameter in transformer.parameters() if id(parameter) not in matrices]
    return list(matrices.values()), others
