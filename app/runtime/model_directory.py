"""A model directory on disk: what it holds, and whether it is whole."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from app.errors import ModelDirectoryError

FORMAT_VERSION = 1
CONFIG_FILE = "config.json"
CHECKSUMS_FILE = "checksums.json"
CERTIFICATE_FILE = "certificate.json"
SIGNALS_FILE = "signals.json"
ANALYSIS_FILE = "analysis.json"
WEIGHTS_FILE = "weights.bin"
EXPLAIN_ENCODER_FILE = "explain_encoder.onnx"
EXPLAIN_DECODER_FILE = "explain_decoder.onnx"
COPY_ROWS_FILE = "copy_rows.onnx"

AlignmentRuleName = Literal["predicted", "shifted"]
ALIGNMENT_RULES: tuple[AlignmentRuleName, ...] = ("predicted", "shifted")

T = TypeVar("T")


@dataclass(frozen=True)
class Architecture:
    """Sizes of the Transformer."""

    vocab_size: int
    encoder_layers: int
    decoder_layers: int
    d_model: int
    heads: int
    d_ff: int
    max_positions: int
    norm: str
    positions: str
    tie_embeddings: bool

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return self.d_model // self.heads


@dataclass(frozen=True)
class Limits:
    """Longest sentences in ids: sources with tag and end, targets with end."""

    source_len: int
    target_len: int


@dataclass(frozen=True)
class SpecialPieces:
    """Ids of the pieces that carry structure."""

    pad: int
    bos: int
    eos: int


@dataclass(frozen=True)
class SearchDefaults:
    """How to search where a request does not say.

    Attributes:
        whole_len: a source of more ids is cut and translated in parts, because whole it would come out worse; None:
            only one that is longer than the model reads.
    """

    beam_size: int
    length_penalty: float
    whole_len: int | None = None


@dataclass(frozen=True)
class StepGraphs:
    """File names of the two graphs of one precision."""

    encoder: str
    decoder_step: str


@dataclass(frozen=True)
class ExplainGraphs:
    """File names of the two graphs that explain, both float32."""

    encoder: str
    decoder: str


@dataclass(frozen=True)
class ModelConfig:
    """Content of ``config.json``.

    Attributes:
        revision: hash of weights, graphs, tokenizer and all that stands here; two directories of one revision
            translate alike.
        directions: (source, target) languages.
        alignment_layer: the decoder layer whose cross-attention aligns words best, measured; None if not measured.
        alignment_rule: by which rows it does, those that predict a piece or those that are fed it (``shifted``).
        graphs: by precision: ``int8``, ``float32``, ``float16``.
    """

    format_version: int
    id: str
    revision: str
    languages: tuple[str, ...]
    directions: tuple[tuple[str, str], ...]
    architecture: Architecture
    limits: Limits
    special_ids: SpecialPieces
    search: SearchDefaults
    graphs: dict[str, StepGraphs]
    explain: ExplainGraphs
    copy_rows: str
    weights: str
    tokenizer: str
    alignment_layer: int | None = None
    alignment_rule: AlignmentRuleName = "predicted"

    def files(self) -> tuple[str, ...]:
        """Every file that the configuration names."""
        graphs = [name for pair in self.graphs.values() for name in (pair.encoder, pair.decoder_step)]
        explain = (self.explain.encoder, self.explain.decoder)
        return (*graphs, *explain, self.copy_rows, self.weights, self.tokenizer)


@dataclass(frozen=True)
class ModelDirectory:
    """A verified directory."""

    path: Path
    config: ModelConfig

    def file(self, name: str) -> Path:
        """Where one of its files lies."""
        return self.path / name

    @property
    def tokenizer_path(self) -> Path:
        """The sentencepiece model."""
        return self.file(self.config.tokenizer)

    def certificate(self) -> dict[str, Any]:
        """What was compared when the directory was made."""
        certificate: dict[str, Any] = json.loads(self.file(CERTIFICATE_FILE).read_text(encoding="utf-8"))
        return certificate

    def report(self, name: str) -> dict[str, Any] | None:
        """What was measured of the model and lies beside it, such as ``SIGNALS_FILE``; None where it was not."""
        faults: list[str] = []
        return _read_json(self.file(name), faults) if self.file(name).is_file() else None


def open_model_directory(path: Path) -> ModelDirectory:
    """Verifies format, files and checksums.

    Raises:
        ModelDirectoryError: with every fault that was found.
    """
    if not path.is_dir():
        raise ModelDirectoryError(path, ["there is no such directory"])
    faults: list[str] = []
    checksums = _read_checksums(path, faults)
    config = _read_config(path, faults)
    if config is not None:
        needed = (CONFIG_FILE, CERTIFICATE_FILE, *config.files())
        faults += [f"{name} has no checksum" for name in needed if checksums is not None and name not in checksums]
    if checksums is not None:
        faults += _mismatches(path, checksums)
    if faults or config is None:
        raise ModelDirectoryError(path, faults)
    return ModelDirectory(path, config)


def file_digest(path: Path) -> str:
    """SHA-256 of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def config_to_json(config: ModelConfig) -> str:
    """Text of ``config.json``."""
    return json.dumps(dataclasses.asdict(config), indent=2) + "\n"


