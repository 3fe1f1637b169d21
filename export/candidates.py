"""Choice of the likeliest pieces as graph nodes."""

from math import isqrt

import numpy as np

from export.graph_builder import GraphBuilder


def top_candidates(builder: GraphBuilder, log_probs: str, k: str, vocab_size: int) -> tuple[str, str]:
    """The ``k`` largest of ``log_probs [rows, vocab]``, best first, and their ids, both ``[rows, k]``.

    TopK reads its input one number at a time, a maximum reads sixteen. So the vocabulary is cut into groups,
    and only the ``k`` groups with the largest maxima are searched: no other can hold one of the ``k`` best.
    """
    groups = _groups(vocab_size)
    size = vocab_size // groups
    grouped = builder.node("Reshape", log_probs, builder.ints(-1, groups, size))
    maxima = builder.node("ReduceMax", grouped, builder.ints(2), keepdims=0)
    _, chosen = _top(builder, maxima, builder.node("Min", k, builder.ints(groups)))
    indices = builder.node("Unsqueeze", chosen, builder.ints(2))
    searched = builder.node("GatherND", grouped, indices, batch_dims=1)
    flat = builder.node("Flatten", searched, axis=1)
    values, places = _top(builder, flat, k)
    size_ = builder.constant(size, np.int64)
    group = builder.node("GatherElements", chosen, builder.node("Div", places, size_), axis=1)
    within = builder.node("Mod", places, size_)
    return values, builder.node("Add", builder.node("Mul", group, size_), within)


def _top(builder: GraphBuilder, values: str, k: str) -> tuple[str, str]:
    values, indices = builder.nodes("TopK", [values, k], builder.fresh_names("TopK", 2), axis=-1, sorted=1)
    return values, indices


def _groups(vocab_size: int) -> int:
    """The divisor of ``vocab_size`` next to its square root."""
    return next(groups for groups in range(isqrt(vocab_size), 0, -1) if vocab_size % groups == 0)
