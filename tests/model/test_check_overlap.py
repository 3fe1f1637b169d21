import shutil
import sys
from pathlib import Path

import pytest

from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from model.check_overlap import evaluation_forms, main
from model.corpus import bare_form
from model.dataset import prepare
from tests.model.tiny import tiny_config


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


def test_a_run_that_left_them_out_passes(
    corpora: Path, tokenizer: Tokenizer, tokenizer_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, sets = tmp_path / "run", tmp_path / "sets"
    sets.mkdir()
    run.mkdir()
    shutil.copy(tokenizer_path, run / TOKENIZER_FILE)
    first = (corpora / "first.tsv").read_text(encoding="utf-8").splitlines()[0].split("\t")
    for language, text in zip(("en", "fr"), first, strict=True):
        (sets / f"news.{language}").write_text(text + "\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["check_overlap", str(run), str(sets)])
    for excluded, code in ((), 1), (evaluation_forms(sets, ("en", "fr")), 0):
        prepare(tiny_config(), corpora, tokenizer, run / "data", excluded)
        with pytest.raises(SystemExit) as exit_info:
            main()
        assert exit_info.value.code == code
        shutil.rmtree(run / "data")


def test_a_sentence_is_no_other_one_without_its_kept_part(
    tokenizer: Tokenizer, tokenizer_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, sets, books = tmp_path / "run", tmp_path / "sets", tmp_path / "books"
    for folder in (run, sets, books):
        folder.mkdir()
    shutil.copy(tokenizer_path, run / TOKENIZER_FILE)
    (books / "first.tsv").write_text("the {a} cat\tle {a} chat\n" * 3, encoding="utf-8")
    for language, text in (("en", "the cat"), ("fr", "le chat")):
        (sets / f"news.{language}").write_text(text + "\n", encoding="utf-8")
    (opened,) = prepare(tiny_config(), books, tokenizer, run / "data")
    assert set(tokenizer.kept_ids) & set(opened.sides[0][0].tolist())
    monkeypatch.setattr(sys, "argv", ["check_overlap", str(run), str(sets)])
    with pytest.raises(SystemExit) as exit_info:
        main()
    assert exit_info.value.code == 0


def test_test_sets_are_written_without_what_was_seen_in_either_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "books.tsv").write_text("A cat!\tun tigre\na tiger\tUN CHIEN\n")
    (tmp_path / "news.en").write_text("a cat\na dog\na bird\n...\n")
    (tmp_path / "news.fr").write_text("un chat\nun chien\nun oiseau\n...\n")
    unseen = tmp_path / "unseen"
    monkeypatch.setattr(sys, "argv", ["check_overlap", str(tmp_path), str(tmp_path), "--write", str(unseen)])
    main()
    assert (unseen / "news.en").read_text() == "a bird\n...\n"
    assert (unseen / "news.fr").read_text() == "un oiseau\n...\n"
    monkeypatch.setattr(sys, "argv", ["check_overlap", str(tmp_path), str(unseen)])
    with pytest.raises(SystemExit) as exit_info:
        main()
    assert exit_info.value.code == 0
