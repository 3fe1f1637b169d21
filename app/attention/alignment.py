"""Which words of a translation go with which of the source, read from one layer's cross-attention."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.engine.step_model import Float32

RuleName = Literal["predicted", "shifted"]
Span = tuple[int, int]
Groups = Sequence[Sequence[int]]


@dataclass(frozen=True)
class AlignmentRule:
    """How cross-attention is read, measured for each model (Chen et al. 2020, section 3).

    Attributes:
        layer: of the decoder, counted from 0.
        name: ``predicted`` takes the row that writes a piece; ``shifted`` ("shift-att") the next row, which is fed
            the piece. Lower layers of a deep decoder align better shifted, the last layer looks at what is next.
    """

    layer: int
    name: RuleName = "predicted"


@dataclass(frozen=True)
class Link:
    """Two words that go together, by index; ``score`` is the weight between them, from 0 to 1."""

    source: int
    target: int
    score: float


@dataclass(frozen=True)
class Alignment:
    """Links of one sentence.

    Attributes:
        rule: how the attention was read.
        soft: ``[target word, source word]``; what a row lacks to 1 lay on special pieces.
        links: by source word, then target word.
        pieces: ``[predicted piece, source piece]``, the weights that pieces are aligned by, special ones included.
    """

    rule: AlignmentRule
    soft: Float32
    links: tuple[Link, ...]
    pieces: Float32

    def pharaoh(self) -> str:
        """``source-target`` pairs, counted from 0."""
        return " ".join(f"{link.source}-{link.target}" for link in self.links)

    def marian(self) -> str:
        """Marian's ``--alignment soft``: weights on the source pieces by comma, predicted pieces by space."""
        return " ".join(",".join(f"{weight:.4f}" for weight in row) for row in self.pieces.tolist())

    def azure(self, source: Sequence[Span], target: Sequence[Span]) -> str:
        """``start:end-start:end`` pairs of the words' half-open spans; as Azure has it, the ends are inclusive."""
        pairs = ((source[link.source], target[link.target]) for link in self.links)
        return " ".join(f"{first[0]}:{first[1] - 1}-{second[0]}:{second[1] - 1}" for first, second in pairs)


def align(cross: Float32, rule: AlignmentRule, source_words: Groups, target_words: Groups) -> Alignment:
    """Aligns words by the mean of the heads: every piece is linked to the word of the source piece it looks at most.

    Args:
        cross: ``[layer, head, query, key]``, its queries the fed pieces.
        source_words: indices of each word's pieces among the keys, special ones left out.
        target_words: indices of each word's pieces among the predicted ones.
    """
    shift = 1 if rule.name == "shifted" else 0
    weights = cross[rule.layer].mean(axis=0, dtype=np.float32)
    # At the model's length limit the last piece is never fed; its own row is the nearest there is.
    aligned_by = np.minimum(np.arange(len(weights)) + shift, len(weights) - 1)
    pieces = weights[aligned_by]
    keys = np.array([key for group in source_words for key in group], dtype=np.int64)
    if not len(keys) or not target_words:
        return Alignment(rule, np.zeros((len(target_words), len(source_words)), dtype=np.float32), (), pieces)
    word_of = np.repeat(np.arange(len(source_words)), [len(group) for group in source_words])
    rows = np.array([row for group in target_words for row in group], dtype=np.int64)
    sizes = [len(group) for group in target_words]
    # Weights add up over the pieces of a source word, and are averaged over those of a target word.
    by_source = (weights @ _membership(source_words, weights.shape[1]).T)[aligned_by[rows]]
    starts = np.cumsum([0, *sizes[:-1]])
    soft: Float32 = by_source[starts]
    for target, (start, size) in enumerate(zip(starts.tolist(), sizes, strict=True)):
        if size > 1:
            soft[target] = by_source[start : start + size].mean(axis=0)
    sources = word_of[pieces[np.ix_(rows, keys)].argmax(axis=1)]
    links = sorted(set(zip(sources.tolist(), np.repeat(np.arange(len(sizes)), sizes).tolist(), strict=True)))
    scores = soft.tolist()
    return Alignment(rule, soft, tuple(Link(*link, scores[link[1]][link[0]]) for link in links), pieces)


def _membership(words: Groups, pieces: int) -> Float32:
    """``[word, piece]``, 1 where the piece is the word's."""
    members = np.zeros((len(words), pieces), dtype=np.float32)
    for word, indices in enumerate(words):
        members[word, list(indices)] = 1
    return members
