"""Growing sets of equally shaped tensors, of which ONNX Runtime sees a prefix of rows without a copy."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from app.engine.step_model import Int64

Array = npt.NDArray[Any]


class TensorSet(Protocol):
    """The same rows of several tensors ``[rows, heads, ...]``, one axis of which is a length.

    Memory is reserved for more rows than are in use.
    """

    @property
    def capacity(self) -> int:
        """Rows that there is room for."""

    @property
    def length(self) -> int:
        """Room along the length axis."""

    def bind(self, binding: Any, names: Sequence[str], rows: int, output: bool) -> None:
        """Binds the first ``rows`` rows of every tensor to an input or output of a session."""

    def resize(self, rows: int, length: int, used: int) -> None:
        """Moves the first ``used`` rows to memory for ``rows`` and ``length``; what is new of a length is zero."""

    def move(self, targets: Int64, sources: Int64, length: int) -> None:
        """Row ``targets[i]`` becomes what row ``sources[i]`` was, at least up to ``length``."""

    def move_parts(self, targets: Int64, sources: Int64, starts: Int64, stops: Int64) -> None:
        """As ``move``, at least from ``starts[i]`` to before ``stops[i]``; before ``starts[i]`` both rows agree.

        For tensors ``[rows, heads, length, features]`` only.
        """

    def append(self, used: int, other: Self, other_used: int) -> None:
        """Copies the first ``other_used`` rows of ``other``, not longer than these, behind the first ``used``."""


NewTensorSet = Callable[[int, Sequence[int], int], TensorSet]
"""``new_tensors(count, shape, length_axis)`` makes a set of one kind of memory."""


class HostTensorSet:
    """Tensors in CPU memory. The operating system gives pages only to what is written."""

    def __init__(self, count: int, shape: Sequence[int], length_axis: int, dtype: npt.DTypeLike) -> None:
        self._length_axis = length_axis
        self._dtype = np.dtype(dtype)
        self._arrays = [np.empty(shape, self._dtype) for _ in range(count)]
        self._opaque: list[Array] = []

    @property
    def capacity(self) -> int:
        """See ``TensorSet``."""
        return int(self._arrays[0].shape[0])

    @property
    def length(self) -> int:
        """See ``TensorSet``."""
        return int(self._arrays[0].shape[self._length_axis])

    def bind(self, binding: Any, names: Sequence[str], rows: int, output: bool) -> None:
        """See ``TensorSet``."""
        bind = binding.bind_output if output else binding.bind_input
        for name, array in zip(names, self._arrays, strict=True):
            bind(name, "cpu", 0, self._dtype, (rows, *array.shape[1:]), array.ctypes.data)

    def resize(self, rows: int, length: int, used: int) -> None:
        """See ``TensorSet``."""
        # First, because views keep all old memory while the new is made.
        self._opaque = []
        kept = self._part(slice(0, used), min(length, self.length))
        for index, array in enumerate(self._arrays):
            shape = list(array.shape)
            shape[0], shape[self._length_axis] = rows, length
            # Unused keys and values get a weight of zero, which only finite numbers survive.
            resized = np.zeros(shape, self._dtype)
            resized[kept] = array[kept]
            self._arrays[index] = resized

    def move(self, targets: Int64, sources: Int64, length: int) -> None:
        """See ``TensorSet``."""
        into, out_of = self._part(targets, length), self._part(sources, length)
        for array in self._arrays:
            array[into] = array[out_of]

    def move_parts(self, targets: Int64, sources: Int64, starts: Int64, stops: Int64) -> None:
        """See ``TensorSet``."""
        lengths = stops - starts
        offsets = np.repeat(np.cumsum(lengths) - lengths - starts, lengths)
        positions = np.arange(len(offsets)) - offsets
        _, heads, length, _ = self._arrays[0].shape
        rows = np.repeat(np.stack([targets, sources]), lengths, axis=1)
        # Where all heads of these positions lie, each position of each row a place.
        first = (rows * (heads * length) + positions)[:, :, None]
        into, out_of = (first + np.arange(0, heads * length, length)).reshape(2, -1)
        for places in self._places():
            places[into] = places[out_of]

    def _places(self) -> list[Array]:
        """All positions of all heads of each tensor, one opaque value each: numpy then moves 128 bytes, not 4."""
        if not self._opaque:
            features = self._arrays[0].shape[-1]
            place = f"V{features * self._dtype.itemsize}"
            self._opaque = [array.reshape(-1, features).view(place)[:, 0] for array in self._arrays]
        return self._opaque

    def append(self, used: int, other: Self, other_used: int) -> None:
        """See ``TensorSet``."""
        into = self._part(slice(used, used + other_used), other.length)
        for array, added in zip(self._arrays, other._arrays, strict=True):
            array[into] = added[:other_used]

    def _part(self, rows: slice | Int64, length: int) -> tuple[Any, ...]:
        return (rows, *[slice(None)] * (self._length_axis - 1), slice(0, length))
