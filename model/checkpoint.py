"""Checkpoints: weights with their configuration, and beside them what an exact resume needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from model.config import RunConfig, run_config
from model.transformer import Transformer


@dataclass(frozen=True)
class Checkpoint:
    """Trained weights, the configuration that made them, and how far training had come."""

    config: RunConfig
    weights: dict[str, Tensor]
    step: int
    target_pieces: int

    def transformer(self) -> Transformer:
        """The model in evaluation mode."""
        transformer = Transformer(self.config.transformer)
        transformer.load_state_dict(self.weights)
        return transformer.eval()


def save_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    """Writes atomically: a crash leaves the old file or the new one."""
    save_atomically(
        {
            "config": checkpoint.config.to_dict(),
            "weights": checkpoint.weights,
            "step": checkpoint.step,
            "target_pieces": checkpoint.target_pieces,
        },
        path,
    )


def load_checkpoint(path: Path) -> Checkpoint:
    """Reads what ``save_checkpoint`` wrote, onto the CPU; no code in the file is ever run.

    Raises:
        ValueError: the file holds something else, the state of a resume for instance.
    """
    stored = torch.load(path, map_location="cpu", weights_only=True)
    if missing := {"config", "weights", "step", "target_pieces"} - set(stored):
        raise ValueError(f"{path} is no checkpoint: it lacks {', '.join(sorted(missing))}")
    return Checkpoint(run_config(stored["config"]), stored["weights"], stored["step"], stored["target_pieces"])


def average_checkpoints(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    """Mean of the weights of several checkpoints of one run (Vaswani et al. 2017, section 6.1)."""
    last = checkpoints[-1]
    weights = {
        name: torch.stack([checkpoint.weights[name].float() for checkpoint in checkpoints]).mean(dim=0)
        for name in last.weights
    }
    return Checkpoint(last.config, weights, last.step, last.target_pieces)


def save_atomically(value: dict[str, Any], path: Path) -> None:
    """``torch.save`` to a neighbour, then rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    torch.save(value, partial)
    partial.replace(path)
