"""The one weight file of a model directory, which every graph points into."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from onnx import StringStringEntryProto, TensorProto, helper

from export.quantize import QuantizedWeights

_ALIGNMENT = 4096


def scale_name(matrix: str) -> str:
    """Under which name the scale of a matrix is stored."""
    return matrix + ".scale"


class WeightFile:
    """Lays out tensors one after the other; ``write`` makes the file, ``tensor`` a graph's reference to it.

    Attributes:
        ranges: of the states that products read.
    """

    def __init__(self, weights: QuantizedWeights, name: str) -> None:
        self.ranges = weights.ranges
        self._name = name
        self._arrays: dict[str, npt.NDArray[np.generic]] = {}
        self._offsets: dict[str, int] = {}
        self._end = 0
        for matrix_name, matrix in weights.matrices.items():
            self._add(matrix_name, matrix.values)
            self._add(scale_name(matrix_name), matrix.scale)
        for vector_name, vector in weights.vectors.items():
            self._add(vector_name, vector)

    def tensor(self, name: str) -> TensorProto:
        """An initialiser whose data lie in the file."""
        array = self._arrays[name]
        tensor = TensorProto(
            name=name,
            dims=array.shape,
            data_type=helper.np_dtype_to_tensor_dtype(array.dtype),
            data_location=TensorProto.EXTERNAL,
        )
        place = {"location": self._name, "offset": self._offsets[name], "length": array.nbytes}
        tensor.external_data.extend(StringStringEntryProto(key=key, value=str(value)) for key, value in place.items())
        return tensor

    def write(self, directory: Path) -> None:
        """Writes the file into ``directory``."""
        with (directory / self._name).open("wb") as file:
            for name, array in self._arrays.items():
                file.seek(self._offsets[name])
                file.write(np.ascontiguousarray(array).tobytes())

    def _add(self, name: str, array: npt.NDArray[np.generic]) -> None:
        self._arrays[name] = array
        # Page-aligned offsets let ONNX Runtime map the file instead of reading it.
        self._offsets[name] = -(-self._end // _ALIGNMENT) * _ALIGNMENT
        self._end = self._offsets[name] + array.nbytes
