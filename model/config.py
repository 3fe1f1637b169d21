"""Configuration of a model and of its training: frozen dataclasses read from one TOML file."""

import dataclasses
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

T = TypeVar("T")
Norm = Literal["pre", "post"]
Positions = Literal["sinusoidal", "learned"]
Segmentation = Literal["bpe", "unigram"]


class ConfigError(ValueError):
    """A configuration file that cannot be used; the message names the key and what is allowed."""


@dataclass(frozen=True)
class TransformerConfig:
    """Shape of an encoder-decoder Transformer (Vaswani et al. 2017, section 3 and table 3)."""

    vocab_size: int = 32_000
    encoder_layers: int = 6
    decoder_layers: int = 6
    d_model: int = 512
    heads: int = 8
    d_ff: int = 2048
    dropout: float = 0.1
    norm: Norm = "post"
    positions: Positions = "sinusoidal"
    tie_embeddings: bool = True
    max_positions: int = 512

    def __post_init__(self) -> None:
        for name in ("vocab_size", "encoder_layers", "decoder_layers", "d_model", "heads", "d_ff", "max_positions"):
            _require(getattr(self, name) >= 1, f"transformer.{name}", "at least 1", getattr(self, name))
        _require(
            self.d_model % self.heads == 0, "transformer.heads", f"a divisor of d_model {self.d_model}", self.heads
        )
        _require(self.d_model % 2 == 0, "transformer.d_model", "even", self.d_model)
        multiple = "a multiple of 16, to which serving pads sources"
        _require(self.max_positions % 16 == 0, "transformer.max_positions", multiple, self.max_positions)
        _require(0 <= self.dropout < 1, "transformer.dropout", "in [0, 1)", self.dropout)
        _require(self.norm in get_args(Norm), "transformer.norm", f"one of {get_args(Norm)}", self.norm)
        _require(
            self.positions in get_args(Positions),
            "transformer.positions",
            f"one of {get_args(Positions)}",
            self.positions,
        )

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return self.d_model // self.heads


@dataclass(frozen=True)
class TokenizerConfig:
    """Training of the shared subword vocabulary."""

    segmentation: Segmentation = "bpe"
    characters_per_corpus: int = 50_000_000

    def __post_init__(self) -> None:
        _require(
            self.segmentation in get_args(Segmentation),
            "tokenizer.segmentation",
            f"one of {get_args(Segmentation)}",
            self.segmentation,
        )


@dataclass(frozen=True)
class TrainingConfig:
    """Optimisation (Vaswani et al. 2017, section 5), batching and bookkeeping."""

    languages: tuple[str, str] = ("en", "fr")
    seed: int = 1
    max_steps: int = 100_000
    batch_tokens: int = 25_000
    accumulation: int = 1
    max_pieces: int = 120
    peak_learning_rate: float = 7e-4
    warmup_steps: int = 4_000
    cooldown_steps: int = 0
    matrix_rate_factor: float = 2.0
    adam_beta2: float = 0.98
    label_smoothing: float = 0.1
    source_noise: float = 0.0
    clip_norm: float = 1.0
    held_out_pairs: int = 1_000
    validation_corpus: str = ""
    validation_sentences: int = 200
    validation_every: int = 2_000
    checkpoint_every: int = 1_000
    checkpoints_kept: int = 5

    def __post_init__(self) -> None:
        _require(
            self.max_steps >= self.cooldown_steps,
            "training.cooldown_steps",
            f"at most max_steps {self.max_steps}",
            self.cooldown_steps,
        )
        two = len(set(self.languages)) == len(self.languages) == 2
        _require(two, "training.languages", "two different codes", self.languages)
        _require(0 <= self.source_noise <= 1, "training.source_noise", "from 0 to 1", self.source_noise)
        _require(0 <= self.label_smoothing < 1, "training.label_smoothing", "in [0, 1)", self.label_smoothing)
        _require(0 <= self.adam_beta2 < 1, "training.adam_beta2", "in [0, 1)", self.adam_beta2)
        for name in ("peak_learning_rate", "matrix_rate_factor", "clip_norm"):
            _require(getattr(self, name) > 0, f"training.{name}", "above 0", getattr(self, name))
        for name in ("held_out_pairs", "cooldown_steps"):
            _require(getattr(self, name) >= 0, f"training.{name}", "at least 0", getattr(self, name))
        for name in (
            "max_steps",
            "batch_tokens",
            "accumulation",
            "max_pieces",
            "warmup_steps",
            "validation_sentences",
            "validation_every",
            "checkpoint_every",
            "checkpoints_kept",
        ):
            _require(getattr(self, name) >= 1, f"training.{name}", "at least 1", getattr(self, name))


@dataclass(frozen=True)
class RunConfig:
    """All that defines a training run. ``corpora`` maps a file's name to how often an epoch repeats it."""

    transformer: TransformerConfig = field(default_factory=TransformerConfig)
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    corpora: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, weight in self.corpora.items():
            _require(weight >= 0, f"corpora.{name}", "at least 0", weight)
        _require(not self.corpora or any(self.corpora.values()), "corpora", "above 0 for one at least", self.corpora)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as stored in a checkpoint; ``run_config`` reads them back."""
        return dataclasses.asdict(self)


def load_config(path: Path) -> RunConfig:
    """Reads a TOML file.

    Raises:
        ConfigError: an unknown table or key, or a value outside its range.
    """
    with path.open("rb") as file:
        return run_config(tomllib.load(file))


def run_config(tables: dict[str, Any]) -> RunConfig:
    """Builds the configuration from plain tables; see ``load_config``."""
    known = {item.name for item in dataclasses.fields(RunConfig)}
    _reject_unknown("table", set(tables), known)
    return RunConfig(
        transformer=_build(TransformerConfig, tables.get("transformer", {}), "transformer"),
        tokenizer=_build(TokenizerConfig, tables.get("tokenizer", {}), "tokenizer"),
        training=_build(TrainingConfig, tables.get("training", {}), "training"),
        corpora={name: float(weight) for name, weight in tables.get("corpora", {}).items()},
    )


def _build(kind: type[T], table: dict[str, Any], name: str) -> T:
    known = {item.name for item in dataclasses.fields(kind)}  # type: ignore[arg-type]
    _reject_unknown(f"key in [{name}]", set(table), known)
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return kind(**values)


def _reject_unknown(what: str, given: set[str], known: set[str]) -> None:
    if unknown := sorted(given - known):
        raise ConfigError(f"unknown {what}: {', '.join(unknown)}; known: {', '.join(sorted(known))}")


def _require(condition: bool, key: str, rule: str, value: object) -> None:
    if not condition:
        raise ConfigError(f"{key} must be {rule}, not {value!r}")
