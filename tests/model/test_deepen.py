"""A deeper model is the same model until it is trained."""

import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from model import deepen as command
from model.checkpoint import Checkpoint, load_checkpoint
from model.config import ConfigError
from model.deepen import deepen
from model.loss import smoothed_cross_entropy
from tests.conftest import random_checkpoint, tiny_run_config


@pytest.fixture
def checkpoint() -> Checkpoint:
    return random_checkpoint(tiny_run_config(encoder_layers=3))


def logits(checkpoint: Checkpoint) -> Tensor:
    source, target = torch.randint(4, 400, (2, 3, 20), generator=torch.Generator().manual_seed(3))
    return checkpoint.transformer()(source, torch.ones_like(source, dtype=torch.bool), target).detach()


@pytest.mark.parametrize("layers", [4, 5, 6, 8])
def test_a_deeper_model_says_the_same_to_the_bit(checkpoint: Checkpoint, layers: int) -> None:
    deeper = deepen(checkpoint, layers)
    assert deeper.config.transformer.encoder_layers == layers
    assert torch.equal(logits(deeper), logits(checkpoint))


@pytest.mark.parametrize(("layers", "order"), [(4, [0, 1, 2, 2]), (5, [0, 1, 1, 2, 2]), (8, [0, 0, 1, 1, 1, 2, 2, 2])])
def test_copies_are_spread_among_the_layers(checkpoint: Checkpoint, layers: int, order: list[int]) -> None:
    old = [checkpoint.weights[f"encoder.{layer}.self_attention.qkv.weight"] for layer in range(3)]
    deeper = deepen(checkpoint, layers)
    new = [deeper.weights[f"encoder.{layer}.self_attention.qkv.weight"] for layer in range(layers)]
    assert [next(i for i in range(3) if torch.equal(old[i], weight)) for weight in new] == order


def test_what_was_added_learns(checkpoint: Checkpoint) -> None:
    """Both sub-layers of a copy get a gradient, so a step of training takes them away from zero."""
    transformer = deepen(checkpoint, 4).transformer()
    ids = torch.randint(4, 400, (2, 9), generator=torch.Generator().manual_seed(5))
    states = transformer.decode(ids, transformer.encode(ids, torch.ones_like(ids, dtype=torch.bool)), ids >= 0)
    loss, _ = smoothed_cross_entropy(states.flatten(0, 1), transformer.projection.weight, ids.flatten(), 0.1)
    loss.backward()  # type: ignore[no-untyped-call]
    for name in ("self_attention.output", "feed_forward.contract"):
        gradient = transformer.get_parameter(f"encoder.3.{name}.weight").grad
        assert gradient is not None
        assert gradient.abs().max() > 0


def test_only_a_deeper_pre_ln_model_is_made(checkpoint: Checkpoint) -> None:
    with pytest.raises(ConfigError, match="more than the model's 3, not 3"):
        deepen(checkpoint, 3)
    with pytest.raises(ConfigError, match=r"transformer\.norm must be 'pre'.* not 'post'"):
        deepen(random_checkpoint(tiny_run_config(norm="post")), 8)


def test_the_command_writes_a_run_to_start_from(
    tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    layers = load_checkpoint(tiny_checkpoint).config.transformer.encoder_layers
    run = tmp_path / "deeper"
    arguments = ["deepen", str(tiny_checkpoint), str(run), "--encoder-layers"]
    monkeypatch.setattr(sys, "argv", [*arguments, str(layers + 1)])
    command.main()
    assert capsys.readouterr().out == f"wrote {run / tiny_checkpoint.name}\n"
    assert load_checkpoint(run / tiny_checkpoint.name).config.transformer.encoder_layers == layers + 1
    assert (run / "tokenizer.model").read_bytes() == tiny_checkpoint.with_name("tokenizer.model").read_bytes()
    with pytest.raises(SystemExit, match="deeper is there already"):
        command.main()
    monkeypatch.setattr(sys, "argv", [*arguments[:2], str(tmp_path / "none"), arguments[3], str(layers)])
    with pytest.raises(SystemExit, match=f"more than the model's {layers}, not {layers}"):
        command.main()
    assert not (tmp_path / "none").exists()
