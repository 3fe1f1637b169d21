"""What the query and key axes of a map stand for: lists of pieces, joined to words where asked for."""

from dataclasses import dataclass
from typing import Literal

from app.attention.selection import AttentionSelection, ChosenMaps, Family

ListName = Literal["source.tokens", "target.fed"]


@dataclass(frozen=True)
class TokenList:
    """Pieces that an axis indexes.

    Attributes:
        words: for each piece the index of its word, None where it has none.
        word_texts: the words.
        special: for each piece whether it carries no text.
    """

    name: ListName
    pieces: tuple[str, ...]
    words: tuple[int | None, ...]
    word_texts: tuple[str, ...]
    special: tuple[bool, ...]


@dataclass(frozen=True)
class Axis:
    """One axis: index ``i`` stands for the pieces ``groups[i]`` of the list ``name``, shown as ``labels[i]``."""

    name: ListName
    groups: tuple[tuple[int, ...], ...]
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.groups)


@dataclass(frozen=True)
class FamilyAxes:
    """The axes of one family: all its queries and keys, and which of the keys stay."""

    query: Axis
    key: Axis
    kept: tuple[int, ...]


def axes_of(family: Family, source: TokenList, fed: TokenList, selection: AttentionSelection) -> FamilyAxes:
    """The axes that ``selection`` leaves to ``family``; ``key`` still holds what is then dropped."""
    query = source if family == "encoder" else fed
    key = fed if family == "decoder" else source
    key_axis = _axis(key, selection)
    keep_all = selection.special_tokens == "keep"
    kept = [index for index, group in enumerate(key_axis.groups) if keep_all or not key.special[group[0]]]
    return FamilyAxes(_axis(query, selection), key_axis, tuple(kept))


def kept_keys(axes: FamilyAxes) -> Axis:
    """The key axis without what is dropped."""
    groups = tuple(axes.key.groups[index] for index in axes.kept)
    return Axis(axes.key.name, groups, tuple(axes.key.labels[index] for index in axes.kept))


def count_values(chosen: ChosenMaps, source: TokenList, fed: TokenList | None) -> int:
    """How many weights the maps of one sentence hold, hidden mass aside."""
    selection = chosen.selection
    heads = len(chosen.heads) if selection.reduce_heads == "none" else 1
    values = 0
    for family, layers in chosen.layers.items():
        axes = axes_of(family, source, fed or source, selection)
        lengths = [len(axes.query), len(axes.kept)]
        if selection.resolution is not None:
            lengths = [min(length, selection.resolution) for length in lengths]
        depth = len(layers) if selection.reduce_layers == "none" else 1
        values += depth * heads * lengths[0] * lengths[1]
    return values


def _axis(tokens: TokenList, selection: AttentionSelection) -> Axis:
    """One group a piece, or one a word; a piece without a word stays alone."""
    if selection.unit == "token":
        return Axis(tokens.name, tuple((index,) for index in range(len(tokens.pieces))), tokens.pieces)
    groups: list[list[int]] = []
    labels: list[str] = []
    previous: int | None = None
    for index, (piece, word) in enumerate(zip(tokens.pieces, tokens.words, strict=True)):
        if word is not None and word == previous:
            groups[-1].append(index)
        else:
            groups.append([index])
            labels.append(piece if word is None else tokens.word_texts[word])
        previous = word
    return Axis(tokens.name, tuple(map(tuple, groups)), tuple(labels))
