"""From a model directory back to a checkpoint: ``python -m export.restore MODEL_DIRECTORY RUN``.

RUN, a new folder, gets the checkpoint and the vocabulary, so that ``python -m model.train ... --start
RUN/step-0000000.pt`` trains the model further, on other text for instance. Its weights are those that 8 bits left.
"""

import argparse
import dataclasses
import shutil
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper

from app.errors import ModelDirectoryError
from app.runtime.model_directory import ModelDirectory, open_model_directory
from app.text.tokenizer import TOKENIZER_FILE
from export.quantize import QuantizedMatrix, QuantizedWeights, dequantized
from export.smooth import balance
from export.weight_file import scale_name
from model.checkpoint import Checkpoint, save_checkpoint
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


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, metavar="MODEL_DIRECTORY")
    parser.add_argument("run", type=Path, metavar="RUN")
    arguments = parser.parse_args()
    if arguments.run.exists():
        sys.exit(f"{arguments.run} is there already")
    try:
        directory = open_model_directory(arguments.directory)
    except ModelDirectoryError as error:
        sys.exit(str(error))
    checkpoint = arguments.run / "step-0000000.pt"
    save_checkpoint(balance(restore_checkpoint(directory)), checkpoint)
    shutil.copyfile(directory.tokenizer_path, checkpoint.with_name(TOKENIZER_FILE))
    print(f"wrote {checkpoint}")


if __name__ == "__main__":
    main()
