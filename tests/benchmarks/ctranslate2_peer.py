"""The peer that decoding is measured against. Imports no torch: its memory is measured."""

from collections.abc import Sequence
from pathlib import Path

import ctranslate2

from app.text.tokenizer import Tokenizer


class CTranslate2Peer:
    """Decodes ids with CTranslate2, int8, from a folder that ``ctranslate2_convert`` wrote.

    ``batches`` are decoded at the same time with ``threads`` for each; a call's sentences are shared out evenly.
    """

    def __init__(self, folder: Path, tokenizer: Tokenizer, batches: int, threads: int) -> None:
        self._batches = batches
        self._tokenizer = tokenizer
        self._ids = {piece: number for number, piece in enumerate(tokenizer.pieces(range(tokenizer.vocab_size)))}
        self._translator = ctranslate2.Translator(
            str(folder), compute_type="int8", inter_threads=batches, intra_threads=threads
        )

    def translate(self, sources: Sequence[Sequence[int]], beam_size: int, target_len: int) -> list[list[int]]:
        """Best hypothesis of every source in one batch."""
        results = self._translator.translate_batch(
            [self._tokenizer.pieces(source) for source in sources],
            beam_size=beam_size,
            max_decoding_length=target_len,
            max_batch_size=-(-len(sources) // self._batches),
        )
        return [[self._ids[piece] for piece in result.hypotheses[0]] for result in results]
