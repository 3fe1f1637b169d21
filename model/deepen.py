"""Gives a trained model more encoder layers: ``python -m model.deepen CHECKPOINT RUN --encoder-layers 10``.

RUN, a new folder, gets the checkpoint and the vocabulary; ``python -m model.train ... --start RUN/step-....pt`` trains
it further. Until then it is the same model.
"""

import argparse
import dataclasses
import shutil
import sys
from pathlib import Path

import torch
from torch import Tensor

from app.text.tokenizer import TOKENIZER_FILE
from model.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from model.config import ConfigError

_LAST_OF_A_SUBLAYER = ("self_attention.output.", "feed_forward.contract.")


def deepen(checkpoint: Checkpoint, encoder_layers: int) -> Checkpoint:
    """The same model with copies of encoder layers that change nothing, spread evenly among the old ones.

    What a copy would add to its input is zero until it is trained (block expansion, Wu et al. 2024, "LLaMA Pro",
    section 3.2), which needs sub-layers that are only added: pre-LN.

    Raises:
        ConfigError: the model is post-LN, or would not get deeper.
    """
    config = checkpoint.config.transformer
    if config.norm != "pre":
        raise ConfigError(f"transformer.norm must be 'pre' to add layers that change nothing, not {config.norm!r}")
    added = encoder_layers - config.encoder_layers
    if added < 1:
        raise ConfigError(
            f"--encoder-layers must be more than the model's {config.encoder_layers}, not {encoder_layers}"
        )
    # The last of each of ``added`` equal shares of the layers is followed by a copy.
    copied = [-(-(share + 1) * config.encoder_layers // added) - 1 for share in range(added)]
    order = sorted([(layer, False) for layer in range(config.encoder_layers)] + [(layer, True) for layer in copied])
    weights = {name: tensor for name, tensor in checkpoint.weights.items() if not name.startswith("encoder.")}
    for number, (layer, is_copy) in enumerate(order):
        for name, tensor in _layer(checkpoint.weights, layer).items():
            silent = is_copy and name.startswith(_LAST_OF_A_SUBLAYER)
            weights[f"encoder.{number}.{name}"] = torch.zeros_like(tensor) if silent else tensor.clone()
    deeper = dataclasses.replace(config, encoder_layers=encoder_layers)
    return dataclasses.replace(
        checkpoint, config=dataclasses.replace(checkpoint.config, transformer=deeper), weights=weights
    )


def _layer(weights: dict[str, Tensor], number: int) -> dict[str, Tensor]:
    """Tensors of one encoder layer, by their names inside it."""
    prefix = f"encoder.{number}."
    return {name.removeprefix(prefix): tensor for name, tensor in weights.items() if name.startswith(prefix)}


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--encoder-layers", type=int, required=True)
    arguments = parser.parse_args()
    if arguments.run.exists():
        sys.exit(f"{arguments.run} is there already")
    try:
        deeper = deepen(load_checkpoint(arguments.checkpoint), arguments.encoder_layers)
    except ConfigError as error:
        sys.exit(str(error))
    path = arguments.run / arguments.checkpoint.name
    save_checkpoint(deeper, path)
    shutil.copyfile(arguments.checkpoint.with_name(TOKENIZER_FILE), path.with_name(TOKENIZER_FILE))
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
