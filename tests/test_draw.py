import importlib.util
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from app import draw
from app.attention.selection import AttentionSelection
from app.main import Running
from tests.api.scripted_service import ScriptedService
from tests.attention.resvg import stand_in


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> ScriptedService:
    service = ScriptedService()
    monkeypatch.setattr(draw, "compose", lambda _: Running(service, 4, service.stop))
    return service


@pytest.mark.parametrize(
    ("choice", "layers", "heads"),
    [((), None, None), (("--layer", "-1"), (-1,), None), (("--layer", "mean", "--head", "2"), None, (2,))],
)
def test_picture_of_what_was_chosen(
    choice: tuple[str, ...],
    layers: tuple[int, ...] | None,
    heads: tuple[int, ...] | None,
    service: ScriptedService,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert draw.main(["Hello.", *choice, "-o", str(tmp_path / "a.svg")]) == 0
    assert [request.wanted.attention for request in service.explained] == [
        AttentionSelection(("cross",), layers, heads, "mean", "mean")
    ]
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert root.get("aria-label") == "Cross-attention, layer 5, 2 heads; rows: the piece that is predicted"
    assert [element.text for element in root.iter() if element.get("class") == "key"] == ["·a", "</s>"]
    assert capsys.readouterr().out == "HELLO.\n"
    assert service.stopped == 1


def test_a_name_in_png_gets_png(service: ScriptedService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw, "check_png_installed", lambda: None)
    monkeypatch.setattr(draw, "to_png", lambda drawings: drawings[0].title.encode())
    assert draw.main(["Hello.", "-o", str(tmp_path / "a.PNG")]) == 0
    assert (tmp_path / "a.PNG").read_bytes() == b"Cross-attention, layer 5, 2 heads; rows: the piece that is predicted"


def test_png_without_its_extra_is_told_before_the_model_is_opened(
    service: ScriptedService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert draw.main(["Hello.", "-o", str(tmp_path / "a.png")]) == 1
    assert "extra png" in capsys.readouterr().err
    assert (service.explained, service.stopped) == ([], 0)


def test_a_png_that_cannot_be_drawn_is_told(
    service: ScriptedService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(tmp_path, monkeypatch, then="os.abort()")
    assert draw.main(["Hello.", "-o", str(tmp_path / "a.png")]) == 1
    told = capsys.readouterr()
    assert (told.out, told.err.startswith("no PNG was drawn")) == ("", True)
    assert not (tmp_path / "a.png").exists()


def test_a_file_that_cannot_be_written_is_told(
    service: ScriptedService, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert draw.main(["Hello.", "-o", str(tmp_path / "none" / "a.svg")]) == 1
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["Hello.", "--target", "de"], "no translation"), (["One. Two."], "one sentence"), (["1234"], "one sentence")],
)
def test_what_cannot_be_drawn_is_told(
    arguments: list[str],
    message: str,
    service: ScriptedService,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert draw.main([*arguments, "-o", str(tmp_path / "a.svg")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "a.svg").exists()


def test_a_picture_of_another_kind_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert draw.main(["Hello.", "-o", str(tmp_path / "x.pdf")]) == 2
    assert capsys.readouterr().err == "--output must end in .svg or .png, not 'x.pdf'\n"
    assert not (tmp_path / "x.pdf").exists()
