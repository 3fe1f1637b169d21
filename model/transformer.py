"""The encoder-decoder Transformer of "Attention Is All You Need" (Vaswani et al. 2017)."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.config import TransformerConfig
from model.layers import DecoderLayer, EncoderLayer, SentenceDropout


@dataclass(frozen=True)
class Attention:
    """Weights of every head: ``[rows, layer, head, query, key]`` per family."""

    encoder: Tensor
    decoder: Tensor
    cross: Tensor


class Embedding(nn.Module):
    """Piece embeddings times ``sqrt(d_model)`` plus positions (sections 3.4 and 3.5)."""

    def __init__(self, config: TransformerConfig, pieces: nn.Embedding) -> None:
        super().__init__()
        self.pieces = pieces
        self.scale = math.sqrt(config.d_model)
        self.dropout = SentenceDropout(config.dropout)
        self.positions: Tensor
        if config.positions == "sinusoidal":
            self.register_buffer(
                "positions", sinusoidal_positions(config.max_positions, config.d_model), persistent=False
            )
        else:
            self.positions = nn.Parameter(torch.randn(config.max_positions, config.d_model) * 0.02)

    def forward(self, ids: Tensor) -> Tensor:
        """``ids [rows, length]`` at positions 0, 1, ... to ``[rows, length, d_model]``."""
        embedded = self.pieces(ids) * self.scale + self.positions[: ids.shape[1]]
        dropped: Tensor = self.dropout(embedded)
        return dropped


def sinusoidal_positions(length: int, d_model: int) -> Tensor:
    """Position encodings (section 3.5), ``[length, d_model]``.

    All sines stand in the first half and all cosines in the second, as in the paper's own code; the
    formula in the text interleaves them, which is the same model up to the order of its features.
    """
    rates = torch.exp(torch.arange(d_model // 2) * (-math.log(10_000.0) * 2 / d_model))
    angles = torch.arange(length)[:, None] * rates[None, :]
    return torch.cat([angles.sin(), angles.cos()], dim=1)


class Transformer(nn.Module):
    """Encoder, decoder and output projection; the latter shares the embedding matrix when tied."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        source_pieces = nn.Embedding(config.vocab_size, config.d_model)
        target_pieces = source_pieces if config.tie_embeddings else nn.Embedding(config.vocab_size, config.d_model)
        self.source_embedding = Embedding(config, source_pieces)
        self.target_embedding = Embedding(config, target_pieces)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        pre = config.norm == "pre"
        self.encoder_norm = nn.LayerNorm(config.d_model) if pre else nn.Identity()
        self.decoder_norm = nn.LayerNorm(config.d_model) if pre else nn.Identity()
        self.projection = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.reset_parameters()
        if config.tie_embeddings:
            self.projection.weight = target_pieces.weight

    def reset_parameters(self) -> None:
        """Glorot matrices, zero biases, embeddings of standard deviation ``d_model ** -0.5``."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=self.config.d_model**-0.5)

    def encode(self, source_ids: Tensor, source_mask: Tensor) -> Tensor:
        """``source_ids [rows, source_len]``, ``source_mask`` True = real, to ``[rows, source_len, d_model]``."""
        return self._encode(source_ids, source_mask, need_weights=False)[0]

    def decode(self, target_ids: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        """States ``[rows, target_len, d_model]`` after each fed piece (teacher forcing)."""
        return self._decode(target_ids, memory, source_mask, need_weights=False)[0]

    def forward(self, source_ids: Tensor, source_mask: Tensor, target_ids: Tensor) -> Tensor:
        """Logits ``[rows, target_len, vocab]`` of the piece after each of ``target_ids``."""
        memory = self.encode(source_ids, source_mask)
        logits: Tensor = self.projection(self.decode(target_ids, memory, source_mask))
        return logits

    def explain(self, source_ids: Tensor, source_mask: Tensor, target_ids: Tensor) -> tuple[Tensor, Attention]:
        """Logits as ``forward``, and the attention of every layer and head."""
        memory, encoder = self._encode(source_ids, source_mask, need_weights=True)
        states, decoder, cross = self._decode(target_ids, memory, source_mask, need_weights=True)
        return self.projection(states), Attention(
            torch.stack(encoder, 1), torch.stack(decoder, 1), torch.stack(cross, 1)
        )

    def _encode(self, source_ids: Tensor, source_mask: Tensor, need_weights: bool) -> tuple[Tensor, list[Tensor]]:
        states = self.source_embedding(source_ids)
        mask = source_mask[:, None, None, :]
        all_weights = []
        for layer in self.encoder:
            states, weights = layer(states, mask, need_weights)
            all_weights.append(weights)
        return self.encoder_norm(states), all_weights

    def _decode(
        self, target_ids: Tensor, memory: Tensor, source_mask: Tensor, need_weights: bool
    ) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        length = target_ids.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool, device=target_ids.device).tril()
        cross_mask = source_mask[:, None, None, :]
        states = self.target_embedding(target_ids)
        decoder, cross = [], []
        for layer in self.decoder:
            states, self_weights, cross_weights = layer(states, memory, causal, cross_mask, need_weights)
            decoder.append(self_weights)
            cross.append(cross_weights)
        return self.decoder_norm(states), decoder, cross
