"""Training: ``python -m model.train CONFIG CORPORA RUN`` starts a run, the same command resumes it.

CONFIG is a TOML file (``model/configs``), CORPORA a folder of two-column TSV files (plain, .xz, .gz or
.bz2), RUN a folder that gets the tokenizer, the tokenised text, checkpoints, ``log.jsonl`` and
``curve.svg``. ``--exclude`` names a folder of test sets (``NAME.LANGUAGE``): pairs that hold one of their
sentences are left out, of the vocabulary's training too.
``--start`` names a checkpoint whose weights and vocabulary a new run begins with. ``--minutes``, Ctrl-C and
SIGTERM stop with all state saved.
"""

import argparse
import dataclasses
import json
import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from model.batching import Batch, BatchMaker
from model.check_overlap import evaluation_forms
from model.checkpoint import (
    Checkpoint,
    average_checkpoints,
    load_checkpoint,
    save_atomically,
    save_checkpoint,
)
from model.config import ConfigError, RunConfig, load_config
from model.curve import draw_curve
from model.dataset import Corpus, prepare
from model.loss import smoothed_cross_entropy
from model.noise import SourceNoise
from model.optimizer import Optimizer
from model.progress import Progress
from model.schedule import learning_rate
from model.tokenizer import train_tokenizer
from model.transformer import Transformer
from model.validate import check_lengths, check_validation_corpus, validate

_RESUME_FILE = "resume.pt"
LOG_FILE = "log.jsonl"


@dataclass
class Position:
    """How far a run has come; what a resume continues from."""

    step: int = 0
    epoch: int = 0
    batches_of_epoch: int = 0
    target_pieces: int = 0
    seconds: float = 0.0


class Trainer:
    """One run: model, optimiser, data and log."""

    def __init__(self, config: RunConfig, corpora: list[Corpus], tokenizer: Tokenizer, run: Path) -> None:
        """Starts a run, or stands where the one in ``run`` was left.

        Raises:
            ConfigError: ``training.validation_corpus`` is none of ``corpora`` or holds nothing out; or the longest
                sentences have more pieces than the model has positions.
        """
        check_validation_corpus(config.training, corpora)
        check_lengths(config)
        self.config = config
        self.run = run
        self.tokenizer = tokenizer
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.corpora = corpora
        first, second = config.training.languages
        weights = [config.corpora.get(corpus.name, 1.0) for corpus in corpora]
        tag_ids = tokenizer.tag_id(first), tokenizer.tag_id(second)
        noise = SourceNoise(tokenizer) if config.training.source_noise else None
        self.batches = BatchMaker(corpora, weights, tag_ids, tokenizer.special_ids, config.training, noise)
        self.position = Position()
        self.stopping = False
        torch.manual_seed(config.training.seed)
        self.transformer = Transformer(config.transformer).to(self.device)
        self.optimizer = Optimizer(self.transformer, config.training)
        if (run / _RESUME_FILE).exists():
            self._resume()

    def start_from(self, checkpoint: Checkpoint) -> None:
        """Takes over the weights, and counts on from the pieces they have seen; a run that was left goes on instead.

        Raises:
            ConfigError: the checkpoint's Transformer has another shape.
        """
        if self.position.step:
            return
        own = self.config.transformer
        # A model directory does not say what dropout it was trained with; no weight depends on it.
        if dataclasses.replace(checkpoint.config.transformer, dropout=own.dropout) != own:
            raise ConfigError(f"--start is a {checkpoint.config.transformer}, [transformer] {own}")
        self.transformer.load_state_dict(checkpoint.weights)
        self.position.target_pieces = checkpoint.target_pieces

    def train(self, minutes: float) -> None:
        """Steps until ``max_steps`` or the time is over, then saves; a second call goes on exactly there."""
        training = self.config.training
        progress = Progress(training.max_steps, self.position.step)
        deadline = time.monotonic() + 60 * minutes
        stream = self._stream()
        while self.position.step < training.max_steps and time.monotonic() < deadline and not self.stopping:
            started = time.monotonic()
            nll, pieces = self._step([next(stream) for _ in range(training.accumulation)])
            self.position.step += 1
            self.position.target_pieces += pieces
            progress.advance(self.position.step, pieces, nll)
            self.position.seconds += time.monotonic() - started
            # Before the state is saved: a resume from there must not miss the record.
            if self.position.step % training.validation_every == 0:
                self._validate(progress)
            if self.position.step % training.checkpoint_every == 0:
                self._save()
        progress.close()
        self._save()

    def stop(self, *_: object) -> None:
        """Ends ``train`` after the present step; a signal handler."""
        self.stopping = True

    def _step(self, batches: list[Batch]) -> tuple[Tensor, int]:
        """One update from ``accumulation`` batches; the loss stays on the device."""
        training = self.config.training
        self.transformer.train()
        pieces = sum(len(batch.next_ids) for batch in batches)
        total_nll = torch.zeros((), device=self.device)
        for batch in batches:
            share = len(batch.next_ids) / pieces
            loss, nll = batch_loss(self.transformer, batch.to(self.device), training.label_smoothing)
            (loss * share).backward()  # type: ignore[no-untyped-call]
            total_nll += nll.detach() * share
        torch.nn.utils.clip_grad_norm_(self.transformer.parameters(), training.clip_norm)
        self.optimizer.step(learning_rate(self.position.step, training))
        return total_nll, pieces

    def _stream(self) -> Iterator[Batch]:
        """Batches from the current position on."""
        while True:
            for number, batch in enumerate(self.batches.epoch(self.position.epoch)):
                if number < self.position.batches_of_epoch:
                    continue
                self.position.batches_of_epoch += 1
                yield batch
            self.position.epoch += 1
            self.position.batches_of_epoch = 0

    def _save(self) -> None:
        """A numbered checkpoint, and beside it the state for an exact resume."""
        position = self.position
        weights = {name: tensor.detach().cpu() for name, tensor in self.transformer.state_dict().items()}
        checkpoint = Checkpoint(self.config, weights, position.step, position.target_pieces)
        save_checkpoint(checkpoint, self.run / f"step-{position.step:07d}.pt")
        for old in numbered_checkpoints(self.run)[: -self.config.training.checkpoints_kept]:
            old.unlink()
        state: dict[str, Any] = {
            "position": vars(position),
            "weights": weights,
            "optimizer": self.optimizer.state(),
            "random": torch.get_rng_state(),
            "cuda_random": torch.cuda.get_rng_state_all() if self.device.type == "cuda" else [],
        }
        save_atomically(state, self.run / _RESUME_FILE)

    def _resume(self) -> None:
        state = torch.load(self.run / _RESUME_FILE, map_location="cpu", weights_only=True)
        self.position = Position(**state["position"])
        self.transformer.load_state_dict(state["weights"])
        self.optimizer.load_state(state["optimizer"])
        torch.set_rng_state(state["random"])
        if self.device.type == "cuda":
            torch.cuda.set_rng_state_all(state["cuda_random"])
        cut_log(self.run / LOG_FILE, self.position.step)
        print(f"resuming at step {self.position.step:,}")

    def _validate(self, progress: Progress) -> None:
        record: dict[str, float] = {
            "step": self.position.step,
            "target_pieces": self.position.target_pieces,
            "minutes": round(self.position.seconds / 60, 2),
            "learning_rate": learning_rate(self.position.step, self.config.training),
            "train_nll": progress.mean_nll(),
            "pieces_per_second": progress.pieces_per_second(),
        }
        record |= validate(self.transformer, self.batches, self.corpora, self.tokenizer, self.config.training)
        with (self.run / LOG_FILE).open("a", encoding="utf-8") as log:
            log.write(json.dumps(record) + "\n")
        draw_curve(self.run / LOG_FILE, self.run / "curve.svg")
        progress.note(", ".join(f"{name} {value:,.4g}" for name, value in record.items()))


