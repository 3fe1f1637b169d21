"""From a model directory back to a checkpoint: for comparison with other software on the same weights."""

import dataclasses

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper

from app.runtime.model_directory import ModelDirectory
from export.quantize import QuantizedMatrix, QuantizedWeights, dequantized
from export.weight_file import scale_name
from model.checkpoint import Checkpoint
from model.config import RunConfig, run_config
from model.transformer import Transformer

Array = npt.NDArray[np.generic]


def restore_checkpoint(directory: ModelDirectory) -> Checkpoint:
    """The float32 weights that the graphs of ``directory`` compute with.

    Training settings are not part of a model directory: those of the result are the defaults.
    """
    shape = dataclasses.asdict(directory.config.architecture)
    config: RunConfig = run_config({"transformer": {**shape, "dropout": 0.0}})
    arrays = _stored_arrays(directory)
    matrices, vectors = {}, {}
    for name, array in arrays.items():
        if (scale := arrays.get(scale_name(name))) is not None:
            axis = 0 if len(scale) == array.shape[0] and name.endswith("embedding") else 1
            matrices[name] = QuantizedMatrix(array.astype(np.int8), scale.astype(np.float32), axis)
        elif not name.endswith(scale_name("")):
            vectors[name] = array.astype(np.float32)
    template = Checkpoint(config, Transformer(config.transformer).state_dict(), step=0, target_pieces=0)
    return dequantized(QuantizedWeights(template, matrices, vectors, ranges={}))


def _stored_arrays(directory: ModelDirectory) -> dict[str, Array]:
    """Everything in the weight file, by the names that the graphs use."""
    config = directory.config
    stored: Array = np.memmap(directory.file(config.weights), dtype=np.uint8, mode="r")
    arrays: dict[str, Array] = {}
    files = {name for pair in config.graphs.values() for name in (pair.encoder, pair.decoder_step)}
    for file in sorted(files):
        model = onnx.load(str(directory.file(file)), load_external_data=False)
        for tensor in model.graph.initializer:
            if tensor.data_location == TensorProto.EXTERNAL:
                arrays[tensor.name] = _read(stored, tensor)
    return arrays


def _read(stored: Array, tensor: TensorProto) -> Array:
    place = {entry.key: entry.value for entry in tensor.external_data}
    start, length = int(place["offset"]), int(place["length"])
    dtype = helper.tensor_dtype_to_np_dtype(tensor.data_type)
    return stored[start : start + length].view(dtype).reshape(tuple(tensor.dims))
