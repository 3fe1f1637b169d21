"""Random weights, to measure sizes that nobody has trained: ``python -m tests.benchmarks.random_model CONFIG OUT``.

It has the tokenizer of the bundled model, and as many pieces. An end of sentence is as unlikely as any other piece,
so every translation has the length where the search is cut: the work of each sentence is known.
"""

import argparse
import dataclasses
import random
from pathlib import Path

import torch

from app.settings import Settings
from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from export.model_directory import build_model_directory, seal_model_directory
from export.quantize import quantize
from model.checkpoint import Checkpoint
from model.config import load_config
from model.transformer import Transformer

_CALIBRATED = 8
_PIECES = 30


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("output", type=Path, help="a directory that does not exist")
    asked = parser.parse_args()
    tokenizer_path = Settings().model / TOKENIZER_FILE
    vocab_size = Tokenizer(tokenizer_path).vocab_size
    config = load_config(asked.config)
    shape = dataclasses.replace(config.transformer, vocab_size=vocab_size)
    torch.manual_seed(0)
    weights = Transformer(shape).state_dict()
    checkpoint = Checkpoint(dataclasses.replace(config, transformer=shape), weights, step=0, target_pieces=0)
    chance = random.Random(0)
    pairs = [[[chance.randrange(vocab_size) for _ in range(_PIECES)] for _ in range(2)] for _ in range(_CALIBRATED)]
    asked.output.mkdir(parents=True)
    name = f"random-{asked.config.stem}"
    build_model_directory(quantize(checkpoint, [(a, b) for a, b in pairs]), tokenizer_path, asked.output, name)
    seal_model_directory(asked.output, {"quality": []})


if __name__ == "__main__":
    main()
