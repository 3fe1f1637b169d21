"""Features of uneven size made alike before they are rounded (SmoothQuant, Xiao et al. 2023, section 4).

Between two linear maps a feature may be made smaller by the first and read larger by the second: the model is the
same. What was a few large features beside many small ones then shares 256 levels better.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from export.calibrate import MEMORY, PROJECTION_INPUT, Range, Ranges
from model.checkpoint import Checkpoint
from model.config import TransformerConfig

_ALPHA = 0.7
"""How much of the unevenness goes into the weights. With the bundled model 0.5 leaves larger errors; more than 0.7
leaves smaller ones on average, and larger single ones where fewer sentences were measured."""


@dataclass(frozen=True)
class Rows:
    """``tensor[first:last]`` of a weight that is stored ``[outputs, inputs]`` or of a vector ``[outputs]``."""

    tensor: str
    first: int = 0
    last: int | None = None

    @property
    def slice(self) -> slice:
        """The rows."""
        return slice(self.first, self.last)


@dataclass(frozen=True)
class Passage:
    """Features that one linear map makes and others read; nothing between them notices a positive factor.

    Attributes:
        operand: the name of the features in ``Ranges``.
        makers: their outputs are the features.
        readers: their inputs are the features.
    """

    operand: str
    makers: tuple[Rows, ...]
    readers: tuple[Rows, ...]


def smooth(checkpoint: Checkpoint, ranges: Ranges) -> tuple[dict[str, Tensor], Ranges]:
    """The same model with features of like size wherever ``Passage`` allows it.

    Feature ``j`` is divided by ``s_j = max|x_j|^alpha / max|w_j|^(1 - alpha)``, with ``x_j`` what ``ranges`` found and
    ``w_j`` its column in all readers (equation 4). A projection that is tied to the embedding stays as it is.

    Returns:
        The weights in float32, and the ranges after the division. Features without a range stay as they are.
    """
    weights = {name: tensor.float().clone() for name, tensor in checkpoint.weights.items()}
    smoothed = dict(ranges)
    passages = [one for one in _passages(checkpoint.config.transformer) if one.operand in ranges]
    for passage in passages:
        found = ranges[passage.operand]
        columns = [checkpoint.weights[rows.tensor][rows.slice].float() for rows in passage.readers]
        factors = _factors(found.largest(), torch.cat(columns).abs().amax(dim=0))
        _divide(weights, passage, factors)
        smoothed[passage.operand] = Range(found.lowest / factors, found.highest / factors)
    return weights, smoothed


def balance(checkpoint: Checkpoint) -> Checkpoint:
    """The same model with features of the size that training leaves them, to train it further.

    Smoothing makes the gains of norms small and the weights behind them large, which the same step of an optimiser
    then moves less. Gains become one; between two matrices a feature's row in the first gets the norm of its column in
    the second, as gradients keep them (Du et al. 2018, "Algorithmic regularization in learning deep homogeneous
    models", theorem 2.1).
    """
    weights = {name: tensor.float().clone() for name, tensor in checkpoint.weights.items()}
    passages = list(_passages(checkpoint.config.transformer))
    for passage in passages:
        if (gains := _made(weights, passage)).ndim == 1:
            _divide(weights, passage, _usable(gains.clone()))
    for passage in passages:
        if (made := _made(weights, passage)).ndim == 2:
            read = torch.cat([weights[rows.tensor][rows.slice] for rows in passage.readers])
            _divide(weights, passage, _usable((made.norm(dim=1) / read.norm(dim=0)).sqrt()))
    return dataclasses.replace(checkpoint, weights=weights)


def _made(weights: dict[str, Tensor], passage: Passage) -> Tensor:
    """What makes the features: gains of a norm ``[features]``, or rows of a matrix ``[features, inputs]``."""
    maker = passage.makers[0]
    return weights[maker.tensor][maker.slice]


def _divide(weights: dict[str, Tensor], passage: Passage, factors: Tensor) -> None:
    """Makes the features of ``passage`` smaller by ``factors``, and what reads them larger, in place."""
    for rows in passage.makers:
        part = weights[rows.tensor][rows.slice]
        part /= factors if part.ndim == 1 else factors[:, None]
    for rows in passage.readers:
        weights[rows.tensor][rows.slice] *= factors


def _factors(features: Tensor, columns: Tensor) -> Tensor:
    """A feature smaller than most counts as one of the middle: what was rare may be larger in a text not seen."""
    factors = features.clamp(min=features.median()) ** _ALPHA / columns ** (1 - _ALPHA)
    return _usable(factors)


def _usable(factors: Tensor) -> Tensor:
    """``factors`` with one where there is nothing to divide by."""
    return torch.where(factors.isfinite() & (factors > 0), factors, 1)


def _passages(config: TransformerConfig) -> Iterator[Passage]:
    """After a post-LN norm the features are also added to what follows: only pre-LN norms may change them."""
    for index in range(config.encoder_layers):
        yield from _layer(f"encoder.{index}", config)
    for index in range(config.decoder_layers):
        yield from _layer(f"decoder.{index}", config)
        yield from _cross_attention(f"decoder.{index}", config)
    if config.norm == "pre":
        names = (f"decoder.{index}.cross_attention.qkv.weight" for index in range(config.decoder_layers))
        yield Passage(MEMORY, _outputs("encoder_norm"), tuple(Rows(name, config.d_model) for name in names))
        if not config.tie_embeddings:
            yield _between(_outputs("decoder_norm"), PROJECTION_INPUT)


def _layer(layer: str, config: TransformerConfig) -> Iterator[Passage]:
    if config.norm == "pre":
        entrances = (("self_residual", "self_attention.qkv"), ("feed_forward_residual", "feed_forward.expand"))
        for residual, product in entrances:
            yield _between(_outputs(f"{layer}.{residual}.norm"), f"{layer}.{product}")
    yield _values(f"{layer}.self_attention", config)
    yield _between(_outputs(f"{layer}.feed_forward.expand"), f"{layer}.feed_forward.contract")


def _cross_attention(layer: str, config: TransformerConfig) -> Iterator[Passage]:
    attention = f"{layer}.cross_attention"
    if config.norm == "pre":
        query = Rows(f"{attention}.qkv.weight", 0, config.d_model)
        yield Passage(f"{attention}.query", _outputs(f"{layer}.cross_residual.norm"), (query,))
    yield _values(attention, config)


def _values(attention: str, config: TransformerConfig) -> Passage:
    """Weighted sums of values keep a factor of a feature; it never meets the weights."""
    return _between(_outputs(f"{attention}.qkv", 2 * config.d_model), f"{attention}.output")


def _between(makers: tuple[Rows, ...], product: str) -> Passage:
    return Passage(product, makers, (Rows(f"{product}.weight"),))


def _outputs(name: str, first: int = 0) -> tuple[Rows, ...]:
    return tuple(Rows(f"{name}.{part}", first) for part in ("weight", "bias"))
