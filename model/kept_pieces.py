"""Gives an older vocabulary pieces for kept parts: ``python -m model.kept_pieces TOKENIZER OUT PIECE PIECE ...``.

Eight pieces that are named give way to ``<kept1>`` to ``<kept8>`` (``app.text.kept``) and keep their numbers, so that a
model that knows the others can be trained on. New vocabularies have such pieces from the start.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sentencepiece import sentencepiece_model_pb2

from app.text.tokenizer import KEPT_PIECES


def with_kept_pieces(tokenizer: bytes, replaced: Sequence[str]) -> bytes:
    """``tokenizer``, a sentencepiece model, with kept pieces in the place of ``replaced``, in its order.

    Raises:
        ValueError: there are kept pieces already, not as many are named, or one is no ordinary piece or inside a
            longer one, which could not be put together any more.
    """
    model = sentencepiece_model_pb2.ModelProto.FromString(tokenizer)  # type: ignore[attr-defined]
    written = [piece.piece for piece in model.pieces]
    if set(written) & set(KEPT_PIECES):
        raise ValueError("the vocabulary has kept pieces already")
    if len(set(replaced)) != len(KEPT_PIECES):
        raise ValueError(f"{len(KEPT_PIECES)} different pieces are needed, not {len(set(replaced))}")
    for kept, old in zip(KEPT_PIECES, replaced, strict=True):
        longer = [piece for piece in written if old in piece and piece != old]
        if old not in written or longer:
            raise ValueError(f"{old}: {f'is part of {longer[0]}' if longer else 'is no piece'}")
        piece = model.pieces[written.index(old)]
        if piece.type != piece.NORMAL:
            raise ValueError(f"{old}: is no ordinary piece")
        piece.piece, piece.type, piece.score = kept, piece.CONTROL, 0.0
        model.trainer_spec.control_symbols.append(kept)
    changed: bytes = model.SerializeToString()
    return changed


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("pieces", nargs="+")
    arguments = parser.parse_args()
    try:
        changed = with_kept_pieces(arguments.tokenizer.read_bytes(), arguments.pieces)
    except ValueError as error:
        sys.exit(str(error))
    arguments.output.write_bytes(changed)


if __name__ == "__main__":
    main()
