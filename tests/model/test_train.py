import dataclasses
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

from app.engine.hypotheses import Hypothesis, SearchOptions
from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from model.batching import collate
from model.checkpoint import load_checkpoint
from model.config import ConfigError, RunConfig
from model.curve import draw_curve, ticks
from model.dataset import prepare
from model.evaluate import open_model, translate_lines
from model.optimizer import Optimizer
from model.scoring import Direction, score, search_all
from model.step_model import TorchStepModel, limits_of
from model.train import Trainer, batch_loss, main, numbered_checkpoints, take_over_tokenizer
from model.transformer import Transformer
from tests.model.tiny import WORDS, tiny_config


def train(config: RunConfig, corpora: Path, tokenizer: Tokenizer, run: Path, minutes: float = 10) -> Trainer:
    trainer = Trainer(config, prepare(config, corpora, tokenizer, run / "data"), tokenizer, run)
    trainer.train(minutes)
    return trainer


class Stopped(Exception):
    pass


@contextmanager
def breaking_down_after(last: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Training inside ends with a fault, nothing saved, once ``last`` steps are done."""
    step = Trainer._step

    def breaks_down(self: Trainer, batches: list[object]) -> object:
        if self.position.step == last:
            raise Stopped
        return step(self, batches)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_step", breaks_down)
        with pytest.raises(Stopped):
            yield


@pytest.mark.parametrize("source_noise", [0.0, 0.5])
def test_a_resumed_run_ends_in_the_same_weights(
    corpora: Path, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source_noise: float
) -> None:
    config = tiny_config(accumulation=2, source_noise=source_noise)
    whole = train(config, corpora, tokenizer, tmp_path / "whole")
    with breaking_down_after(4, monkeypatch):
        train(config, corpora, tokenizer, tmp_path / "parts")
    resumed = train(config, corpora, tokenizer, tmp_path / "parts")
    assert resumed.position.step == whole.position.step == 6
    assert resumed.position.target_pieces == whole.position.target_pieces
    for one, other in zip(whole.transformer.parameters(), resumed.transformer.parameters(), strict=True):
        assert torch.equal(one, other)
    assert [path.name for path in numbered_checkpoints(tmp_path / "parts")] == ["step-0000003.pt", "step-0000006.pt"]


def test_a_run_can_start_from_the_weights_of_another(corpora: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    first = train(tiny_config(), corpora, tokenizer, tmp_path / "first")
    checkpoint = load_checkpoint(numbered_checkpoints(tmp_path / "first")[-1])
    config = tiny_config(max_steps=8)
    second = Trainer(config, prepare(config, corpora, tokenizer, tmp_path / "data"), tokenizer, tmp_path / "second")
    second.start_from(checkpoint)
    for one, other in zip(first.transformer.parameters(), second.transformer.parameters(), strict=True):
        assert torch.equal(one, other)
    assert (second.position.step, second.position.target_pieces) == (0, first.position.target_pieces)
    second.train(10)
    pieces = second.position.target_pieces
    second.start_from(checkpoint)
    assert (second.position.step, second.position.target_pieces) == (8, pieces)
    wider = dataclasses.replace(config, transformer=dataclasses.replace(config.transformer, d_ff=128))
    third = Trainer(wider, second.corpora, tokenizer, tmp_path / "third")
    with pytest.raises(ConfigError, match="d_ff=128"):
        third.start_from(checkpoint)


def test_hidden_matrices_are_updated_by_orthogonal_steps_and_the_rest_by_adam() -> None:
    torch.manual_seed(0)
    config = tiny_config()
    transformer = Transformer(config.transformer)
    before = {name: weights.detach().clone() for name, weights in transformer.named_parameters()}
    for weights in transformer.parameters():
        gradient = torch.randn_like(weights)
        if weights.ndim == 2:
            left, values, right = torch.linalg.svd(gradient, full_matrices=False)
            gradient = left @ torch.diag(torch.linspace(1, 0.1, len(values))) @ right
        weights.grad = gradient
    optimizer = Optimizer(transformer, config.training)
    optimizer.step(1e-3)
    for name, weights in transformer.named_parameters():
        assert weights.grad is None
        update = (weights - before[name]).detach()
        if weights.ndim == 2 and "pieces" not in name:
            # Five Newton-Schulz steps bring singular values near one; those of Adam's step are far apart.
            values = torch.linalg.svdvals(update)
            assert values[0] / values[-1] < 2
        else:
            assert update.abs().max() == pytest.approx(1e-3, rel=0.01)


def test_only_the_newest_checkpoints_stay(corpora: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    train(tiny_config(checkpoint_every=1, checkpoints_kept=2), corpora, tokenizer, tmp_path)
    assert [path.name for path in numbered_checkpoints(tmp_path)] == ["step-0000005.pt", "step-0000006.pt"]


def test_validation_writes_the_log_and_the_curve(corpora: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    config = tiny_config(validation_every=3, validation_corpus="first", validation_sentences=4)
    train(config, corpora, tokenizer, tmp_path)
    records = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [record["step"] for record in records] == [3, 6]
    names = {"train_nll", "nll_first", "nll_second", "bleu_en_fr", "bleu_fr_en", "chrf_en_fr", "chrf_fr_en"}
    assert names <= set(records[0])
    svg = ElementTree.parse(tmp_path / "curve.svg").getroot()
    texts = {element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert {"train nll", "bleu en fr", "target pieces"} <= texts


def test_a_validation_corpus_that_is_not_there_is_named(corpora: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    config = tiny_config(validation_corpus="third")
    prepared = prepare(config, corpora, tokenizer, tmp_path / "data")
    with pytest.raises(ConfigError, match=r"validation_corpus must be one of \['first', 'second'\]"):
        Trainer(config, prepared, tokenizer, tmp_path)


def test_a_validation_corpus_must_hold_something_out(corpora: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    config = tiny_config(validation_corpus="first", held_out_pairs=0)
    prepared = prepare(config, corpora, tokenizer, tmp_path / "data")
    with pytest.raises(ConfigError, match=r"'first' holds nothing out: training\.held_out_pairs is 0"):
        Trainer(config, prepared, tokenizer, tmp_path)


def test_sentences_must_fit_into_the_model(corpora: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    config = tiny_config(max_pieces=63)
    prepared = prepare(config, corpora, tokenizer, tmp_path / "data")
    with pytest.raises(ConfigError, match=r"training\.max_pieces must be at most 62 .* not 63"):
        Trainer(config, prepared, tokenizer, tmp_path)


def test_a_resumed_run_has_every_record_once(
    corpora: Path, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(validation_every=2, checkpoint_every=3)
    with breaking_down_after(5, monkeypatch):
        train(config, corpora, tokenizer, tmp_path)
    train(config, corpora, tokenizer, tmp_path)
    records = [json.loads(line)["step"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert records == [2, 4, 6]


def test_a_run_that_starts_from_a_checkpoint_takes_its_vocabulary(tokenizer_path: Path, tmp_path: Path) -> None:
    own = tmp_path / "run" / TOKENIZER_FILE
    take_over_tokenizer(tokenizer_path, own)
    assert own.read_bytes() == tokenizer_path.read_bytes()
    take_over_tokenizer(tokenizer_path, own)
    own.write_bytes(b"another")
    with pytest.raises(ConfigError, match="the vocabulary of the checkpoint"):
        take_over_tokenizer(tokenizer_path, own)
    with pytest.raises(ConfigError, match="is missing"):
        take_over_tokenizer(tmp_path / "nowhere" / TOKENIZER_FILE, own)


def test_the_command_leaves_test_sets_out_of_vocabulary_and_training(
    corpora: Path, tokenizer_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "news.en").write_text("A cat!\n")
    (tmp_path / "config.toml").write_text("")
    got = []

    def no_tokenizer(config: RunConfig, corpora: Path, output: Path, excluded: object) -> None:
        got.append(excluded)
        output.parent.mkdir()
        shutil.copy(tokenizer_path, output)

    def no_corpora(*arguments: object) -> None:
        got.append(arguments[-1])
        raise Stopped

    monkeypatch.setattr("model.train.train_tokenizer", no_tokenizer)
    monkeypatch.setattr("model.train.prepare", no_corpora)
    command = ["train", str(tmp_path / "config.toml"), str(corpora), str(tmp_path / "run"), "--exclude", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(Stopped):
        main()
    assert got == [[{"acat": "news.en"}, {}]] * 2


def test_twenty_sentences_can_be_learnt_by_heart(tokenizer: Tokenizer) -> None:
    torch.manual_seed(2)
    words = list(WORDS)
    texts = [" ".join(words[(7 * number + 3 * place) % len(words)] for place in range(4)) for number in range(20)]
    sources = [tokenizer.encode_source(text, "en") for text in texts]
    special = tokenizer.special_ids
    targets = [[special.bos, *tokenizer.encode(text), special.eos] for text in texts]
    transformer = Transformer(tiny_config().transformer).train()
    optimizer = torch.optim.Adam(transformer.parameters(), lr=3e-3)
    batch = collate(sources, targets, special.pad)
    for _ in range(250):
        optimizer.zero_grad()
        loss, nll = batch_loss(transformer, batch, 0.1)
        loss.backward()
        optimizer.step()
        if nll.item() < 0.08:
            break
    model = TorchStepModel(transformer.eval(), limits_of(transformer.config, 40, special))
    found = search_all(model, sources, SearchOptions(1, 1.0, 0, 40))
    assert [tokenizer.decode(hypothesis.ids) for hypothesis in found] == texts


def test_a_checkpoint_is_scored_line_by_line(corpora: Path, tokenizer_path: Path, tmp_path: Path) -> None:
    (tmp_path / TOKENIZER_FILE).write_bytes(tokenizer_path.read_bytes())
    train(tiny_config(), corpora, Tokenizer(tokenizer_path), tmp_path)
    path = tmp_path / "step-0000006.pt"
    assert load_checkpoint(path).step == 6
    model, tokenizer = open_model(path, "float32")
    long_line = "the cat sees a red house , " * 12
    lines = ["the cat sees a dog", "", "2024", long_line]
    options = SearchOptions(2, 1.0, 0, 8)
    translations = translate_lines(model, tokenizer, lines, Direction("en", "fr"), options)
    assert len(translations) == 4
    assert translations[1:3] == ["", "2024"]


def test_a_sentence_that_the_model_turns_into_nothing_is_copied(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformer = Transformer(tiny_config().transformer).eval()
    model = TorchStepModel(transformer, limits_of(transformer.config, 40, tokenizer.special_ids))
    monkeypatch.setattr(
        "model.evaluate.search_all", lambda _, sources, __: [Hypothesis((), -1.0, -1.0, "eos") for _ in sources]
    )
    options = SearchOptions(1, 1.0, 0, 8)
    assert translate_lines(model, tokenizer, ["the cat, 2"], Direction("en", "fr"), options) == ["the cat, 2"]


def test_translations_have_the_room_that_serving_gives_them(tokenizer: Tokenizer) -> None:
    shape = dataclasses.replace(tiny_config().transformer, max_positions=256)
    transformer = Transformer(shape).eval()
    with torch.no_grad():
        # Whatever is said, it never ends.
        transformer.projection.weight[tokenizer.special_ids.eos] = 0
        transformer.decoder_norm.bias.add_(transformer.projection.weight[50] * 100)
    model = TorchStepModel(transformer, limits_of(shape, 40, tokenizer.special_ids))
    found = search_all(model, [[5] * 9 + [2], [6, 2]], SearchOptions(1, 1.0, 0, model.limits.target_len))
    assert [len(hypothesis.ids) for hypothesis in found] == [36, 20]
    found = search_all(model, [[5] * 9 + [2], [6, 2]], SearchOptions(1, 1.0, 0, 30))
    assert [len(hypothesis.ids) for hypothesis in found] == [30, 20]


def test_scores_carry_their_signatures() -> None:
    scores = score(["the cat sees a dog"], ["the cat sees a dog"])
    assert scores.bleu == pytest.approx(100)
    assert scores.chrf == pytest.approx(100)
    assert "tok:13a" in scores.bleu_signature
    assert "version:" in scores.chrf_signature


def test_a_log_without_validation_draws_one_panel(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("")
    draw_curve(log, tmp_path / "curve.svg")
    assert not (tmp_path / "curve.svg").exists()
    log.write_text('{"target_pieces": 10, "train_nll": 4.0}\n{"target_pieces": 20, "train_nll": NaN}\n')
    draw_curve(log, tmp_path / "curve.svg")
    assert "BLEU" not in (tmp_path / "curve.svg").read_text()


def test_ticks_are_round_and_cover_the_range() -> None:
    assert ticks(0, 10) == [0, 2, 4, 6, 8, 10]
    assert ticks(1.93, 3.4) == [1.5, 2.0, 2.5, 3.0, 3.5]
    assert ticks(5, 5)[0] <= 5 <= ticks(5, 5)[-1]
