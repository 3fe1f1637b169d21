from pathlib import Path

import pytest
import torch

from model.checkpoint import Checkpoint, average_checkpoints, load_checkpoint, save_checkpoint
from model.config import ConfigError, load_config, run_config
from model.transformer import Transformer
from tests.model.tiny import tiny_config


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"transformers": {}}, "unknown table: transformers"),
        ({"transformer": {"layers": 3}}, r"unknown key in \[transformer\]: layers"),
        ({"training": {"speed": 3}}, r"unknown key in \[training\]: speed"),
        ({"transformer": {"heads": 3}}, "transformer.heads must be a divisor of d_model 512, not 3"),
        ({"transformer": {"d_model": 9, "heads": 3}}, "transformer.d_model must be even"),
        ({"transformer": {"encoder_layers": 0}}, "transformer.encoder_layers must be at least 1"),
        ({"transformer": {"max_positions": 100}}, "transformer.max_positions must be a multiple of 16"),
        ({"transformer": {"dropout": 1.0}}, "transformer.dropout"),
        ({"transformer": {"norm": "middle"}}, "transformer.norm must be one of"),
        ({"transformer": {"positions": "none"}}, "transformer.positions"),
        ({"tokenizer": {"segmentation": "words"}}, "tokenizer.segmentation"),
        ({"training": {"batch_tokens": 0}}, "training.batch_tokens must be at least 1"),
        ({"training": {"languages": ["en"]}}, "training.languages must be two different codes"),
        ({"training": {"label_smoothing": -0.1}}, r"training.label_smoothing must be in \[0, 1\), not -0.1"),
        ({"training": {"peak_learning_rate": 0}}, "training.peak_learning_rate must be above 0, not 0"),
        ({"training": {"held_out_pairs": -1}}, "training.held_out_pairs must be at least 0, not -1"),
        ({"training": {"validation_sentences": 0}}, "training.validation_sentences must be at least 1"),
        ({"corpora": {"books": -1}}, "corpora.books must be at least 0, not -1"),
        ({"corpora": {"books": 0}}, "corpora must be above 0 for one at least"),
        ({"training": {"max_steps": 5, "cooldown_steps": 6}}, "training.cooldown_steps must be at most max_steps 5"),
    ],
)
def test_a_faulty_configuration_is_refused_by_name(tables: dict[str, dict[str, object]], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        run_config(tables)


def test_toml_survives_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        '[transformer]\nvocab_size = 40\nd_model = 16\nheads = 2\nd_ff = 8\nnorm = "pre"\n'
        '[training]\nlanguages = ["en", "de"]\nlabel_smoothing = 0.2\n[corpora]\nbooks = 2\nlaws = 0.5\n'
    )
    config = load_config(path)
    assert config.training.languages == ("en", "de")
    assert config.corpora == {"books": 2.0, "laws": 0.5}
    weights = Transformer(config.transformer).state_dict()
    save_checkpoint(Checkpoint(config, weights, 7, 900), tmp_path / "one.pt")
    loaded = load_checkpoint(tmp_path / "one.pt")
    assert (loaded.config, loaded.step, loaded.target_pieces) == (config, 7, 900)
    assert not loaded.transformer().training


def test_the_configurations_that_come_with_the_project_load() -> None:
    paths = sorted(Path("model/configs").glob("*.toml"))
    assert paths
    for path in paths:
        load_config(path)


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    torch.save({"weights": {}, "position": {}}, tmp_path / "resume.pt")
    with pytest.raises(ValueError, match=r"resume\.pt is no checkpoint: it lacks config, step, target_pieces"):
        load_checkpoint(tmp_path / "resume.pt")


def test_averaging_takes_the_mean_of_every_weight() -> None:
    config = tiny_config()
    checkpoints = [
        Checkpoint(
            config,
            {name: tensor.detach() for name, tensor in Transformer(config.transformer).state_dict().items()},
            step,
            step,
        )
        for step in (1, 2, 3)
    ]
    average = average_checkpoints(checkpoints)
    assert average.step == 3
    for name, tensor in average.weights.items():
        mean = sum(checkpoint.weights[name] for checkpoint in checkpoints) / 3
        assert tensor.allclose(mean, atol=1e-6)
