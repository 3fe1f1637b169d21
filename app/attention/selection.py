"""Which attention maps were asked for and how they are to be reduced, made definite for one model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.errors import InvalidInput

Family = Literal["encoder", "decoder", "cross"]
HeadReduction = Literal["none", "mean", "max"]
LayerReduction = Literal["none", "mean", "rollout"]
Unit = Literal["token", "word"]
SpecialTokens = Literal["keep", "drop", "drop_renormalize"]
Encoding = Literal["json", "base64", "npz", "picture"]
DType = Literal["float32", "float16", "uint8_sqrt"]


@dataclass(frozen=True)
class MapFormat:
    """How weights are written: JSON with ``decimals``, bytes of ``dtype``, or not at all, but drawn."""

    encoding: Encoding = "json"
    dtype: DType = "float16"
    decimals: int = 4


@dataclass(frozen=True)
class AttentionSelection:
    """Which maps to return; None = all. Indices count from 0, negative ones from the end.

    Attributes:
        reduce_heads: what becomes of the head axis; ``max`` is no distribution.
        reduce_layers: what becomes of the layer axis; ``rollout`` (encoder, mean heads) multiplies the layers.
        unit: ``word`` sums over the pieces of a key and averages over those of a query.
        special_tokens: whether keys that carry no text stay; queries always do.
        resolution: longest query and key axis, larger maps are max-pooled; None keeps all.
    """

    families: tuple[Family, ...] = ("cross",)
    layers: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None
    reduce_heads: HeadReduction = "none"
    reduce_layers: LayerReduction = "none"
    unit: Unit = "token"
    special_tokens: SpecialTokens = "keep"
    resolution: int | None = None
    format: MapFormat = MapFormat()


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
    selection: AttentionSelection


def choose(selection: AttentionSelection, depths: AttentionDepths, path: str = "attention.") -> ChosenMaps:
    """Resolves negative indices and "all" per family; ``path`` stands before the names of fields in messages.

    Raises:
        InvalidInput: an index is outside a family's depth or the number of heads, or rollout of what has none.
    """
    if selection.reduce_layers == "rollout":
        _check_rollout(selection, path)
    layers = {
        family: _indices(selection.layers, depths.layers(family), f"{family} layers", f"{path}layers")
        for family in selection.families
    }
    heads = _indices(selection.heads, depths.heads, "heads", f"{path}heads")
    return ChosenMaps(layers, heads, selection)


def _check_rollout(selection: AttentionSelection, path: str) -> None:
    if selection.families != ("encoder",):
        message = f"{path}families: rollout multiplies square maps of one text, only the encoder has them"
        raise InvalidInput(message, field=f"{path}families", limit=["encoder"], value=", ".join(selection.families))
    if selection.reduce_heads != "mean":
        message = f"{path}aggregate.heads: rollout goes over the mean of the heads"
        raise InvalidInput(message, field=f"{path}aggregate.heads", limit=["mean"], value=selection.reduce_heads)


def _indices(asked: Sequence[int] | None, count: int, name: str, field: str) -> tuple[int, ...]:
    if asked is None:
        return tuple(range(count))
    for index in asked:
        if not -count <= index < count:
            message = f"{field}: the model has {count} {name}; {index} is not in {-count}..{count - 1}"
            raise InvalidInput(message, field=field, limit=[-count, count - 1], value=index)
    return tuple(dict.fromkeys(index % count for index in asked))
