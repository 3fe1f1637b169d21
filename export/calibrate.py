"""Between which numbers the left factors of every matrix product lie: measured on sentences, fixed in the graphs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from model.layers import MultiHeadAttention
from model.transformer import Transformer

Pair = tuple[Sequence[int], Sequence[int]]


@dataclass(frozen=True)
class Range:
    """Lowest and highest number that each feature was seen to have, float32 ``[features]``."""

    lowest: Tensor
    highest: Tensor

    def largest(self) -> Tensor:
        """The largest magnitude of each feature."""
        return torch.maximum(-self.lowest, self.highest)

    def joined(self, other: "Range") -> "Range":
        """What holds both."""
        return Range(torch.minimum(self.lowest, other.lowest), torch.maximum(self.highest, other.highest))


Ranges = dict[str, Range]

MEMORY = "memory"
PROJECTION_INPUT = "projection"


@torch.no_grad()
def measure_ranges(transformer: Transformer, pairs: Iterable[Pair]) -> Ranges:
    """Lowest and highest number that each product reads while ``transformer`` reads ``pairs``.

    Args:
        pairs: source ids with tag and end of sentence, target ids as fed: beginning of sentence first.

    Returns:
        By the product's name, without ``.weight``; what all layers read of the source is ``MEMORY``.
    """
    ranges: Ranges = {}

    def record(name: str, states: Tensor) -> None:
        features = states.flatten(end_dim=-2)
        found = Range(features.amin(dim=0), features.amax(dim=0))
        ranges[name] = ranges[name].joined(found) if name in ranges else found

    hooks = [module.register_forward_pre_hook(_hook(name, module, record)) for name, module in _products(transformer)]
    try:
        for source, target in pairs:
            source_ids = torch.tensor([source])
            transformer(source_ids, torch.ones_like(source_ids, dtype=torch.bool), torch.tensor([target]))
    finally:
        for hook in hooks:
            hook.remove()
    return ranges


def _products(transformer: Transformer) -> Iterable[tuple[str, nn.Module]]:
    for name, module in transformer.named_modules():
        # The stacked projections are read through their attention: there it is known what enters which part.
        if isinstance(module, MultiHeadAttention) or (isinstance(module, nn.Linear) and not name.endswith("qkv")):
            yield name, module


def _hook(
    name: str, module: nn.Module, record: Callable[[str, Tensor], None]
) -> Callable[[nn.Module, tuple[Any, ...]], None]:
    def attention(_: nn.Module, inputs: tuple[Any, ...]) -> None:
        queries, memory = inputs[:2]
        if memory is None:
            record(f"{name}.qkv", queries)
        else:
            record(f"{name}.query", queries)
            record(MEMORY, memory)

    def linear(_: nn.Module, inputs: tuple[Any, ...]) -> None:
        record(name, inputs[0])

    return attention if isinstance(module, MultiHeadAttention) else linear
