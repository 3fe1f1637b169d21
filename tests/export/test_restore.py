"""A model directory becomes a run that training goes on from."""

import sys
from pathlib import Path

import pytest
import torch

from app.runtime.model_directory import open_model_directory
from export import restore
from export.restore import restore_checkpoint
from model.checkpoint import load_checkpoint
from model.train import take_over_tokenizer


def test_a_restored_model_is_one_to_start_from(
    tiny_model_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "restored"
    monkeypatch.setattr(sys, "argv", ["restore", str(tiny_model_directory), str(run)])
    restore.main()
    written = run / "step-0000000.pt"
    assert capsys.readouterr().out == f"wrote {written}\n"
    take_over_tokenizer(run / "tokenizer.model", tmp_path / "next" / "tokenizer.model")
    served = restore_checkpoint(open_model_directory(tiny_model_directory))
    restored = load_checkpoint(written)
    assert restored.config == served.config
    ids = torch.randint(4, 300, (2, 12), generator=torch.Generator().manual_seed(2))
    found, expected = (one.transformer()(ids, ids >= 0, ids).detach() for one in (restored, served))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(SystemExit, match="restored is there already"):
        restore.main()


def test_what_is_no_model_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["restore", str(tmp_path), str(tmp_path / "run")])
    with pytest.raises(SystemExit, match=r"config\.json"):
        restore.main()
    assert not (tmp_path / "run").exists()
