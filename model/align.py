"""How well cross-attention aligns words: ``python -m model.align CHECKPOINT PAIRS.tsv OUT.json``.

There are no hand-made alignments to compare with, but some words tell by themselves where they belong: a name, a
number or another word that stands exactly once on each side of a pair, in the same form. Such words are anchors. A
map aligns an anchor when, of all source words, the anchor gets the most of the weight that its target pieces give.

Two rules read a map (Chen et al. 2020, "Accurate word alignment induction from neural machine translation",
section 3): by the row that predicts a piece, and, shifted, by the row that is fed the piece, one further down.
The layer and the rule that align best, by the mean over heads, are the ones to recommend for alignments: a deep
decoder is expected to align best by the shifted rule in a middle layer, a shallow one need not.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from app.text.normalise import normalise
from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from model.checkpoint import load_checkpoint
from model.corpus import read_columns
from model.transformer import Transformer

Hits = npt.NDArray[np.float64]
_SPACE = "▁"
_SHORTEST_PLAIN_WORD = 4


@dataclass(frozen=True)
class Word:
    """A word between spaces, without punctuation at its ends, and the positions of its pieces."""

    text: str
    pieces: tuple[int, ...]


@dataclass(frozen=True)
class Quality:
    """Share of anchors aligned right, ``[layer, head]``, and by the mean over the heads of each layer."""

    anchors: int
    heads: Hits
    layers: Hits


def words(pieces: Sequence[str]) -> list[Word]:
    """Groups pieces into words; a piece that begins with a space begins a word."""
    groups: list[list[int]] = []
    for position, piece in enumerate(pieces):
        if piece.startswith(_SPACE) or not groups:
            groups.append([])
        groups[-1].append(position)
    texts = ["".join(pieces[position] for position in group).strip(_SPACE) for group in groups]
    return [Word(_bare(text), tuple(group)) for text, group in zip(texts, groups, strict=True)]


def anchors(source: Sequence[Word], target: Sequence[Word]) -> list[tuple[int, int]]:
    """Indices of the words that stand once on each side, alike, and are no accident of spelling."""
    counts = [Counter(word.text for word in side) for side in (source, target)]
    places = {word.text: index for index, word in enumerate(source)}
    return [
        (places[word.text], index)
        for index, word in enumerate(target)
        if _is_telling(word.text) and all(count[word.text] == 1 for count in counts)
    ]


def aligned(
    cross: npt.NDArray[np.float32], source: Sequence[Word], target: Word, anchor: int, shift: int
) -> npt.NDArray[np.bool_]:
    """Whether each of ``cross [..., query, key]`` gives the anchor more weight than any other source word.

    Args:
        source: words of the source; position 0 of ``key`` is the tag, so piece ``p`` is key ``p + 1``.
        target: a word of the target; piece ``p`` is predicted by row ``p`` and fed to row ``p + 1``.
        shift: 0 reads the rows that predict, 1 those that are fed.
    """
    rows = cross[..., [position + shift for position in target.pieces], :].mean(axis=-2)
    weights = np.stack([rows[..., [position + 1 for position in word.pieces]].sum(axis=-1) for word in source])
    hits: npt.NDArray[np.bool_] = weights.argmax(axis=0) == anchor
    return hits


def measure(
    transformer: Transformer, tokenizer: Tokenizer, pairs: Iterable[tuple[str, str]], target_language: str, shift: int
) -> Quality:
    """Alignment quality over all anchors of ``pairs``, source first."""
    depth, heads = len(transformer.decoder), transformer.config.heads
    by_head, by_layer, count = np.zeros((depth, heads)), np.zeros(depth), 0
    for first, second in pairs:
        source_ids = tokenizer.encode_source(normalise(first), target_language)
        target_ids = tokenizer.encode(normalise(second))
        source = words(tokenizer.pieces(source_ids[1:-1]))
        target = words(tokenizer.pieces(target_ids))
        found = anchors(source, target)
        if not found:
            continue
        cross = _cross_attention(transformer, source_ids, [tokenizer.special_ids.bos, *target_ids])
        for anchor, index in found:
            by_head += aligned(cross, source, target[index], anchor, shift)
            by_layer += aligned(cross.mean(axis=1), source, target[index], anchor, shift)
            count += 1
    return Quality(count, by_head / max(count, 1), by_layer / max(count, 1))


@torch.no_grad()
def _cross_attention(
    transformer: Transformer, source_ids: Sequence[int], fed_ids: Sequence[int]
) -> npt.NDArray[np.float32]:
    """``[layer, head, query, key]`` of one pair, the encoder's two special pieces included among the keys."""
    source = torch.tensor([source_ids])
    _, attention = transformer.explain(source, torch.ones_like(source, dtype=torch.bool), torch.tensor([fed_ids]))
    weights: npt.NDArray[np.float32] = attention.cross[0].numpy()
    return weights


def _bare(text: str) -> str:
    start, end = 0, len(text)
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return text[start:end]


def _is_telling(text: str) -> bool:
    unusual = any(character.isdigit() or character.isupper() for character in text)
    return bool(text) and (unusual or len(text) >= _SHORTEST_PLAIN_WORD)


def report(
    transformer: Transformer, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]], languages: Sequence[str]
) -> dict[str, Any]:
    """Both rules over both directions, and the recommended layer and rule, as plain values for JSON."""
    first, second = languages
    both = ((list(pairs), second), ([(other, one) for one, other in pairs], first))
    rules: dict[str, Any] = {}
    for name, shift in (("predicted", 0), ("shifted", 1)):
        for some, target in both:
            source = first if target == second else second
            quality = measure(transformer, tokenizer, some, target, shift)
            rules.setdefault(name, {})[f"{source}-{target}"] = {
                "anchors": quality.anchors,
                "layers": quality.layers.round(4).tolist(),
                "heads": quality.heads.round(4).tolist(),
            }
    by_rule = {
        name: np.mean([one["layers"] for one in directions.values()], axis=0) for name, directions in rules.items()
    }
    best = max(by_rule, key=lambda name: by_rule[name].max())
    return {
        "pairs": len(pairs),
        "alignment_layer": int(by_rule[best].argmax()),
        "alignment_rule": best,
        "rules": rules,
    }


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path, help="with its tokenizer beside it")
    parser.add_argument("pairs", type=Path, help="held-out pairs, two columns")
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    checkpoint = load_checkpoint(arguments.checkpoint)
    tokenizer = Tokenizer(arguments.checkpoint.parent / TOKENIZER_FILE)
    pairs = read_columns(arguments.pairs)
    found = report(checkpoint.transformer(), tokenizer, pairs, checkpoint.config.training.languages)
    arguments.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for name, directions in found["rules"].items():
        for direction, quality in directions.items():
            print(f"{name} {direction}: {quality['anchors']:,} anchors, layers {quality['layers']}")
    print(f"recommended: layer {found['alignment_layer']}, {found['alignment_rule']}")


if __name__ == "__main__":
    main()
