"""Builds a model directory: graphs, weights, tokenizer, configuration, certificate, checksums."""

import hashlib
import json
import shutil
from dataclasses import asdict, dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any

import onnx

from app.runtime import names
from app.runtime.model_directory import (
    CERTIFICATE_FILE,
    CHECKSUMS_FILE,
    CONFIG_FILE,
    COPY_ROWS_FILE,
    EXPLAIN_DECODER_FILE,
    EXPLAIN_ENCODER_FILE,
    FORMAT_VERSION,
    WEIGHTS_FILE,
    AlignmentRuleName,
    Architecture,
    ExplainGraphs,
    Limits,
    ModelConfig,
    SearchDefaults,
    SpecialPieces,
    StepGraphs,
    config_to_json,
    file_digest,
)
from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from export.graphs import (
    ELEMENT_TYPES,
    copy_rows_graph,
    decoder_step_graph,
    encoder_graph,
    explain_decoder_graph,
    explain_encoder_graph,
)
from export.quantize import QuantizedWeights
from export.weight_file import WeightFile
from model.checkpoint import Checkpoint
from model.step_model import limits_of

DEFAULT_SEARCH = SearchDefaults(beam_size=4, length_penalty=1.0)
_REVISION_DIGITS = 12


@dataclass(frozen=True)
class AlignmentChoice:
    """The decoder layer, counted from 0, and the rule that align words best; no layer: not measured."""

    layer: int | None = None
    rule: AlignmentRuleName = "predicted"


NOT_MEASURED = AlignmentChoice()


def build_model_directory(
    weights: QuantizedWeights,
    tokenizer_path: Path,
    directory: Path,
    model_id: str,
    search: SearchDefaults = DEFAULT_SEARCH,
    alignment: AlignmentChoice = NOT_MEASURED,
) -> ModelConfig:
    """Writes everything but certificate and checksums into an empty directory; returns its configuration."""
    write_graphs(weights, directory)
    shutil.copyfile(tokenizer_path, directory / TOKENIZER_FILE)
    unrevised = model_config(weights.checkpoint, Tokenizer(tokenizer_path), model_id, search)
    unrevised = replace(unrevised, alignment_layer=alignment.layer, alignment_rule=alignment.rule)
    config = replace(unrevised, revision=_revision(directory, unrevised))
    (directory / CONFIG_FILE).write_text(config_to_json(config), encoding="utf-8")
    return config


def seal_model_directory(directory: Path, certificate: dict[str, Any]) -> None:
    """Adds the certificate and the checksums, after which the directory can be opened."""
    (directory / CERTIFICATE_FILE).write_text(json.dumps(certificate, indent=2) + "\n", encoding="utf-8")
    checksums = {path.name: file_digest(path) for path in sorted(directory.iterdir())}
    (directory / CHECKSUMS_FILE).write_text(json.dumps(checksums, indent=2) + "\n", encoding="utf-8")


def write_graphs(weights: QuantizedWeights, directory: Path) -> None:
    """All graphs of all precisions, and the weight file that they share."""
    config = weights.checkpoint.config.transformer
    file = WeightFile(weights, WEIGHTS_FILE)
    file.write(directory)
    graphs = {
        EXPLAIN_ENCODER_FILE: explain_encoder_graph(config, file),
        EXPLAIN_DECODER_FILE: explain_decoder_graph(config, file),
        COPY_ROWS_FILE: copy_rows_graph(file),
    }
    for precision in ELEMENT_TYPES:
        graphs[names.encoder_file(precision)] = encoder_graph(config, file, precision)
        graphs[names.decoder_step_file(precision)] = decoder_step_graph(config, file, precision)
    for name, graph in graphs.items():
        (directory / name).write_bytes(graph.SerializeToString(deterministic=True))
        onnx.checker.check_model(str(directory / name))


def model_config(checkpoint: Checkpoint, tokenizer: Tokenizer, model_id: str, search: SearchDefaults) -> ModelConfig:
    """What ``config.json`` says, but for the alignment layer and the revision."""
    run = checkpoint.config
    architecture = {key: value for key, value in asdict(run.transformer).items() if key != "dropout"}
    languages = run.training.languages
    special = tokenizer.special_ids
    limits = limits_of(run.transformer, run.training.max_pieces, special)
    return ModelConfig(
        format_version=FORMAT_VERSION,
        id=model_id,
        revision="",
        languages=languages,
        directions=tuple(permutations(languages, 2)),
        architecture=Architecture(**architecture),
        limits=Limits(limits.source_len, limits.target_len),
        special_ids=SpecialPieces(pad=special.pad, bos=special.bos, eos=special.eos),
        search=search,
        graphs={
            precision: StepGraphs(names.encoder_file(precision), names.decoder_step_file(precision))
            for precision in ELEMENT_TYPES
        },
        explain=ExplainGraphs(EXPLAIN_ENCODER_FILE, EXPLAIN_DECODER_FILE),
        copy_rows=COPY_ROWS_FILE,
        weights=WEIGHTS_FILE,
        tokenizer=TOKENIZER_FILE,
    )


def _revision(directory: Path, unrevised: ModelConfig) -> str:
    digest = hashlib.sha256(config_to_json(unrevised).encode())
    for path in sorted(directory.iterdir()):
        digest.update(f"{path.name} {file_digest(path)}\n".encode())
    return digest.hexdigest()[:_REVISION_DIGITS]
