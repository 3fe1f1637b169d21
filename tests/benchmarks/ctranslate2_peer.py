"""The same weights as a CTranslate2 model: the peer that decoding is measured against."""

from collections.abc import Sequence
from pathlib import Path

import ctranslate2
import numpy as np
from ctranslate2.specs import TransformerSpec
from ctranslate2.specs.common_spec import Activation

from app.text.tokenizer import Tokenizer
from model.checkpoint import Checkpoint
from model.transformer import sinusoidal_positions


class CTranslate2Peer:
    """Decodes ids with CTranslate2, int8."""

    def __init__(self, checkpoint: Checkpoint, tokenizer: Tokenizer, folder: Path, threads: int) -> None:
        self._tokenizer = tokenizer
        self._ids = {piece: number for number, piece in enumerate(tokenizer.pieces(range(tokenizer.vocab_size)))}
        _convert(checkpoint, list(self._ids), folder)
        self._translator = ctranslate2.Translator(
            str(folder), compute_type="int8", inter_threads=1, intra_threads=threads
        )

    def translate(self, sources: Sequence[Sequence[int]], beam_size: int, target_len: int) -> list[list[int]]:
        """Best hypothesis of every source in one batch."""
        results = self._translator.translate_batch(
            [self._tokenizer.pieces(source) for source in sources],
            beam_size=beam_size,
            max_decoding_length=target_len,
            max_batch_size=0,
        )
        return [[self._ids[piece] for piece in result.hypotheses[0]] for result in results]


def _convert(checkpoint: Checkpoint, pieces: list[str], folder: Path) -> None:
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
