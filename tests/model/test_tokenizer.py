import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.text.tokenizer import Tokenizer
from model.config import RunConfig, TokenizerConfig
from model.tokenizer import train_tokenizer
from tests.model.tiny import tiny_config


def test_a_tokenizer_does_not_tell_where_it_was_made(tokenizer_path: Path) -> None:
    assert str(tokenizer_path.parent).encode() not in tokenizer_path.read_bytes()
    assert [path.name for path in tokenizer_path.parent.iterdir()] == [tokenizer_path.name]


@pytest.mark.parametrize("text", ["the cat sees 1234 birds", "naïve Żółć 猫が見る 🐈‍⬛ x", "<s>>>fr<<"])
def test_nothing_is_unknown_to_the_tokenizer(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert "<unk>" not in tokenizer.pieces(ids)
    assert not {tokenizer.special_ids.bos, tokenizer.special_ids.eos, tokenizer.tag_id("fr")} & set(ids)
    assert tokenizer.decode(ids) == text


def test_digits_stand_alone_and_tags_are_single_pieces(tokenizer: Tokenizer) -> None:
    pieces = tokenizer.pieces(tokenizer.encode("here 2024"))
    assert [piece.strip("▁") for piece in pieces if piece.strip("▁").isdigit()] == ["2", "0", "2", "4"]
    assert tokenizer.pieces([tokenizer.tag_id("en"), tokenizer.tag_id("fr")]) == [">>en<<", ">>fr<<"]
    source = tokenizer.encode_source("the cat", "fr")
    assert (source[0], source[-1]) == (tokenizer.tag_id("fr"), tokenizer.special_ids.eos)
    with pytest.raises(KeyError):
        tokenizer.tag_id("de")


def test_unigram_is_an_option(corpora: Path, tmp_path: Path) -> None:
    config = tiny_config()
    shape = dataclasses.replace(config.transformer, vocab_size=320)
    unigram = RunConfig(shape, TokenizerConfig("unigram"), config.training)
    train_tokenizer(unigram, corpora, tmp_path / "tokenizer.model")
    tokenizer = Tokenizer(tmp_path / "tokenizer.model")
    assert tokenizer.decode(tokenizer.encode("the cat 猫")) == "the cat 猫"


def made_up_corpora(folder: Path) -> Path:
    """``named`` and ``unnamed``, each with a letter of its own."""
    for name, letter in (("named", "ж"), ("unnamed", "ש")):
        lines = [f"the cat sees {letter * 9} {number}\tle chat voit {letter * 9} {number}\n" for number in range(60)]
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("named", "excluded", "known"),
    [
        ({}, (), {"ж": True, "ש": True}),
        ({"named": 0.5}, (), {"ж": True, "ש": False}),
        ({"named": 1.0, "unnamed": 0.0}, (), {"ж": True, "ש": False}),
        ({}, ({f"thecatsees{'ж' * 9}{number}" for number in range(60)},), {"ж": False, "ש": True}),
    ],
)
def test_the_vocabulary_comes_from_what_is_trained_on(
    tmp_path: Path, named: dict[str, float], excluded: Sequence[set[str]], known: dict[str, bool]
) -> None:
    config = tiny_config()
    shape = dataclasses.replace(config.transformer, vocab_size=320)
    run = RunConfig(shape, config.tokenizer, config.training, named)
    train_tokenizer(run, made_up_corpora(tmp_path), tmp_path / "tokenizer.model", excluded)
    tokenizer = Tokenizer(tmp_path / "tokenizer.model")
    # Letters outside the vocabulary are spelled in bytes.
    found = {
        letter: not any("<0x" in piece for piece in tokenizer.pieces(tokenizer.encode(letter))) for letter in known
    }
    assert found == known
