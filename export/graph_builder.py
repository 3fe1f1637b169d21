"""Writes one ONNX graph node by node."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from export.weight_file import WeightFile

MICROSOFT = "com.microsoft"
_OPSET = 21
_IR_VERSION = 10

Axis = str | int


class GraphBuilder:
    """Collects nodes, constants and weights; every method returns the name of the tensor that it makes."""

    def __init__(self, name: str, weights: WeightFile) -> None:
        self._name = name
        self._weights = weights
        self._nodes: list[onnx.NodeProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._initializers: dict[str, TensorProto] = {}

    def input(self, name: str, element_type: int, axes: Sequence[Axis]) -> str:
        """An input of the graph."""
        self._inputs.append(helper.make_tensor_value_info(name, element_type, axes))
        return name

    def output(self, tensor: str, name: str, element_type: int, axes: Sequence[Axis]) -> None:
        """An output of the graph, taken from ``tensor``."""
        if tensor != name:
            self._nodes.append(helper.make_node("Identity", [tensor], [name], name=name))
        self._outputs.append(helper.make_tensor_value_info(name, element_type, axes))

    def constant(self, value: npt.ArrayLike, dtype: npt.DTypeLike) -> str:
        """A small constant inside the graph; equal ones are stored once."""
        array = np.asarray(value, dtype=dtype)
        name = f"{array.dtype}{array.tolist()}"
        self._initializers.setdefault(name, numpy_helper.from_array(array, name))
        return name

    def ints(self, *values: int) -> str:
        """An int64 vector: axes, shapes, pads."""
        return self.constant(values, np.int64)

    def stored(self, name: str) -> str:
        """A tensor of the weight file."""
        self._initializers.setdefault(name, self._weights.tensor(name))
        return name

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """The only output of ``operator``."""
        return self.nodes(operator, inputs, [self._fresh(operator)], domain, **attributes)[0]

    def nodes(
        self, operator: str, inputs: Sequence[str], outputs: Sequence[str], domain: str = "", **attributes: Any
    ) -> Sequence[str]:
        """All outputs of ``operator``, under the given names."""
        name = self._fresh(operator)
        self._nodes.append(helper.make_node(operator, inputs, outputs, name=name, domain=domain, **attributes))
        return outputs

    def split(self, tensor: str, parts: int, axis: int) -> list[str]:
        """Equal parts along ``axis``."""
        outputs = self.fresh_names("Split", parts)
        self.nodes("Split", [tensor], outputs, axis=axis, num_outputs=parts)
        return outputs

    def fresh_names(self, operator: str, count: int) -> list[str]:
        """Names for the outputs of the next node."""
        return [f"{self._fresh(operator)}_{index}" for index in range(count)]

    def dimension(self, tensor: str, axis: int) -> str:
        """Length of one axis, as a vector of one number."""
        return self.node("Shape", tensor, start=axis, end=axis + 1)

    def shape(self, *parts: str | int) -> str:
        """A shape made of numbers and of vectors computed in the graph."""
        return self.node("Concat", *(self.ints(part) if isinstance(part, int) else part for part in parts), axis=0)

    def model(self) -> onnx.ModelProto:
        """The finished graph; the weights stay in the weight file."""
        graph = helper.make_graph(
            self._nodes, self._name, self._inputs, self._outputs, list(self._initializers.values())
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="vitrail")

    def _fresh(self, operator: str) -> str:
        return f"{operator}_{len(self._nodes)}"
