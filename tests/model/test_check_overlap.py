import sys
from pathlib import Path

import pytest

from model.check_overlap import bare_form, main


def test_bare_form_keeps_letters_and_digits_of_every_script() -> None:
    assert bare_form("Don’t STOP, No. 5!") == "dontstopno5"
    assert bare_form("e\u0301té — 夏, Straße") == "été夏strasse"


@pytest.mark.parametrize(("line", "code"), [("a dog.\tun chien", 0), ("A cat !\tun tigre", 1), ("a tiger\tUN CHAT", 1)])
def test_a_shared_sentence_of_either_language_is_found(
    line: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "books.tsv").write_text(f"x\ty\n{line}\n")
    (tmp_path / "news.en").write_text("a cat\n...\n")
    (tmp_path / "news.fr").write_text("un chat\n!\n")
    monkeypatch.setattr(sys, "argv", ["check_overlap", str(tmp_path), str(tmp_path)])
    with pytest.raises(SystemExit) as exit_info:
        main()
    assert exit_info.value.code == code
    assert ("books:2" in capsys.readouterr().out) == bool(code)
