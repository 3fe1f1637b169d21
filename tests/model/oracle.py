"""The same weights in somebody else's Transformer: Pegasus is ours with pre-LN, Marian ours with post-LN."""

from typing import Any

import torch
from torch import Tensor
from transformers import MarianConfig, MarianMTModel, PegasusConfig, PegasusForConditionalGeneration

from model.transformer import Transformer


def hugging_face_model(transformer: Transformer) -> Any:
    """A model of the ``transformers`` package with the weights of ``transformer`` (sinusoidal, tied)."""
    shape = transformer.config
    settings: dict[str, Any] = {
        "vocab_size": shape.vocab_size,
        "d_model": shape.d_model,
        "encoder_layers": shape.encoder_layers,
        "decoder_layers": shape.decoder_layers,
        "encoder_attention_heads": shape.heads,
        "decoder_attention_heads": shape.heads,
        "encoder_ffn_dim": shape.d_ff,
        "decoder_ffn_dim": shape.d_ff,
        "activation_function": "relu",
        "scale_embedding": True,
        "max_position_embeddings": shape.max_positions,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 1,
        "forced_eos_token_id": None,
    }
    if shape.norm == "pre":
        model: Any = PegasusForConditionalGeneration(PegasusConfig(**settings))
    else:
        model = MarianMTModel(MarianConfig(**settings))
    missing, unexpected = model.load_state_dict(_renamed(transformer), strict=False)
    positions_and_bias = ("embed_positions.weight", "final_logits_bias")
    assert not unexpected
    assert all(name.endswith(positions_and_bias) for name in missing), missing
    return model.eval()


def _renamed(transformer: Transformer) -> dict[str, Tensor]:
    embedding = transformer.projection.weight
    names = ("model.shared", "model.encoder.embed_tokens", "model.decoder.embed_tokens", "lm_head")
    weights = {f"{name}.weight": embedding for name in names}
    for side, layers in (("encoder", transformer.encoder), ("decoder", transformer.decoder)):
        for number, layer in enumerate(layers):
            weights |= _layer(layer.state_dict(), f"model.{side}.layers.{number}")
        norm = transformer.encoder_norm if side == "encoder" else transformer.decoder_norm
        weights |= {f"model.{side}.layer_norm.{name}": tensor for name, tensor in norm.state_dict().items()}
    return weights


def _layer(ours: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    theirs = {}
    for kind in ("weight", "bias"):
        for attention, name in (("self_attention", "self_attn"), ("cross_attention", "encoder_attn")):
            if f"{attention}.qkv.{kind}" not in ours:
                continue
            thirds = torch.chunk(ours[f"{attention}.qkv.{kind}"], 3)
            for third, projection in zip(thirds, ("q_proj", "k_proj", "v_proj"), strict=True):
                theirs[f"{prefix}.{name}.{projection}.{kind}"] = third
            theirs[f"{prefix}.{name}.out_proj.{kind}"] = ours[f"{attention}.output.{kind}"]
            residual = attention.replace("attention", "residual")
            theirs[f"{prefix}.{name}_layer_norm.{kind}"] = ours[f"{residual}.norm.{kind}"]
        theirs[f"{prefix}.fc1.{kind}"] = ours[f"feed_forward.expand.{kind}"]
        theirs[f"{prefix}.fc2.{kind}"] = ours[f"feed_forward.contract.{kind}"]
        theirs[f"{prefix}.final_layer_norm.{kind}"] = ours[f"feed_forward_residual.norm.{kind}"]
    return theirs
