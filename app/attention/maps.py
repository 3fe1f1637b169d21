"""Attention maps: which were asked for, and the weights with the pieces that they stand between."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.engine.step_model import Explanation, Float32
from app.errors import InvalidInput

Family = Literal["encoder", "decoder", "cross"]


@dataclass(frozen=True)
class AttentionSelection:
    """Which maps to return; None = all. Indices count from 0, negative ones from the end."""

    families: tuple[Family, ...]
    layers: tuple[int, ...] | None
    heads: tuple[int, ...] | None


@dataclass(frozen=True)
class AttentionMap:
    """Weights ``[layer, head, query, key]`` of one family with the pieces that its axes index."""

    layers: tuple[int, ...]
    heads: tuple[int, ...]
    query: tuple[str, ...]
    key: tuple[str, ...]
    values: Float32


@dataclass(frozen=True)
class AttentionDepths:
    """How many maps a model has: layers of the encoder and of the decoder, heads of each layer."""

    encoder_layers: int
    decoder_layers: int
    heads: int

    def layers(self, family: Family) -> int:
        """Depth of a family: the two of the decoder share one."""
        return self.encoder_layers if family == "encoder" else self.decoder_layers


@dataclass(frozen=True)
class ChosenMaps:
    """A selection made definite for one model: the layers of each family and the heads, counted from 0."""

    layers: dict[Family, tuple[int, ...]]
    heads: tuple[int, ...]

    def count_values(self, source_len: int, target_len: int) -> int:
        """How many weights the maps of one sentence hold."""
        areas = {"encoder": source_len**2, "decoder": target_len**2, "cross": target_len * source_len}
        return len(self.heads) * sum(len(layers) * areas[family] for family, layers in self.layers.items())


def choose(selection: AttentionSelection, depths: AttentionDepths) -> ChosenMaps:
    """Resolves negative indices and "all" per family.

    Raises:
        InvalidInput: an index is outside a family's depth or the number of heads.
    """
    layers = {
        family: _indices(selection.layers, depths.layers(family), f"{family} layers", "attention.layers")
        for family in selection.families
    }
    return ChosenMaps(layers, _indices(selection.heads, depths.heads, "heads", "attention.heads"))


def cut_maps(
    explanation: Explanation, chosen: ChosenMaps, source_pieces: Sequence[str], fed_pieces: Sequence[str]
) -> dict[Family, AttentionMap]:
    """The chosen maps of one sentence.

    Args:
        source_pieces: what the encoder read, ``[source_len]``, tag and end of sentence included.
        fed_pieces: what the decoder was fed, ``[target_len]``, from the beginning of sentence on.
    """
    weights = {"encoder": explanation.encoder, "decoder": explanation.decoder, "cross": explanation.cross}
    maps: dict[Family, AttentionMap] = {}
    for family, layers in chosen.layers.items():
        query = source_pieces if family == "encoder" else fed_pieces
        key = fed_pieces if family == "decoder" else source_pieces
        values = weights[family][list(layers)][:, list(chosen.heads)]
        maps[family] = AttentionMap(layers, chosen.heads, tuple(query), tuple(key), values)
    return maps


def _indices(asked: Sequence[int] | None, count: int, name: str, field: str) -> tuple[int, ...]:
    if asked is None:
        return tuple(range(count))
    for index in asked:
        if not -count <= index < count:
            message = f"{field}: the model has {count} {name}; {index} is not in {-count}..{count - 1}"
            raise InvalidInput(message, field=field, limit=[-count, count - 1], value=index)
    return tuple(dict.fromkeys(index % count for index in asked))
