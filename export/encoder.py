"""The encoder as graph nodes."""

from dataclasses import dataclass, field
from functools import partial

from export.arithmetic import Operand
from export.blocks import Blocks, Layout
from export.quantize import EMBEDDING, POSITIONS, SOURCE_EMBEDDING, SOURCE_POSITIONS


@dataclass(frozen=True)
class SelfAttention:
    """What the self-attentions of a stack have in common.

    Attributes:
        bias: which keys may be attended to.
        head_mask: ``[layers, heads]``; empty where no head is ever muted.
        weights: gets the weights of each layer in turn.
    """

    layout: Layout
    bias: str
    head_mask: str = ""
    weights: list[str] = field(default_factory=list)


def encode(blocks: Blocks, source_ids: str, layout: Layout, bias: str, head_mask: str = "") -> tuple[str, list[str]]:
    """States ``[rows * source_len, d_model]`` and the attention weights of every layer."""
    builder, config = blocks.builder, blocks.config
    embedding = EMBEDDING if config.tie_embeddings else SOURCE_EMBEDDING
    table = POSITIONS if config.positions == "sinusoidal" else SOURCE_POSITIONS
    embedded = builder.node(
        "Add", blocks.scaled_pieces(source_ids, embedding), first_positions(blocks, source_ids, table)
    )
    states = builder.node("Reshape", embedded, layout.flat)
    shared = SelfAttention(layout, bias, head_mask)
    for layer in range(config.encoder_layers):
        name = f"encoder.{layer}"
        attention = partial(self_attention, blocks, shared, stack="encoder", layer=layer)
        states = blocks.residual(states, f"{name}.self_residual", attention)
        feed_forward = partial(blocks.feed_forward, name=f"{name}.feed_forward")
        states = blocks.residual(states, f"{name}.feed_forward_residual", feed_forward)
    return blocks.final_norm(states, "encoder_norm"), shared.weights


def cross_memory(blocks: Blocks, memory: Operand, layout: Layout, layer: int) -> tuple[str, str]:
    """Keys, transposed and scaled, and values of the source for one decoder layer."""
    name = f"decoder.{layer}.cross_attention"
    key, value = blocks.builder.split(blocks.linear_of(memory, f"{name}.memory"), 2, axis=-1)
    return blocks.keys(key, layout.heads), blocks.queries(value, layout.heads)


def self_attention(blocks: Blocks, shared: SelfAttention, states: str, stack: str, layer: int) -> str:
    """Attention of a sequence to itself in one layer of ``stack``; appends its weights to ``shared.weights``."""
    name = f"{stack}.{layer}.self_attention"
    stacked = blocks.queries(blocks.linear(states, f"{name}.qkv"), shared.layout.stacked_heads)
    query, key, value = blocks.builder.split(stacked, 3, axis=1)
    gate = blocks.gate(shared.head_mask, layer)
    context, weights = blocks.attend(blocks.self_scores(query, key), value, shared.bias, gate)
    shared.weights.append(weights)
    return blocks.linear(context, f"{name}.output")


def first_positions(blocks: Blocks, ids: str, table: str) -> str:
    """The first ``length`` rows of a position table, for ``ids [rows, length]``."""
    builder = blocks.builder
    length = builder.dimension(ids, 1)
    return builder.node("Slice", blocks.arithmetic.vector(table), builder.ints(0), length)
