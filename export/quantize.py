"""Weights as they are stored: 8-bit integer matrices with one float32 scale per output, float32 vectors."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from export.calibrate import Pair, Ranges, measure_ranges
from export.smooth import smooth
from model.checkpoint import Checkpoint
from model.config import TransformerConfig
from model.transformer import sinusoidal_positions

Float32 = npt.NDArray[np.float32]

EMBEDDING = "embedding"
SOURCE_EMBEDDING = "source_embedding"
TARGET_EMBEDDING = "target_embedding"
PROJECTION = "projection"
POSITIONS = "positions"
SOURCE_POSITIONS = "source_positions"
TARGET_POSITIONS = "target_positions"

_LARGEST = 127


@dataclass(frozen=True)
class QuantizedMatrix:
    """``values * scale``, symmetric: the zero of the integers is the zero of the numbers.

    Attributes:
        values: int8, ``[inputs, outputs]`` of a product, ``[vocab, d_model]`` of an embedding.
        scale: float32, ``[outputs]`` or ``[vocab]``.
        scaled_axis: the axis of ``values`` that ``scale`` runs along.
    """

    values: npt.NDArray[np.int8]
    scale: Float32
    scaled_axis: int

    def floats(self) -> Float32:
        """The numbers that the integers stand for."""
        scale = self.scale[:, None] if self.scaled_axis == 0 else self.scale
        return self.values.astype(np.float32) * scale


@dataclass(frozen=True)
class QuantizedWeights:
    """All weights of a checkpoint, smoothed (``export.smooth``), and the ranges of what they are multiplied with.

    A layer's tensors keep their torch names, a product's matrix transposed to ``[inputs, outputs]``; the
    stacked projections of cross-attention are cut into ``query`` and ``memory``, which read different states.
    """

    checkpoint: Checkpoint
    matrices: dict[str, QuantizedMatrix]
    vectors: dict[str, Float32]
    ranges: Ranges


def quantize(checkpoint: Checkpoint, pairs: Iterable[Pair]) -> QuantizedWeights:
    """Smooths, then rounds every matrix to the nearest of 255 levels per output.

    Args:
        pairs: what ``export.calibrate.measure_ranges`` reads; without them nothing is smoothed.
    """
    config = checkpoint.config.transformer
    weights, ranges = smooth(checkpoint, measure_ranges(checkpoint.transformer(), pairs))
    matrices = _embeddings(config, weights)
    vectors = _positions(config, weights)
    for name, tensor in weights.items():
        if not name.startswith(("encoder", "decoder")):
            continue
        for part, value in _cut(name, tensor, config.d_model).items():
            if value.ndim == 2:
                matrices[part] = _quantize_matrix(np.ascontiguousarray(value.T), scaled_axis=1)
            else:
                vectors[part] = value
    return QuantizedWeights(checkpoint, matrices, vectors, ranges)


def dequantized(quantized: QuantizedWeights) -> Checkpoint:
    """The checkpoint whose float32 weights are exactly those that the graphs compute with."""
    checkpoint = quantized.checkpoint
    d_model = checkpoint.config.transformer.d_model
    weights = {}
    for name, tensor in checkpoint.weights.items():
        if name.startswith(("encoder", "decoder")):
            parts = [_stored(quantized, part) for part in _cut(name, tensor, d_model)]
            weights[name] = torch.from_numpy(np.concatenate(parts))
        elif name.endswith("positions"):
            weights[name] = torch.from_numpy(quantized.vectors[name.replace("_embedding.", "_")])
        else:
            weights[name] = torch.from_numpy(_stored_embedding(quantized, name))
    return Checkpoint(checkpoint.config, weights, checkpoint.step, checkpoint.target_pieces)


def _quantize_matrix(matrix: Float32, scaled_axis: int) -> QuantizedMatrix:
    largest = np.abs(matrix).max(axis=1 - scaled_axis, keepdims=True)
    scale = np.where(largest == 0, 1, largest / _LARGEST).astype(np.float32)
    values = np.clip(np.rint(matrix / scale), -_LARGEST, _LARGEST).astype(np.int8)
    return QuantizedMatrix(values, scale.reshape(-1), scaled_axis)


def _embeddings(config: TransformerConfig, weights: dict[str, Tensor]) -> dict[str, QuantizedMatrix]:
    source = _quantize_matrix(_numpy(weights["source_embedding.pieces.weight"]), scaled_axis=0)
    if config.tie_embeddings:
        return {EMBEDDING: source}
    projection = np.ascontiguousarray(_numpy(weights["projection.weight"]).T)
    return {
        SOURCE_EMBEDDING: source,
        TARGET_EMBEDDING: _quantize_matrix(_numpy(weights["target_embedding.pieces.weight"]), scaled_axis=0),
        PROJECTION: _quantize_matrix(projection, scaled_axis=1),
    }


def _positions(config: TransformerConfig, weights: dict[str, Tensor]) -> dict[str, Float32]:
    if config.positions == "sinusoidal":
        return {POSITIONS: _numpy(sinusoidal_positions(config.max_positions, config.d_model))}
    return {
        SOURCE_POSITIONS: _numpy(weights["source_embedding.positions"]),
        TARGET_POSITIONS: _numpy(weights["target_embedding.positions"]),
    }


def _cut(name: str, tensor: Tensor, d_model: int) -> dict[str, Float32]:
    """The stored parts of a layer's tensor, along its first axis."""
    value = _numpy(tensor)
    if "cross_attention.qkv" not in name:
        return {name: value}
    return {name.replace("qkv", "query"): value[:d_model], name.replace("qkv", "memory"): value[d_model:]}


def _stored(quantized: QuantizedWeights, part: str) -> Float32:
    matrix = quantized.matrices.get(part)
    return quantized.vectors[part] if matrix is None else np.ascontiguousarray(matrix.floats().T)


def _stored_embedding(quantized: QuantizedWeights, name: str) -> Float32:
    if EMBEDDING in quantized.matrices:
        return quantized.matrices[EMBEDDING].floats()
    if name.startswith("projection"):
        return np.ascontiguousarray(quantized.matrices[PROJECTION].floats().T)
    return quantized.matrices[name.split(".")[0]].floats()


def _numpy(tensor: Tensor) -> Float32:
    return tensor.detach().float().numpy()
