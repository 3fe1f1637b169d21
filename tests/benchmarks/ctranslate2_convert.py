"""Our weights written as a CTranslate2 model, int8."""

from pathlib import Path

import numpy as np
from ctranslate2.specs import TransformerSpec
from ctranslate2.specs.common_spec import Activation

from model.checkpoint import Checkpoint
from model.transformer import sinusoidal_positions


def convert(checkpoint: Checkpoint, pieces: list[str], folder: Path) -> None:
    """Writes ``folder``, which must not exist."""
    config = checkpoint.config.transformer
    spec = TransformerSpec.from_config(
        (config.encoder_layers, config.decoder_layers),
        config.heads,
        pre_norm=config.norm == "pre",
        activation=Activation.RELU,
    )
    weights = {name: tensor.float().numpy() for name, tensor in checkpoint.weights.items()}
    positions = sinusoidal_positions(config.max_positions, config.d_model).numpy()
    for side, part, name in ((spec.encoder, "source", "encoder"), (spec.decoder, "target", "decoder")):
        embeddings = side.embeddings[0] if name == "encoder" else side.embeddings
        embeddings.weight = weights[f"{part}_embedding.pieces.weight"]
        side.scale_embeddings = True
        side.position_encodings.encodings = positions
        if config.norm == "pre":
            _norm(side.layer_norm, weights, f"{name}_norm")
        for number, layer in enumerate(side.layer):
            _layer(layer, weights, f"{name}.{number}", config.d_model)
    spec.decoder.projection.weight = weights["projection.weight"]
    spec.config.add_source_eos = False
    spec.config.decoder_start_token = "<s>"
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.validate()
    spec.optimize(quantization="int8")
    folder.mkdir(parents=True)
    spec.save(str(folder))


def _layer(layer: object, weights: dict[str, np.ndarray], name: str, d_model: int) -> None:
    attention = layer.self_attention
    _norm(attention.layer_norm, weights, f"{name}.self_residual.norm")
    _linear(attention.linear[0], weights, f"{name}.self_attention.qkv")
    _linear(attention.linear[1], weights, f"{name}.self_attention.output")
    if f"{name}.cross_attention.qkv.weight" in weights:
        cross = layer.attention
        _norm(cross.layer_norm, weights, f"{name}.cross_residual.norm")
        weight, bias = (weights[f"{name}.cross_attention.qkv.{kind}"] for kind in ("weight", "bias"))
        cross.linear[0].weight, cross.linear[0].bias = weight[:d_model], bias[:d_model]
        cross.linear[1].weight, cross.linear[1].bias = weight[d_model:], bias[d_model:]
        _linear(cross.linear[2], weights, f"{name}.cross_attention.output")
    _norm(layer.ffn.layer_norm, weights, f"{name}.feed_forward_residual.norm")
    _linear(layer.ffn.linear_0, weights, f"{name}.feed_forward.expand")
    _linear(layer.ffn.linear_1, weights, f"{name}.feed_forward.contract")


def _linear(spec: object, weights: dict[str, np.ndarray], name: str) -> None:
    spec.weight, spec.bias = weights[f"{name}.weight"], weights[f"{name}.bias"]


def _norm(spec: object, weights: dict[str, np.ndarray], name: str) -> None:
    spec.gamma, spec.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]
