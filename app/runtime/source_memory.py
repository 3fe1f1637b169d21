"""Sources as decoder steps see them: padded ids, masks, encoder keys and values."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from app.engine.step_model import Int64
from app.runtime import names
from app.runtime.model_directory import Architecture
from app.runtime.tensor_set import NewTensorSet


class CrossMemory:
    """Mask, keys and values of the sources; rows are sentences."""

    def __init__(
        self, architecture: Architecture, source_mask: npt.NDArray[np.bool_], new_tensors: NewTensorSet
    ) -> None:
        sentences, source_len = source_mask.shape
        heads, head_dim, layers = architecture.heads, architecture.head_dim, architecture.decoder_layers
        self.mask = source_mask
        self.keys = new_tensors(layers, (sentences, heads, head_dim, source_len), 3)
        self.values = new_tensors(layers, (sentences, heads, source_len, head_dim), 2)
        self._key_names = [names.cross_key(layer) for layer in range(layers)]
        self._value_names = [names.cross_value(layer) for layer in range(layers)]

    def bind(self, binding: Any, sentences: int, output: bool) -> None:
        """Binds the first ``sentences`` sentences, as inputs or as outputs of a session."""
        self.keys.bind(binding, self._key_names, sentences, output)
        self.values.bind(binding, self._value_names, sentences, output)

    def resize(self, sentences: int, source_len: int, used: int) -> None:
        """See ``TensorSet.resize``."""
        mask = np.zeros((sentences, source_len), dtype=np.bool_)
        length = min(source_len, self.mask.shape[1])
        mask[:used, :length] = self.mask[:used, :length]
        self.mask = mask
        self.keys.resize(sentences, source_len, used)
        self.values.resize(sentences, source_len, used)

    def move(self, targets: Int64, sources: Int64) -> None:
        """See ``TensorSet.move``."""
        self.mask[targets] = self.mask[sources]
        self.keys.move(targets, sources, self.keys.length)
        self.values.move(targets, sources, self.values.length)

    def append(self, used: int, other: "CrossMemory", other_used: int) -> None:
        """See ``TensorSet.append``."""
        added = self.mask[used : used + other_used]
        added[:] = False
        added[:, : other.mask.shape[1]] = other.mask[:other_used]
        self.keys.append(used, other.keys, other_used)
        self.values.append(used, other.values, other_used)


def padded_len(source_len: int) -> int:
    """The next multiple that a sentence's numbers do not depend on."""
    multiple = names.SOURCE_LEN_MULTIPLE
    return -(-source_len // multiple) * multiple


def pad_sources(sources: Sequence[Sequence[int]], pad: int) -> tuple[Int64, npt.NDArray[np.bool_]]:
    """``source_ids`` and ``source_mask``, both ``[sentences, source_len]``."""
    source_ids = np.full((len(sources), padded_len(max(map(len, sources)))), pad, dtype=np.int64)
    source_mask = np.zeros(source_ids.shape, dtype=np.bool_)
    for row, source in enumerate(sources):
        source_ids[row, : len(source)] = source
        source_mask[row, : len(source)] = True
    return source_ids, source_mask


def bind_array(binding: Any, name: str, array: npt.NDArray[Any]) -> None:
    """Binds an array as an input; it must live until the session has run."""
    binding.bind_input(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
