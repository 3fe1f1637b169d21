"""The encoder as graph nodes."""

from functools import partial

from export.arithmetic import Operand
from export.blocks import Blocks, Layout
from export.quantize import EMBEDDING, POSITIONS, SOURCE_EMBEDDING, SOURCE_POSITIONS


def encode(blocks: Blocks, source_ids: str, layout: Layout, bias: str) -> tuple[str, list[str]]:
    """States ``[rows * source_len, d_model]`` and the attention weights of every layer."""
    builder, config = blocks.builder, blocks.config
    embedding = EMBEDDING if config.tie_embeddings else SOURCE_EMBEDDING
    table = POSITIONS if config.positions == "sinusoidal" else SOURCE_POSITIONS
    embedded = builder.node(
        "Add", blocks.scaled_pieces(source_ids, embedding), first_positions(blocks, source_ids, table)
    )
    states = builder.node("Reshape", embedded, layout.flat)
    weights: list[str] = []
    for layer in range(config.encoder_layers):
        name = f"encoder.{layer}"
        attention = partial(
            self_attention, blocks, name=f"{name}.self_attention", layout=layout, bias=bias, weights=weights
        )
        states = blocks.residual(states, f"{name}.self_residual", attention)
        feed_forward = partial(blocks.feed_forward, name=f"{name}.feed_forward")
        states = blocks.residual(states, f"{name}.feed_forward_residual", feed_forward)
    return blocks.final_norm(states, "encoder_norm"), weights


def cross_memory(blocks: Blocks, memory: Operand, layout: Layout, layer: int) -> tuple[str, str]:
    """Keys, transposed and scaled, and values of the source for one decoder layer."""
    name = f"decoder.{layer}.cross_attention"
    product = blocks.arithmetic.product(memory, f"{name}.memory.weight")
    key, value = blocks.builder.split(blocks.add_bias(product, f"{name}.memory.bias"), 2)
    return blocks.keys(key, layout.heads), blocks.queries(value, layout.heads)


def self_attention(blocks: Blocks, states: str, name: str, layout: Layout, bias: str, weights: list[str]) -> str:
    """Attention of a sequence to itself; appends its weights to ``weights``."""
    merged = blocks.linear(blocks.arithmetic.operand(states), f"{name}.qkv")
    query, key, value = blocks.builder.split(merged, 3)
    shape = layout.heads
    context, layer_weights = blocks.attend(
        blocks.queries(query, shape), blocks.keys(key, shape), blocks.queries(value, shape), bias
    )
    weights.append(layer_weights)
    return blocks.linear(blocks.arithmetic.operand(context), f"{name}.output")


def first_positions(blocks: Blocks, ids: str, table: str) -> str:
    """The first ``length`` rows of a position table, for ``ids [rows, length]``."""
    builder = blocks.builder
    length = builder.dimension(ids, 1)
    return builder.node("Slice", blocks.arithmetic.vector(table), builder.ints(0), length)
