"""How a graph computes: in integers, or in floats of one width."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from onnx import TensorProto

from export.calibrate import Ranges
from export.graph_builder import MICROSOFT, GraphBuilder
from export.weight_file import scale_name

_LEVELS = 255
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

    def operand(self, states: str, name: str) -> Operand:
        """Makes ``states`` ready for products; ``name`` says of which, as in ``export.calibrate``."""

    def positive(self, states: str, name: str) -> Operand:
        """``operand`` of ``max(0, states)``."""

    def product(self, operand: Operand, matrix: str, bias: str = "") -> str:
        """``operand @ matrix``, the matrix stored ``[inputs, outputs]``, plus the stored vector ``bias``."""

    def projection(self, operand: Operand, embedding: str) -> str:
        """``operand @ embedding.T``, the embedding stored ``[vocab, d_model]``."""

    def look_up(self, ids: str, embedding: str) -> str:
        """Rows of an embedding."""

    def vector(self, name: str) -> str:
        """A stored float32 tensor in the element type of the graph."""


class FloatArithmetic:
    """Float products over de-quantised weights; ONNX Runtime computes these constants when it opens the graph.

    Only the rows of an embedding are turned into floats as they are looked up.
    """

    def __init__(self, builder: GraphBuilder, element_type: int) -> None:
        self.element_type = element_type
        self._builder = builder
        self._made: dict[str, str] = {}

    def operand(self, states: str, name: str) -> Operand:  # noqa: ARG002 (integers need to know)
        """The states themselves."""
        return Operand(states)

    def positive(self, states: str, name: str) -> Operand:
        """See ``Arithmetic``."""
        return self.operand(self._builder.node("Relu", states), name)

    def product(self, operand: Operand, matrix: str, bias: str = "") -> str:
        """See ``Arithmetic``."""
        product = self._builder.node("MatMul", operand.values, self._floats(matrix, by_row=False))
        return self._builder.node("Add", product, self.vector(bias)) if bias else product

    def projection(self, operand: Operand, embedding: str) -> str:
        """See ``Arithmetic``."""
        name = embedding + ".transposed"
        if name not in self._made:
            floats = self._floats(embedding, by_row=True)
            self._made[name] = self._builder.node("Transpose", floats, perm=[1, 0])
        return self._builder.node("MatMul", operand.values, self._made[name])

    def look_up(self, ids: str, embedding: str) -> str:
        """See ``Arithmetic``."""
        rows = _rows(self._builder, ids, embedding)
        wide = self.element_type == TensorProto.FLOAT
        return rows if wide else self._builder.node("Cast", rows, to=self.element_type)

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

    The scale of the states that a product reads is a constant, measured before: no sentence changes another's
    numbers, and nothing is searched for the largest number at every step. Unsigned left factors are what the
    fast kernels take: signed ones ran 20 to 30 times slower.
    """

    element_type: int = TensorProto.FLOAT

    def __init__(self, builder: GraphBuilder, ranges: Ranges) -> None:
        self._builder = builder
        self._ranges = ranges

    def operand(self, states: str, name: str) -> Operand:
        """Rounds the range of these states to 256 levels, of which one is exactly zero."""
        found = self._ranges[name]
        lowest, highest = min(0.0, float(found.lowest.min())), max(0.0, float(found.highest.max()))
        step = max(highest - lowest, _SMALLEST_RANGE) / _LEVELS
        scale = self._builder.constant(step, np.float32)
        zero_point = self._builder.constant(round(-lowest / step), np.uint8)
        return Operand(self._builder.node("QuantizeLinear", states, scale, zero_point), scale, zero_point)

    def positive(self, states: str, name: str) -> Operand:
        """See ``Arithmetic``. The range begins at zero: what is below is rounded to it."""
        assert self._ranges[name].lowest.min() >= 0
        return self.operand(states, name)

    def product(self, operand: Operand, matrix: str, bias: str = "") -> str:
        """See ``Arithmetic``."""
        return self._product(operand, self._builder.stored(matrix), matrix, bias)

    def projection(self, operand: Operand, embedding: str) -> str:
        """See ``Arithmetic``."""
        transposed = self._builder.node("Transpose", self._builder.stored(embedding), perm=[1, 0])
        return self._product(operand, transposed, embedding, "")

    def look_up(self, ids: str, embedding: str) -> str:
        """See ``Arithmetic``."""
        return _rows(self._builder, ids, embedding)

    def vector(self, name: str) -> str:
        """See ``Arithmetic``."""
        return self._builder.stored(name)

    def _product(self, operand: Operand, integers: str, matrix: str, bias: str) -> str:
        builder = self._builder
        inputs = [operand.values, integers, operand.scale, builder.stored(scale_name(matrix)), operand.zero_point]
        if bias:
            inputs += ["", builder.stored(bias)]
        return builder.node("MatMulIntegerToFloat", *inputs, domain=MICROSOFT)


def _rows(builder: GraphBuilder, ids: str, embedding: str) -> str:
    """Rows of an embedding as float32: only those are turned into floats, so that no session keeps the others so."""
    integers = builder.node("Gather", builder.stored(embedding), ids)
    scale = builder.node("Gather", builder.stored(scale_name(embedding)), ids)
    floats = builder.node("Cast", integers, to=TensorProto.FLOAT)
    return builder.node("Mul", floats, builder.node("Unsqueeze", scale, builder.ints(-1)))
