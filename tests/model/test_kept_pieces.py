"""Kept pieces in an older vocabulary: which pieces may give way, and that the others stay."""

import io
import sys
from pathlib import Path

import pytest
import sentencepiece

from app.text.tokenizer import KEPT_PIECES, Tokenizer
from model import kept_pieces
from model.kept_pieces import with_kept_pieces
from tests.conftest import PAIRS


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vocabulary without kept pieces."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(text for pair in PAIRS for text in pair),
        model_writer=written,
        model_type="bpe",
        vocab_size=440,
        byte_fallback=True,
        normalization_rule_name="identity",
        control_symbols=[">>en<<", ">>fr<<"],
        pad_id=0,
        bos_id=1,
        eos_id=2,
        unk_id=3,
        minloglevel=2,
    )
    path = tmp_path_factory.mktemp("older") / "tokenizer.model"
    path.write_bytes(written.getvalue())
    return path


def leaves(tokenizer: Tokenizer) -> list[str]:
    """Pieces of several letters that no other has in it."""
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    longer = [piece for piece in pieces if len(piece) > 2 and not piece.startswith(("<", ">"))]
    return [piece for piece in longer if sum(piece in other for other in pieces) == 1]


def test_named_pieces_give_way_and_all_others_stay(
    older: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, output = Tokenizer(older), tmp_path / "new.model"
    assert before.kept_ids == ()
    named = leaves(before)[:8]
    monkeypatch.setattr(sys, "argv", ["kept_pieces", str(older), str(output), *named])
    kept_pieces.main()
    after = Tokenizer(output)
    numbers = range(before.vocab_size)
    expected = [dict(zip(named, KEPT_PIECES, strict=True)).get(piece, piece) for piece in before.pieces(numbers)]
    assert after.pieces(numbers) == expected
    assert after.pieces(after.kept_ids) == list(KEPT_PIECES)
    text = " ".join(text for pair in PAIRS for text in pair)
    assert after.decode(after.encode(text)) == text
    assert not set(after.encode(f"{text} <kept1>")) & set(after.kept_ids)


def test_what_may_not_give_way_is_named(older: Path) -> None:
    named, data = leaves(Tokenizer(older)), older.read_bytes()
    for pieces, message in (
        (named[:7], "8 different pieces are needed, not 7"),
        ([*named[:7], named[0]], "8 different pieces are needed, not 7"),
        ([*named[:7], "no piece"], "no piece: is no piece"),
        ([*named[:7], "<0x41>"], "<0x41>: is no ordinary piece"),
        ([*named[:7], "e"], "e: is part of"),
    ):
        with pytest.raises(ValueError, match=message):
            with_kept_pieces(data, pieces)
    with pytest.raises(ValueError, match="already"):
        with_kept_pieces(with_kept_pieces(data, named[:8]), named[:8])
