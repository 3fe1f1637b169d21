"""Puts a finished model directory where an older one may be."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.runtime.model_directory import ANALYSIS_FILE, CONFIG_FILE, SIGNALS_FILE


def is_model_directory(path: Path) -> bool:
    """Whether ``path`` looks like one, of whatever format and whole or not: only such may be replaced."""
    try:
        config = json.loads((path / CONFIG_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and "format_version" in config


@contextmanager
def staging_directory(output: Path) -> Iterator[Path]:
    """A directory beside ``output`` that is gone afterwards unless it was renamed."""
    output.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=output.parent, prefix=f".{output.name}."))
    os.chmod(staging, 0o755)
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def put_in_place(staging: Path, output: Path) -> None:
    """Renames ``staging`` to ``output``; what was there is moved aside before and deleted after.

    What an export does not write itself (model card, figures, evaluation) comes along, but not what the server
    would take for measurements of the new model.
    """
    if not output.exists():
        staging.rename(output)
        return
    _carry_over(output, staging)
    aside = Path(tempfile.mkdtemp(dir=output.parent, prefix=f".{output.name}.old."))
    output.rename(aside)
    try:
        staging.rename(output)
    except OSError:
        aside.rename(output)
        raise
    shutil.rmtree(aside)


def _carry_over(old: Path, new: Path) -> None:
    for path in old.iterdir():
        # A graph that the new directory lacks is one that exports no longer write.
        if (new / path.name).exists() or path.suffix == ".onnx" or path.name in (ANALYSIS_FILE, SIGNALS_FILE):
            continue
        if path.is_dir():
            shutil.copytree(path, new / path.name)
        else:
            shutil.copy2(path, new / path.name)