def _read_json(path: Path, faults: list[str]) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        faults.append(f"{path.name} is missing")
        return None
    except ValueError as error:
        faults.append(f"{path.name} is not JSON: {error}")
        return None
    if not isinstance(value, dict):
        faults.append(f"{path.name} is not an object")
        return None
    return value


def _read_checksums(path: Path, faults: list[str]) -> dict[str, str] | None:
    return _read_json(path / CHECKSUMS_FILE, faults)


def _mismatches(path: Path, checksums: dict[str, str]) -> list[str]:
    faults = []
    for name, digest in sorted(checksums.items()):
        if Path(name).name != name:
            faults.append(f"{name} is not a plain file name")
        elif not (path / name).is_file():
            faults.append(f"{name} is missing")
        elif file_digest(path / name) != digest:
            faults.append(f"{name} differs from its checksum")
    return faults


def _read_config(path: Path, faults: list[str]) -> ModelConfig | None:
    stored = _read_json(path / CONFIG_FILE, faults)
    if stored is None:
        return None
    version = stored.get("format_version")
    if version != FORMAT_VERSION:
        faults.append(f"format version {version} is not supported, only {FORMAT_VERSION}")
        return None
    try:
        return _build_config(stored)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        faults.append(f"{CONFIG_FILE} does not follow format {FORMAT_VERSION}: {error}")
        return None


def _build_config(stored: dict[str, Any]) -> ModelConfig:
    return ModelConfig(
        **{
            **stored,
            "languages": tuple(stored["languages"]),
            "directions": tuple((source, target) for source, target in stored["directions"]),
            "architecture": _build(Architecture, stored["architecture"]),
            "limits": _build(Limits, stored["limits"]),
            "special_ids": _build(SpecialPieces, stored["special_ids"]),
            "search": _search(stored),
            "graphs": {precision: _build(StepGraphs, pair) for precision, pair in stored["graphs"].items()},
            "explain": _build(ExplainGraphs, stored["explain"]),
            "alignment_layer": _layer(stored),
            "alignment_rule": _rule(stored),
        }
    )


def _search(stored: dict[str, Any]) -> SearchDefaults:
    search, longest = _build(SearchDefaults, stored["search"]), stored["limits"]["source_len"]
    if search.whole_len is not None and not 1 <= search.whole_len <= longest:
        raise ValueError(f"whole_len is {search.whole_len}, the model reads 1 to {longest} ids")
    return search


def _rule(stored: dict[str, Any]) -> str:
    rule: str = stored.get("alignment_rule", ALIGNMENT_RULES[0])
    if rule not in ALIGNMENT_RULES:
        raise ValueError(f"alignment_rule is {rule!r}, there are {', '.join(ALIGNMENT_RULES)}")
    return rule


def _layer(stored: dict[str, Any]) -> int | None:
    layer, layers = stored.get("alignment_layer"), stored["architecture"]["decoder_layers"]
    if layer is not None and (not isinstance(layer, int) or not 0 <= layer < layers):
        raise ValueError(f"alignment_layer is {layer}, the decoder has layers 0 to {layers - 1}")
    return layer


def _build(kind: type[T], table: dict[str, Any]) -> T:
    return kind(**table)
