"""Subword pieces: the one tokenizer of training, evaluation and serving."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

import sentencepiece

from app.text.normalise import normalise

TOKENIZER_FILE = "tokenizer.model"
PAD_PIECE = "<pad>"
BOS_PIECE = "<s>"
EOS_PIECE = "</s>"
UNK_PIECE = "<unk>"


def language_tag(language: str) -> str:
    """The piece that stands first in a source and names the target language."""
    return f">>{language}<<"


@dataclass(frozen=True)
class SpecialIds:
    """Ids of the pieces that carry structure, not text."""

    pad: int
    bos: int
    eos: int


class Tokenizer:
    """Turns normalised text into piece ids and back.

    Byte fallback makes every string encodable: a character outside the vocabulary becomes its UTF-8
    bytes, one piece each, and comes back unchanged; only ``▁`` (U+2581), which stands for a space in pieces, does not.
    """

    def __init__(self, path: Path) -> None:
        self._processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        self.special_ids = SpecialIds(
            pad=self._processor.pad_id(),
            bos=self._processor.bos_id(),
            eos=self._processor.eos_id(),
        )
        self.vocab_size: int = self._processor.vocab_size()
        ids = range(self.vocab_size)
        written = (self._processor.id_to_piece(index) for index in ids if not self._processor.is_byte(index))
        self._alphabet = frozenset(chain.from_iterable(written))

    def encode(self, text: str) -> list[int]:
        """Ids of the pieces of ``text``, without tag and end of sentence."""
        ids: list[int] = self._processor.encode(text)
        return ids

    def knows_letters_of(self, text: str) -> bool:
        """Whether at least half of the letters of ``text`` stand in pieces; of the others a model knows only bytes."""
        letters = [character for character in normalise(text) if character.isalpha()]
        return 2 * sum(map(self._alphabet.__contains__, letters)) >= len(letters)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """``encode`` of many texts at once, on all cores."""
        ids: list[list[int]] = self._processor.encode(list(texts), num_threads=-1)
        return ids

    def encode_source(self, text: str, target: str) -> list[int]:
        """Ids that the encoder reads: tag of the target language, pieces, end of sentence."""
        return [self.tag_id(target), *self.encode(text), self.special_ids.eos]

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ``ids``, normalised; special pieces and tags vanish.

        Byte pieces could spell anything: normalising keeps line breaks and control characters out.
        """
        return normalise(self._processor.decode(list(ids)))

    def spell(self, ids: Sequence[int]) -> tuple[str, list[tuple[int, int]]]:
        """What ``ids`` spell before normalisation, a space for each ``▁``, and the span of each piece in it.

        Of the byte pieces of one character the last has its span, the others empty ones; so have special pieces.
        Bytes that are no character belong to the last of them.
        """
        text: list[str] = []
        ends = [0]
        pending = b""
        for index, piece in zip(ids, self.pieces(ids), strict=True):
            if self._processor.is_byte(index):
                pending += bytes([int(piece[3:5], 16)])
                whole, pending = _whole_characters(pending)
                text += whole
            else:
                text += "\ufffd" * len(pending)
                pending = b""
                ends[-1] = len(text)
                text += self._spelling(index, piece)
            ends.append(len(text))
        text += "\ufffd" * len(pending)
        ends[-1] = len(text)
        return "".join(text), list(pairwise(ends))

    def _spelling(self, index: int, piece: str) -> str:
        if self._processor.is_control(index):
            return ""
        return " ⁇ " if self._processor.is_unknown(index) else piece.replace("▁", " ")

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The written form of each id."""
        pieces: list[str] = self._processor.id_to_piece(list(ids))
        return pieces

    def is_tag(self, index: int) -> bool:
        """Whether the piece names a target language."""
        return bool(self._processor.is_control(index)) and self.pieces([index])[0].startswith(">>")

    def tag_id(self, language: str) -> int:
        """Id of the tag of ``language``.

        Raises:
            KeyError: the vocabulary has no such tag.
        """
        tag = language_tag(language)
        index: int = self._processor.piece_to_id(tag)
        if self._processor.id_to_piece(index) != tag:
            raise KeyError(language)
        return index


def _whole_characters(data: bytes) -> tuple[str, bytes]:
    """What ``data`` spells so far and the bytes that may still begin a character; a stray byte is U+FFFD."""
    text = ""
    while data:
        for length in range(1, min(len(data), 4) + 1):
            try:
                text += data[:length].decode()
            except UnicodeDecodeError as error:
                if error.reason == "unexpected end of data":
                    if length == len(data):
                        return text, data
                    continue
                text, data = text + "\ufffd", data[1:]
            else:
                data = data[length:]
            break
    return text, data