def batch_loss(transformer: Transformer, batch: Batch, smoothing: float) -> tuple[Tensor, Tensor]:
    """Smoothed loss and negative log-likelihood, means over target pieces, in bfloat16 where that is safe."""
    with torch.autocast(batch.source_ids.device.type, dtype=torch.bfloat16):
        memory = transformer.encode(batch.source_ids, batch.source_mask)
        states = transformer.decode(batch.target_ids, memory, batch.source_mask)
        real = states.flatten(0, 1).index_select(0, batch.real_positions)
        return smoothed_cross_entropy(real, transformer.projection.weight, batch.next_ids, smoothing)


def take_over_tokenizer(started_from: Path, own: Path) -> None:
    """Gives a run the vocabulary of the checkpoint that it starts from: with another, its weights mean nothing.

    Raises:
        ConfigError: the run has another one already, or there is none beside the checkpoint.
    """
    if not started_from.exists():
        raise ConfigError(f"--start: {started_from} is missing, the vocabulary of the checkpoint")
    if not own.exists():
        own.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(started_from, own)
    elif own.read_bytes() != started_from.read_bytes():
        raise ConfigError(f"--start: {own} is not {started_from}, the vocabulary of the checkpoint")


def cut_log(log: Path, step: int) -> None:
    """Drops records of steps beyond ``step``, which a resumed run makes again."""
    if log.exists():
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if json.loads(line)["step"] <= step]
        log.write_text("".join(kept), encoding="utf-8")


def numbered_checkpoints(run: Path) -> list[Path]:
    """``step-*.pt`` of a run, oldest first."""
    return sorted(run.glob("step-*.pt"))


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--exclude", type=Path)
    parser.add_argument("--start", type=Path, metavar="CHECKPOINT")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    arguments = parser.parse_args()
    config = load_config(arguments.config)
    excluded = evaluation_forms(arguments.exclude, config.training.languages) if arguments.exclude else []
    tokenizer_path = arguments.run / TOKENIZER_FILE
    if arguments.start:
        take_over_tokenizer(arguments.start.with_name(TOKENIZER_FILE), tokenizer_path)
    elif not tokenizer_path.exists():
        train_tokenizer(config, arguments.corpora, tokenizer_path, excluded)
    tokenizer = Tokenizer(tokenizer_path)
    corpora = prepare(config, arguments.corpora, tokenizer, arguments.run / "data", excluded)
    trainer = Trainer(config, corpora, tokenizer, arguments.run)
    if arguments.start:
        trainer.start_from(load_checkpoint(arguments.start))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, trainer.stop)
    trainer.train(arguments.minutes)
    last = [load_checkpoint(path) for path in numbered_checkpoints(arguments.run)]
    save_checkpoint(average_checkpoints(last), arguments.run / "averaged.pt")
    print(f"averaged {len(last)} checkpoints into {arguments.run / 'averaged.pt'}")


if __name__ == "__main__":
    main()
