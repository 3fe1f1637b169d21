"""Subword pieces: the one tokenizer of training, evaluation and serving."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

import sentencepiece

from app.text.kept import KeptForm, KeptPart, absent_from
from app.text.normalise import normalise

_SPACE = "▁"
_NO_PARTS: Mapping[int, str] = {}
_WORD = re.compile(r"[^\W\d_]+")
TOKENIZER_FILE = "tokenizer.model"
PAD_PIECE = "<pad>"
BOS_PIECE = "<s>"
EOS_PIECE = "</s>"
UNK_PIECE = "<unk>"
KEPT_PIECES = tuple(f"<kept{number}>" for number in range(1, 9))
"""Each stands for one part of a sentence that is to be kept as it is, see ``app.text.kept``."""


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

    Attributes:
        kept_ids: of the pieces that stand for kept parts, in order; none in a vocabulary without them.
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
        self._alphabet = frozenset(chain.from_iterable(written)) - {_SPACE}
        kept = (self._processor.piece_to_id(piece) for piece in KEPT_PIECES)
        self._known: dict[str, bool] = {}
        self.kept_ids: tuple[int, ...] = tuple(index for index in kept if index != self._processor.unk_id())

    def encode(self, text: str) -> list[int]:
        """Ids of the pieces of ``text``, without tag and end of sentence."""
        ids: list[int] = self._processor.encode(text)
        return ids

    def encode_kept(self, form: KeptForm, numbers: Sequence[int]) -> list[int]:
        """Ids of the pieces of a form whose text is normalised.

        Args:
            numbers: which of ``kept_ids`` stands for each of the form's parts.
        """
        return self._with_kept(self.encode(form.text), form, numbers)

    def encode_kept_batch(self, forms: Sequence[KeptForm], numbers: Sequence[Sequence[int]]) -> list[list[int]]:
        """``encode_kept`` of many forms at once, on all cores."""
        encoded = self.encode_batch([form.text for form in forms])
        return [self._with_kept(*one) for one in zip(encoded, forms, numbers, strict=True)]

    def _with_kept(self, ids: list[int], form: KeptForm, numbers: Sequence[int]) -> list[int]:
        """``ids`` with one piece for the bytes of each stand-in."""
        if not form.parts:
            return ids
        stand_in = [self._processor.piece_to_id(f"<0x{byte:02X}>") for byte in form.stand_in.encode()]
        found: list[int] = []
        left = iter(numbers)
        index = 0
        while index < len(ids):
            is_kept = ids[index : index + len(stand_in)] == stand_in
            found.append(self.kept_ids[next(left)] if is_kept else ids[index])
            index += len(stand_in) if is_kept else 1
        return found

    def knows(self, character: str) -> bool:
        """Whether what ``character`` becomes when it is normalised stands in pieces."""
        if (known := self._known.get(character)) is None:
            known = self._known[character] = self._alphabet.issuperset(normalise(character))
        return known

    def knows_letters_of(self, text: str) -> bool:
        """Whether of at least half of the words of ``text`` most letters stand in pieces.

        Of other letters a model knows only bytes. In a script without spaces between words a run of letters is one.
        """
        words = _WORD.findall(normalise(text))
        known = (2 * sum(map(self._alphabet.__contains__, word)) >= len(word) for word in words)
        return 2 * sum(known) >= len(words)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """``encode`` of many texts at once, on all cores."""
        ids: list[list[int]] = self._processor.encode(list(texts), num_threads=-1)
        return ids

    def encode_source(self, text: str, target: str) -> list[int]:
        """Ids that the encoder reads: tag of the target language, pieces, end of sentence."""
        return [self.tag_id(target), *self.encode(text), self.special_ids.eos]

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ``ids``, normalised; special pieces, tags and kept pieces vanish.

        Byte pieces could spell anything: normalising keeps line breaks and control characters out.
        """
        return normalise(self._processor.decode(list(ids)))

    def spell_kept(self, ids: Sequence[int], kept: Sequence[KeptPart]) -> tuple[KeptForm, list[tuple[int, int]]]:
        """``spell`` with the parts that ``ids`` stand for: of ``kept``, as they are numbered.

        Where there is no part of a number, nothing is spelled.
        """
        part_of = dict(zip(self.kept_ids, kept, strict=False))
        stand_in = absent_from(self.spell(ids)[0])
        text, spans = self.spell(ids, dict.fromkeys(part_of, stand_in))
        return KeptForm(text, stand_in, tuple(part_of[index] for index in ids if index in part_of)), spans

    def spell(self, ids: Sequence[int], kept: Mapping[int, str] = _NO_PARTS) -> tuple[str, list[tuple[int, int]]]:
        """What ``ids`` spell before normalisation, a space for each ``▁``, and the span of each piece in it.

        Kept pieces are spelled as ``kept`` says, those that are not in it as nothing.

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
                text += kept.get(index) or self._spelling(index, piece)
            ends.append(len(text))
        text += "\ufffd" * len(pending)
        ends[-1] = len(text)
        return "".join(text), list(pairwise(ends))

    def _spelling(self, index: int, piece: str) -> str:
        if self._processor.is_control(index):
            return ""
        return " ⁇ " if self._processor.is_unknown(index) else piece.replace("▁", " ")

    def pieces(self, ids: Sequence[int], kept: Sequence[str] = ()) -> list[str]:
        """The written form of each id; of those that stand for one of ``kept`` that part."""
        pieces: list[str] = self._processor.id_to_piece(list(ids))
        shown = dict(zip(self.kept_ids, kept, strict=False))
        return [shown.get(index, piece) for index, piece in zip(ids, pieces, strict=True)] if shown else pieces

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
