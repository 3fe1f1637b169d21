"""The parts of the Transformer as graph nodes, the same for every precision; see ``model.layers``."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, helper

from export.arithmetic import Arithmetic, Operand
from export.calibrate import PROJECTION_INPUT
from export.graph_builder import MICROSOFT, GraphBuilder
from export.quantize import EMBEDDING, PROJECTION
from model.config import TransformerConfig

_EPSILON = 1e-5


@dataclass(frozen=True)
class Layout:
    """Shapes of states ``[rows * length, d_model]`` that belong to ``rows`` sequences of one padded length.

    Attributes:
        flat: ``[-1, d_model]``.
        heads: ``[rows, length, heads, head_dim]``.
        stacked_heads: ``[rows, length, 3 * heads, head_dim]``, of queries, keys and values together.
    """

    flat: str
    heads: str
    stacked_heads: str


class Blocks:
    """Builds sub-layers; ``states`` are two-dimensional, one position a row."""

    def __init__(self, builder: GraphBuilder, arithmetic: Arithmetic, config: TransformerConfig) -> None:
        self.builder = builder
        self.arithmetic = arithmetic
        self.config = config

    def layout(self, ids: str) -> Layout:
        """Shapes that go with ``ids [rows, length]``."""
        builder = self.builder
        shape = builder.node("Shape", ids)
        return Layout(
            flat=builder.ints(-1, self.config.d_model),
            heads=builder.shape(shape, self.config.heads, self.config.head_dim),
            stacked_heads=builder.shape(shape, 3 * self.config.heads, self.config.head_dim),
        )

    def scaled_pieces(self, ids: str, embedding: str) -> str:
        """Embeddings times ``sqrt(d_model)``, one more axis than ``ids``."""
        return self.scaled(self.arithmetic.look_up(ids, embedding), self.config.d_model**0.5)

    def linear(self, states: str, name: str) -> str:
        """``x W + b`` with the weights ``name.weight`` and ``name.bias``."""
        return self.linear_of(self.arithmetic.operand(states, name), name)

    def linear_of(self, operand: Operand, name: str) -> str:
        """``linear`` of states that several products read."""
        return self.arithmetic.product(operand, f"{name}.weight", f"{name}.bias")

    def norm(self, states: str, name: str) -> str:
        """Layer normalisation."""
        vectors = (self.arithmetic.vector(f"{name}.{part}") for part in ("weight", "bias"))
        return self.builder.node("LayerNormalization", states, *vectors, axis=-1, epsilon=_EPSILON)

    def final_norm(self, states: str, name: str) -> str:
        """The norm after a pre-LN stack; the identity for post-LN."""
        return self.norm(states, name) if self.config.norm == "pre" else states

    def residual(self, states: str, name: str, sublayer: Callable[[str], str]) -> str:
        """One sub-layer with its connection, norm before ("pre") or after ("post")."""
        if self.config.norm == "pre":
            return self.builder.node("Add", states, sublayer(self.norm(states, f"{name}.norm")))
        return self.norm(self.builder.node("Add", states, sublayer(states)), f"{name}.norm")

    def feed_forward(self, states: str, name: str) -> str:
        """``max(0, x W_1 + b_1) W_2 + b_2``."""
        hidden = self.linear(states, f"{name}.expand")
        return self.linear_of(self.arithmetic.positive(hidden, f"{name}.contract"), f"{name}.contract")

    def queries(self, merged: str, shape: str) -> str:
        """``[rows * length, heads * head_dim]`` to ``[rows, heads, length, head_dim]``; values likewise."""
        return self.builder.node("Transpose", self.builder.node("Reshape", merged, shape), perm=[0, 2, 1, 3])

    def keys(self, merged: str, shape: str) -> str:
        """``[rows * length, d_model]`` to ``[rows, heads, head_dim, length]``, times ``head_dim ** -0.5``."""
        transposed = self.builder.node("Transpose", self.builder.node("Reshape", merged, shape), perm=[0, 2, 3, 1])
        return self.scaled(transposed, self.config.head_dim**-0.5)

    def self_scores(self, query: str, key: str) -> str:
        """Of queries with keys of the same shape, ``head_dim ** -0.5`` times their products."""
        scale = self.config.head_dim**-0.5
        return self.builder.node("FusedMatMul", query, key, domain=MICROSOFT, transB=1, alpha=scale)

    def attend(self, scores: str, value: str, bias: str, gate: str = "") -> tuple[str, str]:
        """Context ``[rows * length, d_model]`` and weights ``[rows, heads, query, key]``.

        ``bias`` is 0 where a key may be attended to and minus infinity elsewhere: there the weight is exactly 0.
        ``gate [heads, 1, 1]`` multiplies what each head gives, not its weights: a muted head is still shown.
        """
        builder = self.builder
        weights = builder.node("Softmax", builder.node("Add", scores, bias), axis=-1)
        context = builder.node("MatMul", weights, value)
        if gate:
            context = builder.node("Mul", context, gate)
        context = builder.node("Transpose", context, perm=[0, 2, 1, 3])
        return builder.node("Reshape", context, builder.ints(-1, self.config.d_model)), weights

    def gate(self, head_mask: str, layer: int) -> str:
        """Row ``layer`` of a head mask ``[layers, heads]`` as ``[heads, 1, 1]``; no mask, no gate."""
        if not head_mask:
            return ""
        row = self.builder.node("Gather", head_mask, self.builder.constant(layer, np.int64))
        return self.builder.node("Unsqueeze", row, self.builder.ints(1, 2))

    def bias(self, mask: str) -> str:
        """0 where ``mask`` is True, minus infinity where it is False."""
        dtype = helper.tensor_dtype_to_np_dtype(self.arithmetic.element_type)
        zero, never = (self.builder.constant(value, dtype) for value in (0, -np.inf))
        return self.builder.node("Where", mask, zero, never)

    def source_bias(self, source_mask: str) -> str:
        """``[sentences, 1, 1, source_len]``."""
        return self.bias(self.builder.node("Unsqueeze", source_mask, self.builder.ints(1, 2)))

    def scaled(self, tensor: str, factor: float) -> str:
        """``tensor`` times a number."""
        dtype = helper.tensor_dtype_to_np_dtype(self.arithmetic.element_type)
        return self.builder.node("Mul", tensor, self.builder.constant(factor, dtype))

    def log_probs(self, states: str) -> str:
        """Log-probabilities over the vocabulary, float32 whatever the graph computes in."""
        operand = self.arithmetic.operand(states, PROJECTION_INPUT)
        if self.config.tie_embeddings:
            logits = self.arithmetic.projection(operand, EMBEDDING)
        else:
            logits = self.arithmetic.product(operand, PROJECTION)
        if self.arithmetic.element_type != TensorProto.FLOAT:
            logits = self.builder.node("Cast", logits, to=TensorProto.FLOAT)
        return self.builder.node("LogSoftmax", logits, axis=-1)
