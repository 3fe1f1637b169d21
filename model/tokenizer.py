"""Training of the shared subword vocabulary (Sennrich et al. 2016; Kudo and Richardson 2018)."""

import io
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

import sentencepiece

from app.text.tokenizer import BOS_PIECE, EOS_PIECE, KEPT_PIECES, PAD_PIECE, UNK_PIECE, language_tag
from model.config import RunConfig
from model.corpus import FilterCounts, corpus_files, read_pairs


def train_tokenizer(config: RunConfig, corpora: Path, output: Path, excluded: Sequence[Container[str]] = ()) -> None:
    """Writes a sentencepiece model for all languages of ``config`` to ``output``.

    Text is normalised by ``app.text.normalise`` beforehand, so sentencepiece itself changes nothing.
    Every corpus gives about the same amount of text, so that long-winded ones do not own the vocabulary.
    Digits stand alone (numbers are copied, not memorised), byte fallback leaves no text unknown, and eight pieces stand
    for parts that are kept (``app.text.kept``).

    Args:
        excluded: for each language the bare forms of sentences to leave out, see ``read_pairs``.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    # Given a path, sentencepiece would write it into the model too.
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=_sentences(config, corpora, excluded),
        model_writer=written,
        model_type=config.tokenizer.segmentation,
        vocab_size=config.transformer.vocab_size,
        pad_id=0,
        bos_id=1,
        eos_id=2,
        unk_id=3,
        pad_piece=PAD_PIECE,
        bos_piece=BOS_PIECE,
        eos_piece=EOS_PIECE,
        unk_piece=UNK_PIECE,
        control_symbols=[*map(language_tag, config.training.languages), *KEPT_PIECES],
        byte_fallback=True,
        split_digits=True,
        character_coverage=0.9999,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        max_sentence_length=10_000,
        num_threads=2,
        minloglevel=1,
    )
    output.write_bytes(written.getvalue())


def _sentences(config: RunConfig, corpora: Path, excluded: Sequence[Container[str]]) -> Iterator[str]:
    for name, path in corpus_files(corpora).items():
        if config.corpora and not config.corpora.get(name):
            continue
        remaining = config.tokenizer.characters_per_corpus
        for pair in read_pairs(path, FilterCounts(), excluded):
            yield from pair
            remaining -= len(pair[0]) + len(pair[1])
            if remaining <= 0:
                break
