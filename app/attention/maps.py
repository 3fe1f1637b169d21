"""Attention maps: the weights that were asked for, reduced, with what their axes stand for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.attention.axes import Axis, FamilyAxes, TokenList, axes_of, kept_keys
from app.attention.selection import AttentionSelection, ChosenMaps, Family, HeadReduction, LayerReduction
from app.engine.step_model import Float32

_LEAST_MASS = 1e-6
"""A row whose kept keys weigh less than this in all has nothing to renormalise: it becomes NaN."""


@dataclass(frozen=True)
class AttentionMap:
    """Weights ``[layer, head, query, key]`` of one family; an axis that was reduced has length 1.

    Attributes:
        layers: which went in, all of them where the axis was reduced; ``heads`` likewise.
        query: None where the axes were pooled, for then an index stands for a stretch of them; ``key`` likewise.
        values: a row whose kept keys have no mass is NaN under ``drop_renormalize``.
        hidden_mass: ``[layer, head, query]``, what lay on dropped keys; None if none were to be dropped.
        normalized: whether every row sums to 1 (those that are NaN aside).
        reductions: what was done to the layer axis and to the head axis.
    """

    family: Family
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    query: Axis | None
    key: Axis | None
    values: Float32
    hidden_mass: Float32 | None
    normalized: bool
    reductions: tuple[LayerReduction, HeadReduction] = ("none", "none")


def make_map(family: Family, weights: Float32, chosen: ChosenMaps, source: TokenList, fed: TokenList) -> AttentionMap:
    """What ``chosen`` leaves of the ``weights [layer, head, query, key]`` of one family."""
    selection = chosen.selection
    axes = axes_of(family, source, fed, selection)
    values = reduce_heads(weights[list(chosen.layers[family])][:, list(chosen.heads)], selection)
    values = reduce_layers(values, selection.reduce_layers)
    values = merge(values, axes)
    hidden = None
    if selection.special_tokens != "keep":
        values, hidden = drop_keys(values, axes.kept, renormalise=selection.special_tokens == "drop_renormalize")
    whole_rows = selection.reduce_heads != "max" and selection.special_tokens == "keep"
    normalized = whole_rows or selection.special_tokens == "drop_renormalize"
    query, key = axes.query, kept_keys(axes)
    reductions = (selection.reduce_layers, selection.reduce_heads)
    found = AttentionMap(
        family, chosen.layers[family], chosen.heads, query, key, values, hidden, normalized, reductions
    )
    return found if selection.resolution is None else _thumbnail(found, selection.resolution)


def _thumbnail(full: AttentionMap, resolution: int) -> AttentionMap:
    values = pool(pool(full.values, resolution, 2), resolution, 3)
    hidden = None if full.hidden_mass is None else pool(full.hidden_mass, resolution, 2)
    return replace(full, query=None, key=None, values=values, hidden_mass=hidden, normalized=False)


def reduce_heads(values: Float32, selection: AttentionSelection) -> Float32:
    """``[layer, head, query, key]`` with a head axis of length 1, unless heads stay apart."""
    match selection.reduce_heads:
        case "mean":
            mean: Float32 = values.mean(axis=1, keepdims=True, dtype=np.float32)
            return mean
        case "max":
            most: Float32 = values.max(axis=1, keepdims=True)
            return most
        case _:
            return values


def reduce_layers(values: Float32, reduction: LayerReduction) -> Float32:
    """``[layer, head, query, key]`` with a layer axis of length 1, unless layers stay apart.

    Rollout (Abnar and Zuidema 2020): the product of ``(A + I) / 2`` from the first layer to the last, which
    counts the path around each attention as much as the attention.
    """
    match reduction:
        case "mean":
            mean: Float32 = values.mean(axis=0, keepdims=True, dtype=np.float32)
            return mean
        case "rollout":
            identity = np.eye(values.shape[-1])
            product = identity
            for layer in values[:, 0].astype(np.float64):
                mixed = layer + identity
                product = mixed / mixed.sum(axis=-1, keepdims=True) @ product
            rollout: Float32 = product[None, None].astype(np.float32)
            return rollout
        case _:
            return values


def merge(values: Float32, axes: FamilyAxes) -> Float32:
    """Sums over the pieces of each key and averages over those of each query: rows still sum to 1."""
    if len(axes.key) < values.shape[3]:
        values = np.add.reduceat(values, _starts(axes.key), axis=3)
    if len(axes.query) < values.shape[2]:
        sizes = np.array([len(group) for group in axes.query.groups], dtype=np.float32)
        values = (np.add.reduceat(values, _starts(axes.query), axis=2) / sizes[:, None]).astype(np.float32)
    return values


def drop_keys(values: Float32, kept: Sequence[int], renormalise: bool) -> tuple[Float32, Float32]:
    """The columns ``kept`` and the mass ``[layer, head, query]`` that lay on the others."""
    dropped = np.ones(values.shape[3], dtype=np.bool_)
    dropped[list(kept)] = False
    hidden: Float32 = values[..., dropped].sum(axis=-1)
    values = values[..., ~dropped]
    if renormalise:
        mass = values.sum(axis=-1, keepdims=True)
        empty = mass < _LEAST_MASS
        values = np.where(empty, np.float32(np.nan), values / np.where(empty, 1, mass))
    return values, hidden


def pool(values: Float32, resolution: int, axis: int) -> Float32:
    """The largest of each stretch: ``axis`` is at most ``resolution`` long; NaN counts as 0."""
    length = values.shape[axis]
    if length <= resolution:
        return values
    starts = np.arange(resolution) * length // resolution
    pooled: Float32 = np.maximum.reduceat(np.nan_to_num(values, nan=0.0), starts, axis=axis)
    return pooled


def _starts(axis: Axis) -> list[int]:
    """Where each group begins: groups are runs of neighbouring pieces."""
    return [group[0] for group in axis.groups]
