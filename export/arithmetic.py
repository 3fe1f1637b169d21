"""How a graph computes: in integers, or in floats of one width."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from onnx import TensorProto

from export.graph_builder import MICROSOFT, GraphBuilder
from export.weight_file import scale_name

_ZERO_POINT = 128
_SIGNED_LEVELS = 127
_POSITIVE_LEVELS = 255
_SMALLEST_RANGE = 1e-12


@dataclass(frozen=True)
class Operand:
    """Left factors of matrix products, made once and used by as many products as read the same states."""

    values: str
    scale: str = ""
    zero_point: str = ""


class Arithmetic(Protocol):
    """Matrix products and look-ups at one precision; ``states`` are ``[rows, features]``."""

    element_type: int

    def operand(self, states: str, positive: bool = False) -> Operand:
        """Makes ``states`` ready for products; ``positive`` promises that no number is below zero."""

    def product(self, operand: Operand, matrix: str) -> str:
        """``operand @ matrix``, the matrix stored ``[inputs, outputs]``."""

    def projection(self, operand: Operand, embedding: str) -> str:
        """``operand @ embedding.T``, the embedding stored ``[vocab, d_model]``."""

    def look_up(self, ids: str, embedding: str) -> str:
        """Rows of an embedding."""

    def vector(self, name: str) -> str:
        """A stored float32 tensor in the element type of the graph."""


class FloatArithmetic:
    """Float products over de-quantised weights; ONNX Runtime computes these constants when it opens the graph."""

    def __init__(self, builder: GraphBuilder, element_type: int) -> None:
        self.element_type = element_type
        self._builder = builder
        self._made: dict[str, str] = {}

    def operand(self, states: str, positive: bool = False) -> Operand:  # noqa: ARG002 (integers need to know)
        """The states themselves."""
        return Operand(states)

    def product(self, operand: Operand, matrix: str) -> str:
        """See ``Arithmetic``."""
        return self._builder.node("MatMul", operand.values, self._floats(matrix, by_row=False))

    def projection(self, operand: Operand, embedding: str) -> str:
        """See ``Arithmetic``."""
        name = embedding + ".transposed"
        if name not in self._made:
            floats = self._floats(embedding, by_row=True)
            self._made[name] = self._builder.node("Transpose", floats, perm=[1, 0])
        return self._builder.node("MatMul", operand.values, self._made[name])

    def look_up(self, ids: str, embedding: str) -> str:
        """See ``Arithmetic``."""
        return self._builder.node("Gather", self._floats(embedding, by_row=True), ids)

    def vector(self, name: str) -> str:
        """See ``Arithmetic``."""
        stored = self._builder.stored(name)
        if self.element_type == TensorProto.FLOAT:
            return stored
        if name not in self._made:
            self._made[name] = self._builder.node("Cast", stored, to=self.element_type)
        return self._made[name]

    def _floats(self, matrix: str, by_row: bool) -> str:
        if matrix not in self._made:
            builder = self._builder
            scale = builder.stored(scale_name(matrix))
            if by_row:
                scale = builder.node("Unsqueeze", scale, builder.ints(1))
            integers = builder.node("Cast", builder.stored(matrix), to=TensorProto.FLOAT)
            floats = builder.node("Mul", integers, scale)
            wide = self.element_type == TensorProto.FLOAT
            self._made[matrix] = floats if wide else builder.node("Cast", floats, to=self.element_type)
        return self._made[matrix]


class IntegerArithmetic:
    """8-bit integer products.

    Every row of states has a scale of its own, so that no sentence changes another's numbers. Unsigned
    left factors around 128 are what the fast kernels take: signed ones ran 20 to 30 times slower.
    """

    element_type: int = TensorProto.FLOAT

    def __init__(self, builder: GraphBuilder) -> None:
        self._builder = builder
        self._zero_points: dict[int, str] = {}

    def operand(self, states: str, positive: bool = False) -> Operand:
        """Rounds every row to 255 levels."""
        builder = self._builder
        magnitudes = states if positive else builder.node("Abs", states)
        largest = builder.node("ReduceMax", magnitudes, builder.ints(1), keepdims=1)
        safe = builder.node("Max", largest, builder.constant(_SMALLEST_RANGE, np.float32))
        levels = _POSITIVE_LEVELS if positive else _SIGNED_LEVELS
        scale = builder.node("Mul", safe, builder.constant(1 / levels, np.float32))
        row_scale = builder.node("Squeeze", scale, builder.ints(1))
        zero_point = 0 if positive else _ZERO_POINT
        zero_points = self._row_zero_points(row_scale, zero_point)
        values = builder.node("QuantizeLinear", states, row_scale, zero_points, axis=0)
        return Operand(values, scale, builder.constant(zero_point, np.uint8))

    def product(self, operand: Operand, matrix: str) -> str:
        """See ``Arithmetic``."""
        return self._product(operand, self._builder.stored(matrix), matrix)

    def projection(self, operand: Operand, embedding: str) -> str:
        """See ``Arithmetic``."""
        transposed = self._builder.node("Transpose", self._builder.stored(embedding), perm=[1, 0])
        return self._product(operand, transposed, embedding)

    def look_up(self, ids: str, embedding: str) -> str:
        """See ``Arithmetic``."""
        builder = self._builder
        integers = builder.node("Gather", builder.stored(embedding), ids)
        scale = builder.node("Gather", builder.stored(scale_name(embedding)), ids)
        floats = builder.node("Cast", integers, to=TensorProto.FLOAT)
        return builder.node("Mul", floats, builder.node("Unsqueeze", scale, builder.ints(-1)))

    def vector(self, name: str) -> str:
        """See ``Arithmetic``."""
        return self._builder.stored(name)

    def _product(self, operand: Operand, integers: str, matrix: str) -> str:
        builder = self._builder
        one = builder.constant(1, np.float32)
        scale = builder.stored(scale_name(matrix))
        inputs = (operand.values, integers, one, scale, operand.zero_point)
        unscaled = builder.node("MatMulIntegerToFloat", *inputs, domain=MICROSOFT)
        return builder.node("Mul", unscaled, operand.scale)

    def _row_zero_points(self, row_scale: str, zero_point: int) -> str:
        """One zero point a row; all states of a graph have the same rows."""
        if zero_point not in self._zero_points:
            builder = self._builder
            rows = builder.node("Shape", row_scale)
            self._zero_points[zero_point] = builder.node("Expand", builder.constant(zero_point, np.uint8), rows)
        return self._zero_points[zero_point]
