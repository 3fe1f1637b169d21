import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

from collections.abc import Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest
import torch

from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from export.export import ExportRequest, export_model
from model.checkpoint import Checkpoint, save_checkpoint
from model.config import RunConfig, TrainingConfig, TransformerConfig
from model.tokenizer import train_tokenizer
from model.transformer import Transformer
from tests.scripted_world import World

# A busy machine is no fault. Continuous integration judges the change, so its examples are always the same;
# everywhere else they are new ones each time.
hypothesis.settings.register_profile("vitrail", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis.settings.load_profile("vitrail")

# Threads of torch wait for each other longer than these models compute.
torch.set_num_threads(1)

PAIRS = (
    ("The cat sleeps on the old chair.", "Le chat dort sur la vieille chaise."),
    ("We are going to the market tomorrow.", "Nous allons au marché demain."),
    ("She reads a book every evening.", "Elle lit un livre tous les soirs."),
    ("Where is the nearest railway station?", "Où est la gare la plus proche ?"),
    ("I would like a cup of coffee, please.", "Je voudrais une tasse de café, s'il vous plaît."),
    ("The children play in the garden.", "Les enfants jouent dans le jardin."),
    ("It has been raining since this morning.", "Il pleut depuis ce matin."),
    ("They bought a small house near the sea.", "Ils ont acheté une petite maison près de la mer."),
    ("He forgot his keys at the office again.", "Il a encore oublié ses clés au bureau."),
    ("My brother plays the violin very well.", "Mon frère joue très bien du violon."),
    ("The window lets the coloured light in.", "Le vitrail laisse entrer la lumière colorée."),
    ("Open the door and turn off the lamp.", "Ouvre la porte et éteins la lampe."),
)


def tiny_run_config(**transformer: object) -> RunConfig:
    """A model of 3 + 2 layers, small enough to export in a second."""
    shape = {"vocab_size": 420, "encoder_layers": 3, "decoder_layers": 2, "d_model": 64, "heads": 4, "d_ff": 96}
    return RunConfig(
        transformer=TransformerConfig(**{**shape, "norm": "pre", "max_positions": 160, **transformer}),  # type: ignore[arg-type]
        training=TrainingConfig(max_pieces=100),
    )


def random_checkpoint(config: RunConfig) -> Checkpoint:
    """Untrained weights, with embeddings and norms far enough from their start that every part matters."""
    torch.manual_seed(1)
    transformer = Transformer(config.transformer)
    with torch.no_grad():
        for name, parameter in transformer.named_parameters():
            if parameter.ndim == 1:
                parameter.add_(0.2 * torch.randn_like(parameter))
            elif "pieces" in name:
                parameter.mul_(2)
    return Checkpoint(config, {name: tensor.detach() for name, tensor in transformer.state_dict().items()}, 1, 1)


@pytest.fixture(scope="session")
def tiny_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    corpora = folder / "corpora"
    corpora.mkdir()
    (corpora / "pairs.tsv").write_text("".join(f"{en}\t{fr}\n" for en, fr in PAIRS), encoding="utf-8")
    train_tokenizer(tiny_run_config(), corpora, folder / TOKENIZER_FILE)
    return folder / TOKENIZER_FILE


@pytest.fixture(scope="session")
def tiny_checkpoint(tiny_tokenizer: Path) -> Path:
    """A pre-LN checkpoint with random weights, its tokenizer beside it."""
    path = tiny_tokenizer.with_name("tiny.pt")
    save_checkpoint(random_checkpoint(tiny_run_config()), path)
    return path


@pytest.fixture(scope="session")
def tiny_model_directory(tiny_checkpoint: Path) -> Path:
    """``tiny_checkpoint`` exported, every check passed."""
    output = tiny_checkpoint.with_name("tiny-en-fr")
    export_model(ExportRequest(tiny_checkpoint, output, "tiny-en-fr", texts=None, force=False))
    return output


def random_pairs(config: RunConfig) -> list[tuple[list[int], list[int]]]:
    """Pieces at random, to calibrate a model with that has learned nothing."""
    random = np.random.default_rng(0)
    lengths = random.integers(1, config.transformer.max_positions, 100).tolist()
    return [tuple(random.integers(0, config.transformer.vocab_size, (2, length)).tolist()) for length in lengths]


@pytest.fixture
def world(tiny_tokenizer: Path) -> Iterator[World]:
    world = World(Tokenizer(tiny_tokenizer))
    yield world
    world.engine.stop(5)
