"""The measured layer and rule of word alignment travel with the model."""

from pathlib import Path

import pytest

from app.runtime.model_directory import open_model_directory
from export.export import ExportError, ExportRequest, export_model
from export.model_directory import AlignmentChoice


def request(checkpoint: Path, output: Path, alignment: AlignmentChoice) -> ExportRequest:
    return ExportRequest(checkpoint, output, "tiny", texts=None, force=False, alignment=alignment)


def test_how_words_are_aligned_best_is_written_down(tiny_checkpoint: Path, tmp_path: Path) -> None:
    export_model(request(tiny_checkpoint, tmp_path / "out", AlignmentChoice(1, "shifted")))
    config = open_model_directory(tmp_path / "out").config
    assert (config.alignment_layer, config.alignment_rule) == (1, "shifted")


def test_a_layer_that_the_decoder_does_not_have_is_a_fault(tiny_checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="from 0 to 1, not 2"):
        export_model(request(tiny_checkpoint, tmp_path / "out", AlignmentChoice(2)))
