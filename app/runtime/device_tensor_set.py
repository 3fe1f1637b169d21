"""The tensor sets of a GPU: float16, never seen by the host."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import onnxruntime

from app.engine.step_model import Int64
from app.runtime import names

_DTYPE = np.float16


class DeviceTensorSet:
    """Implements ``app.runtime.tensor_set.TensorSet`` on the device where a session runs.

    All copies are runs of one small graph, ``copy_rows``: it picks rows, then pads or cuts their length, and
    writes to memory that is bound as its output. Not measured on a GPU; the tests run it on the CPU.
    """

    def __init__(self, copy_rows: Any, count: int, shape: Sequence[int], length_axis: int) -> None:
        self._copy_rows = copy_rows
        self._device = "cuda" if "CUDAExecutionProvider" in copy_rows.get_providers() else "cpu"
        self._length_axis = length_axis
        self._shape = tuple(shape)
        self._values = [self._allocate(self._shape) for _ in range(count)]

    @property
    def capacity(self) -> int:
        """See ``TensorSet``."""
        return self._shape[0]

    @property
    def length(self) -> int:
        """See ``TensorSet``."""
        return self._shape[self._length_axis]

    def bind(self, binding: Any, tensor_names: Sequence[str], rows: int, output: bool) -> None:
        """See ``TensorSet``."""
        bind = binding.bind_output if output else binding.bind_input
        for name, value in zip(tensor_names, self._values, strict=True):
            bind(name, self._device, 0, _DTYPE, (rows, *self._shape[1:]), value.data_ptr())

    def resize(self, rows: int, length: int, used: int) -> None:
        """See ``TensorSet``."""
        old, old_shape = self._values, self._shape
        shape = list(old_shape)
        shape[0], shape[self._length_axis] = rows, length
        self._shape = tuple(shape)
        self._values = [self._allocate(self._shape) for _ in old]
        for value, previous in zip(self._values, old, strict=True):
            self._copy(previous, old_shape, np.arange(used), value, 0)

    def move(self, targets: Int64, sources: Int64, length: int) -> None:  # noqa: ARG002 (whole rows are moved)
        """See ``TensorSet``. Sources are copied out first: they may be targets themselves."""
        lowest, highest = int(targets.min()), int(targets.max()) + 1
        parents = np.arange(lowest, highest)
        parents[targets - lowest] = sources
        picked = self._allocate((len(parents), *self._shape[1:]))
        for value in self._values:
            self._copy(value, self._shape, parents, picked, 0)
            self._copy(picked, (len(parents), *self._shape[1:]), np.arange(len(parents)), value, lowest)

    def move_parts(self, targets: Int64, sources: Int64, starts: Int64, stops: Int64) -> None:
        """See ``TensorSet``. Whole rows: a device copies them faster than it is told which parts."""
        self.move(targets, sources, int((stops - starts).max()))

    def append(self, used: int, other: Self, other_used: int) -> None:
        """See ``TensorSet``."""
        for value, added in zip(self._values, other._values, strict=True):
            self._copy(added, other._shape, np.arange(other_used), value, used)

    def _allocate(self, shape: tuple[int, ...]) -> Any:
        return onnxruntime.OrtValue.ortvalue_from_shape_and_type(shape, _DTYPE, self._device, 0)

    def _copy(self, source: Any, source_shape: tuple[int, ...], rows: Int64, target: Any, first: int) -> None:
        """Writes ``rows`` of ``source`` to ``target`` from row ``first`` on, at the length of this set."""
        if len(rows) == 0:
            return
        pads = np.zeros(8, dtype=np.int64)
        pads[4 + self._length_axis] = self.length - source_shape[self._length_axis]
        row_bytes = int(np.prod(self._shape[1:])) * np.dtype(_DTYPE).itemsize
        binding = self._copy_rows.io_binding()
        binding.bind_input(names.TENSOR, self._device, 0, _DTYPE, source_shape, source.data_ptr())
        binding.bind_cpu_input(names.COPIED_ROWS, rows)
        binding.bind_cpu_input(names.PADS, pads)
        shape = (len(rows), *self._shape[1:])
        binding.bind_output(names.COPY, self._device, 0, _DTYPE, shape, target.data_ptr() + first * row_bytes)
        self._copy_rows.run_with_iobinding(binding)
