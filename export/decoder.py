"""The decoder as graph nodes: one cached step, and a whole target at once."""

from functools import partial

import numpy as np
from onnx import TensorProto

from app.runtime import names
from export.blocks import Blocks
from export.encoder import SelfAttention, first_positions, self_attention
from export.graph_builder import MICROSOFT, Axis
from export.quantize import EMBEDDING, POSITIONS, TARGET_EMBEDDING, TARGET_POSITIONS


class DecoderStep:
    """One piece for every row: reads and extends the caches.

    The rows of a sentence become queries of one attention, so its encoder keys and values are read once.
    """

    def __init__(self, blocks: Blocks, last_ids: str, element_type: int) -> None:
        self._blocks = blocks
        self._last_ids = last_ids
        self._element_type = element_type
        builder, config = blocks.builder, blocks.config
        self._past_len = builder.input(names.PAST_LEN, TensorProto.INT32, [names.ROWS])
        self._total_len = builder.input(names.TOTAL_LEN, TensorProto.INT32, [])
        source_mask = builder.input(names.SOURCE_MASK, TensorProto.BOOL, [names.SENTENCES, names.SOURCE_LEN])
        self._source_bias = blocks.source_bias(source_mask)
        # The rows of a sentence stand where other attention has the positions of a sequence.
        self._heads = builder.shape(builder.dimension(source_mask, 0), -1, config.heads, config.head_dim)

    def states(self) -> str:
        """``[rows, d_model]``, ready for the output projection."""
        blocks = self._blocks
        config = blocks.config
        states = self._embedded()
        for layer in range(config.decoder_layers):
            name = f"decoder.{layer}"
            states = blocks.residual(states, f"{name}.self_residual", partial(self._self_attention, layer=layer))
            states = blocks.residual(states, f"{name}.cross_residual", partial(self._cross_attention, layer=layer))
            feed_forward = partial(blocks.feed_forward, name=f"{name}.feed_forward")
            states = blocks.residual(states, f"{name}.feed_forward_residual", feed_forward)
        return blocks.final_norm(states, "decoder_norm")

    def _embedded(self) -> str:
        blocks = self._blocks
        config = blocks.config
        embedding = EMBEDDING if config.tie_embeddings else TARGET_EMBEDDING
        table = POSITIONS if config.positions == "sinusoidal" else TARGET_POSITIONS
        positions = blocks.builder.node("Gather", blocks.arithmetic.vector(table), self._past_len)
        return blocks.builder.node("Add", blocks.scaled_pieces(self._last_ids, embedding), positions)

    def _self_attention(self, states: str, layer: int) -> str:
        blocks, builder, config = self._blocks, self._blocks.builder, self._blocks.config
        name = f"decoder.{layer}.self_attention"
        axes: list[Axis] = [names.ROWS, config.heads, names.POSITIONS, config.head_dim]
        past = [
            builder.input(past_name, self._element_type, axes)
            for past_name in (names.past_key(layer), names.past_value(layer))
        ]
        present = [names.present_key(layer), names.present_value(layer)]
        merged = blocks.linear(states, f"{name}.qkv")
        packed = builder.node("Unsqueeze", merged, builder.ints(1))
        context, *_ = builder.nodes(
            "GroupQueryAttention",
            [packed, "", "", *past, self._past_len, self._total_len],
            [f"{name}.context", *present],
            MICROSOFT,
            num_heads=config.heads,
            kv_num_heads=config.heads,
        )
        for present_name in present:
            builder.output(present_name, present_name, self._element_type, axes)
        flat = builder.node("Squeeze", context, builder.ints(1))
        return blocks.linear(flat, f"{name}.output")

    def _cross_attention(self, states: str, layer: int) -> str:
        blocks = self._blocks
        name = f"decoder.{layer}.cross_attention"
        key, value = _memory_inputs(blocks, layer, self._element_type)
        merged = blocks.linear(states, f"{name}.query")
        scores = blocks.builder.node("MatMul", blocks.queries(merged, self._heads), key)
        context, _ = blocks.attend(scores, value, self._source_bias)
        return blocks.linear(context, f"{name}.output")


class TeacherForced:
    """A whole target at once; ``decoder`` and ``cross`` are head masks ``[layers, heads]``.

    Keys and values of the source and ``source_bias`` have a row for each target, or one that all targets share.

    Attributes:
        self_weights: of self-attention, one tensor a layer, once ``states`` was called.
        cross_weights: of attention to the source, likewise.
    """

    def __init__(self, blocks: Blocks, target_ids: str, source_bias: str, decoder: str, cross: str) -> None:
        self._blocks = blocks
        self._target_ids = target_ids
        self._source_bias = source_bias
        self._cross_mask = cross
        self._self = SelfAttention(blocks.layout(target_ids), _causal_bias(blocks, target_ids), decoder)
        self.self_weights = self._self.weights
        self.cross_weights: list[str] = []

    def states(self) -> str:
        """``[rows * target_len, d_model]``, ready for the output projection."""
        blocks, builder, config = self._blocks, self._blocks.builder, self._blocks.config
        embedding = EMBEDDING if config.tie_embeddings else TARGET_EMBEDDING
        table = POSITIONS if config.positions == "sinusoidal" else TARGET_POSITIONS
        pieces = blocks.scaled_pieces(self._target_ids, embedding)
        embedded = builder.node("Add", pieces, first_positions(blocks, self._target_ids, table))
        states = builder.node("Reshape", embedded, self._self.layout.flat)
        for layer in range(config.decoder_layers):
            name = f"decoder.{layer}"
            attention = partial(self_attention, blocks, self._self, stack="decoder", layer=layer)
            states = blocks.residual(states, f"{name}.self_residual", attention)
            states = blocks.residual(states, f"{name}.cross_residual", partial(self._cross_attention, layer=layer))
            feed_forward = partial(blocks.feed_forward, name=f"{name}.feed_forward")
            states = blocks.residual(states, f"{name}.feed_forward_residual", feed_forward)
        return blocks.final_norm(states, "decoder_norm")

    def _cross_attention(self, states: str, layer: int) -> str:
        blocks = self._blocks
        name = f"decoder.{layer}.cross_attention"
        query = blocks.queries(blocks.linear(states, f"{name}.query"), self._self.layout.heads)
        key, value = _memory_inputs(blocks, layer, TensorProto.FLOAT)
        gate = blocks.gate(self._cross_mask, layer)
        context, weights = blocks.attend(blocks.builder.node("MatMul", query, key), value, self._source_bias, gate)
        self.cross_weights.append(weights)
        return blocks.linear(context, f"{name}.output")


def _memory_inputs(blocks: Blocks, layer: int, element_type: int) -> tuple[str, str]:
    """Keys and values of the source for one layer."""
    builder, config = blocks.builder, blocks.config
    head: list[Axis] = [names.SENTENCES, config.heads]
    key = builder.input(names.cross_key(layer), element_type, [*head, config.head_dim, names.SOURCE_LEN])
    value = builder.input(names.cross_value(layer), element_type, [*head, names.SOURCE_LEN, config.head_dim])
    return key, value


def _causal_bias(blocks: Blocks, target_ids: str) -> str:
    """``[target_len, target_len]``: a query sees its own position and those before it."""
    builder = blocks.builder
    length = builder.node("Squeeze", builder.dimension(target_ids, 1), builder.ints(0))
    zero, one = (builder.constant(value, np.int64) for value in (0, 1))
    positions = builder.node("Range", zero, length, one)
    query = builder.node("Unsqueeze", positions, builder.ints(1))
    return blocks.bias(builder.node("LessOrEqual", positions, query))
