"""Attention, feed-forward network and the two kinds of layer (Vaswani et al. 2017, section 3).

Shapes name their axes: ``rows`` sentences, ``query`` and ``key`` positions, ``d_model`` features, split
into ``heads`` of ``head_dim``. A mask is True where attention is allowed.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.config import TransformerConfig


class MultiHeadAttention(nn.Module):
    """Multi-head attention (section 3.2.2): ``Concat(head_1, ..., head_h) W_O``.

    Queries, keys and values of all heads come from one stacked matrix ``qkv`` of ``3 * d_model`` rows.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.head_dim = config.head_dim
        self.qkv = nn.Linear(config.d_model, 3 * config.d_model)
        self.output = nn.Linear(config.d_model, config.d_model)

    def forward(
        self, queries: Tensor, memory: Tensor | None, mask: Tensor, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Attends from ``queries [rows, query, d_model]`` to ``memory [rows, key, d_model]``.

        Args:
            memory: None for self-attention.
            mask: bool, broadcastable to ``[rows, heads, query, key]``, True = may be attended to.
            need_weights: also return the weights ``[rows, heads, query, key]``.
        """
        query, key, value = self.project(queries, memory)
        context, weights = attend(query, key, value, mask, need_weights)
        rows, _, length, _ = query.shape
        merged = context.transpose(1, 2).reshape(rows, length, self.heads * self.head_dim)
        return self.output(merged), weights

    def project(self, queries: Tensor, memory: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, each ``[rows, heads, length, head_dim]``."""
        if memory is None:
            query, key, value = self.qkv(queries).chunk(3, dim=-1)
        else:
            query = self.project_query(queries)
            key, value = self.project_memory(memory)
        return self.split_heads(query), self.split_heads(key), self.split_heads(value)

    def project_query(self, queries: Tensor) -> Tensor:
        """The first third of ``qkv``: ``[rows, query, d_model]``."""
        d_model = self.heads * self.head_dim
        return functional.linear(queries, self.qkv.weight[:d_model], self.qkv.bias[:d_model])

    def project_memory(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """The other two thirds of ``qkv``: keys and values, each ``[rows, key, d_model]``."""
        d_model = self.heads * self.head_dim
        key, value = functional.linear(memory, self.qkv.weight[d_model:], self.qkv.bias[d_model:]).chunk(2, dim=-1)
        return key, value

    def split_heads(self, merged: Tensor) -> Tensor:
        """``[rows, length, d_model]`` to ``[rows, heads, length, head_dim]``."""
        rows, length, _ = merged.shape
        return merged.view(rows, length, self.heads, self.head_dim).transpose(1, 2)


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, need_weights: bool) -> tuple[Tensor, Tensor | None]:
    """Scaled dot-product attention (equation 1): ``softmax(Q K^T / sqrt(head_dim)) V``.

    The fused kernel and the written-out path agree to 1e-5 (a test says so). On the CPU the written-out
    path is also the faster one to train at sentence length; its weights are returned only when asked for.
    """
    if query.is_cuda and not need_weights:
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask), None
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    return weights.to(value.dtype) @ value, weights if need_weights else None


class SentenceDropout(nn.Module):
    """Dropout with one mask per sentence, shared by its positions (Gal and Ghahramani 2016, section 4).

    Drawing a mask per position costs a seventh of a training step on a CPU; this draws a tenth of that.
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, states: Tensor) -> Tensor:
        """``states [rows, length, d_model]``; the identity outside training."""
        if not self.training or self.probability == 0:
            return states
        mask = states.new_empty(states.shape[0], 1, states.shape[2]).bernoulli_(1 - self.probability)
        return states * (mask / (1 - self.probability))


class FeedForward(nn.Module):
    """Position-wise feed-forward network (equation 2): ``max(0, x W_1 + b_1) W_2 + b_2``."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.expand = nn.Linear(config.d_model, config.d_ff)
        self.contract = nn.Linear(config.d_ff, config.d_model)

    def forward(self, states: Tensor) -> Tensor:
        """``[..., d_model]`` to ``[..., d_model]``."""
        contracted: Tensor = self.contract(self.expand(states).relu())
        return contracted


class Residual(nn.Module):
    """One sub-layer's connection: ``LayerNorm(x + Sublayer(x))`` (section 3.1, "post"), or

    ``x + Sublayer(LayerNorm(x))`` ("pre", Xiong et al. 2020), which trains without a long warm-up.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.pre = config.norm == "pre"
        self.norm = nn.LayerNorm(config.d_model)
        self.dropout = SentenceDropout(config.dropout)

    def enter(self, states: Tensor) -> Tensor:
        """What the sub-layer reads."""
        entered: Tensor = self.norm(states) if self.pre else states
        return entered

    def leave(self, states: Tensor, update: Tensor) -> Tensor:
        """What the next sub-layer gets."""
        left: Tensor = states + self.dropout(update)
        if not self.pre:
            left = self.norm(left)
        return left


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward network (section 3.1)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config)
        self.self_residual = Residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config)

    def forward(self, states: Tensor, mask: Tensor, need_weights: bool = False) -> tuple[Tensor, Tensor | None]:
        """``states [rows, source_len, d_model]``; also the attention weights where asked for."""
        update, weights = self.self_attention(self.self_residual.enter(states), None, mask, need_weights)
        states = self.self_residual.leave(states, update)
        update = self.feed_forward(self.feed_forward_residual.enter(states))
        return self.feed_forward_residual.leave(states, update), weights


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's output, feed-forward network (section 3.1)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config)
        self.self_residual = Residual(config)
        self.cross_attention = MultiHeadAttention(config)
        self.cross_residual = Residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self, states: Tensor, memory: Tensor, self_mask: Tensor, cross_mask: Tensor, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """``states [rows, target_len, d_model]``, ``memory [rows, source_len, d_model]``."""
        update, self_weights = self.self_attention(self.self_residual.enter(states), None, self_mask, need_weights)
        states = self.self_residual.leave(states, update)
        update, cross_weights = self.cross_attention(
            self.cross_residual.enter(states), memory, cross_mask, need_weights
        )
        states = self.cross_residual.leave(states, update)
        update = self.feed_forward(self.feed_forward_residual.enter(states))
        return self.feed_forward_residual.leave(states, update), self_weights, cross_weights
