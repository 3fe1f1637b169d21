"""What holds for the page's files themselves; needs no browser."""

import re
from pathlib import Path

import pytest

FILES = Path(__file__).resolve().parents[2] / "app/web/files"
MODULES = sorted(FILES.glob("*.js"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_modules_are_short_and_import_only_each_other(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) < 300
    imported = re.findall(r'^import (?:[^;]* from )?"\./([^"]+)"', text, re.M)
    later = re.findall(r'import\("\./([^"]+)"\)', text)
    assert all((FILES / name).is_file() for name in imported + later)
    assert len(imported) == len(re.findall(r"^import ", text, re.M))
    assert len(later) == text.count("import(")


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_nothing_comes_from_elsewhere(path: Path) -> None:
    addresses = set(re.findall(r"https?://[^\s\"'`]+", path.read_text("utf-8")))
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_the_document_has_neither_inline_scripts_nor_inline_styles() -> None:
    document = (FILES / "index.html").read_text("utf-8") + (FILES / "embed.html").read_text("utf-8")
    assert re.findall(r"<script(?![^>]*src=)", document) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=", document) == []
    assert "It is not a reason and not a quality score." in document
