"""The torch model behind the interfaces of search and explanation: the oracle of the exported graphs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from app.engine.step_model import Candidates, Decoding, Explanation, HeadMasks, Int64, ModelLimits
from app.text.tokenizer import SpecialIds
from model.batching import pad_rows
from model.config import TransformerConfig
from model.layers import DecoderLayer, MultiHeadAttention, attend
from model.transformer import Transformer

_FIRST_CAPACITY = 32
_LONGEST_TARGET = 256
_RIVALS = 5


def limits_of(shape: TransformerConfig, longest: int, special: SpecialIds) -> ModelLimits:
    """Sizes of a model trained on sentences of ``longest`` pieces; the same that an export writes down.

    A sentence longer than any in training comes out badly, so it is not read in one; a translation may be
    longer than its source.
    """
    return ModelLimits(
        vocab_size=shape.vocab_size,
        source_len=min(shape.max_positions, longest + 2),
        target_len=min(shape.max_positions, _LONGEST_TARGET),
        bos_id=special.bos,
        eos_id=special.eos,
    )


class TorchStepModel:
    """A ``StepModel`` over the modules of training; works on the transformer's device, in its precision."""

    def __init__(self, transformer: Transformer, limits: ModelLimits) -> None:
        self._transformer = transformer
        self._limits = limits

    @property
    def limits(self) -> ModelLimits:
        """Sizes and special ids."""
        return self._limits

    @torch.no_grad()
    def encode(self, sources: Sequence[Sequence[int]], width: int) -> "TorchDecoding":
        """Encodes sentences of any lengths, padded to the longest, and stands before their first step."""
        device = next(self._transformer.parameters()).device
        ids = pad_rows(sources, 0).to(device)
        lengths = torch.tensor([len(source) for source in sources], device=device)
        mask = torch.arange(ids.shape[1], device=device) < lengths[:, None]
        return TorchDecoding(self._transformer, self._transformer.encode(ids, mask), mask, width)


class TorchDecoding:
    """Caches of ``sentences * width`` rows.

    Self-attention caches are ``[layers, rows, heads, capacity, head_dim]``, filled from the left as far as
    each row's position; encoder caches are ``[layers, sentences, heads, source_len, head_dim]``.
    """

    def __init__(self, transformer: Transformer, memory: Tensor, source_mask: Tensor, width: int) -> None:
        self._transformer = transformer
        self._layers = [layer for layer in transformer.decoder if isinstance(layer, DecoderLayer)]
        self._width = width
        self._source_mask = source_mask
        projected = [_memory_heads(layer.cross_attention, memory) for layer in self._layers]
        self._memory_keys = torch.stack([keys for keys, _ in projected])
        self._memory_values = torch.stack([values for _, values in projected])
        rows = len(memory) * width
        config = transformer.config
        shape = (len(self._layers), rows, config.heads, _FIRST_CAPACITY, config.head_dim)
        self._keys = self._memory_keys.new_zeros(shape)
        self._values = self._memory_keys.new_zeros(shape)
        self._positions = torch.zeros(rows, dtype=torch.int64, device=memory.device)

    @property
    def sentences(self) -> int:
        """How many sentences it holds."""
        return len(self._source_mask)

    @property
    def width(self) -> int:
        """Rows per sentence."""
        return self._width

    @property
    def source_len(self) -> int:
        """Source positions that a step reads for every row, padding included."""
        return self._source_mask.shape[1]

    def step(self, last_ids: Int64, k: int) -> Candidates:
        """Feeds one piece a row; the ``k`` likeliest that follow."""
        log_probs, ids = self.logits(last_ids).float().log_softmax(dim=-1).topk(k, dim=-1)
        return Candidates(ids.cpu().numpy(), log_probs.cpu().numpy())

    @torch.no_grad()
    def logits(self, last_ids: Int64) -> Tensor:
        """Feeds ``last_ids [rows]``; logits ``[rows, vocab]`` of the pieces that follow."""
        longest = int(self._positions.max()) + 1
        if longest > self._keys.shape[3]:
            self._grow(2 * self._keys.shape[3])
        embedding = self._transformer.target_embedding
        ids = torch.from_numpy(np.asarray(last_ids)).to(self._positions.device)
        states = (embedding.pieces(ids) * embedding.scale + embedding.positions[self._positions])[:, None]
        for number, layer in enumerate(self._layers):
            states = self._self_attention(number, layer, states, longest)
            states = self._cross_attention(number, layer, states)
            update = layer.feed_forward(layer.feed_forward_residual.enter(states))
            states = layer.feed_forward_residual.leave(states, update)
        self._positions += 1
        logits: Tensor = self._transformer.projection(self._transformer.decoder_norm(states))[:, 0]
        return logits

    def _self_attention(self, number: int, layer: DecoderLayer, states: Tensor, longest: int) -> Tensor:
        """``states [rows, 1, d_model]``; the row's own past and itself are its keys."""
        attention = layer.self_attention
        query, key, value = attention.project(layer.self_residual.enter(states), None)
        rows = torch.arange(len(states), device=states.device)
        self._keys[number, rows, :, self._positions] = key[:, :, 0]
        self._values[number, rows, :, self._positions] = value[:, :, 0]
        mask = torch.arange(longest, device=states.device) <= self._positions[:, None]
        keys, values = self._keys[number, :, :, :longest], self._values[number, :, :, :longest]
        context, _ = attend(query, keys, values, mask[:, None, None], need_weights=False)
        return layer.self_residual.leave(states, attention.output(context.flatten(1)[:, None]))

    def _cross_attention(self, number: int, layer: DecoderLayer, states: Tensor) -> Tensor:
        """``states [rows, 1, d_model]``; the rows of a sentence stand on the query axis and share its keys."""
        attention = layer.cross_attention
        entered = layer.cross_residual.enter(states).view(self.sentences, self._width, -1)
        query = attention.split_heads(attention.project_query(entered))
        keys, values = self._memory_keys[number], self._memory_values[number]
        context, _ = attend(query, keys, values, self._source_mask[:, None, None], need_weights=False)
        update = attention.output(context.transpose(1, 2).flatten(2))
        return layer.cross_residual.leave(states, update.reshape(states.shape))

    def reorder(self, parents: Int64) -> None:
        """Moves the self-attention caches only: rows of a sentence share its encoder keys and values."""
        self._take_rows(torch.from_numpy(np.asarray(parents)).to(self._positions.device))

    def keep(self, sentences: Sequence[int]) -> None:
        """Drops all sentences but these."""
        kept = torch.tensor(list(sentences), dtype=torch.int64, device=self._positions.device)
        self._take_rows((kept[:, None] * self._width + torch.arange(self._width, device=kept.device)).flatten())
        self._source_mask = self._source_mask[kept]
        self._memory_keys = self._memory_keys[:, kept]
        self._memory_values = self._memory_values[:, kept]

    def join(self, other: Decoding) -> None:
        """Appends the sentences of ``other``; the shorter caches of the two are padded."""
        if not isinstance(other, TorchDecoding) or other.width != self.width:
            raise ValueError("only a decoding of the same model and width can join")
        capacity = max(self._keys.shape[3], other._keys.shape[3])
        source_len = max(self._source_mask.shape[1], other._source_mask.shape[1])
        for decoding in (self, other):
            decoding._grow(capacity)
            decoding._pad_sources(source_len)
        self._keys = torch.cat([self._keys, other._keys], dim=1)
        self._values = torch.cat([self._values, other._values], dim=1)
        self._positions = torch.cat([self._positions, other._positions])
        self._source_mask = torch.cat([self._source_mask, other._source_mask])
        self._memory_keys = torch.cat([self._memory_keys, other._memory_keys], dim=1)
        self._memory_values = torch.cat([self._memory_values, other._memory_values], dim=1)

    def _take_rows(self, rows: Tensor) -> None:
        self._keys, self._values = self._keys[:, rows], self._values[:, rows]
        self._positions = self._positions[rows]

    def _grow(self, capacity: int) -> None:
        self._keys = _pad_axis(self._keys, 3, capacity)
        self._values = _pad_axis(self._values, 3, capacity)

    def _pad_sources(self, source_len: int) -> None:
        self._source_mask = _pad_axis(self._source_mask, 1, source_len)
        self._memory_keys = _pad_axis(self._memory_keys, 3, source_len)
        self._memory_values = _pad_axis(self._memory_values, 3, source_len)


class TorchExplainModel:
    """``app.runtime.explain_model.OnnxExplainModel.explain_pair`` over ``Transformer.explain``."""

    def __init__(self, transformer: Transformer, bos_id: int) -> None:
        self._transformer = transformer
        self._bos_id = bos_id

    @property
    def config(self) -> TransformerConfig:
        """Sizes of the transformer."""
        return self._transformer.config

    @torch.no_grad()
    def explain_pair(
        self, source_ids: Sequence[int], target_ids: Sequence[int], masks: HeadMasks | None = None
    ) -> Explanation:
        """One teacher-forced pass; see ``app.engine.step_model.Explanation`` for the shapes."""
        device = next(self._transformer.parameters()).device
        source = torch.tensor([list(source_ids)], device=device)
        fed = torch.tensor([[self._bos_id, *target_ids[:-1]]], device=device)
        with _muted(self._transformer, masks):
            logits, attention = self._transformer.explain(source, torch.ones_like(source, dtype=torch.bool), fed)
        following = torch.tensor(list(target_ids), device=device)
        log_probs = logits[0].float().log_softmax(dim=-1)
        rivals = log_probs.topk(min(_RIVALS, log_probs.shape[1]))
        return Explanation(
            log_probs=log_probs.gather(1, following[:, None])[:, 0].cpu().numpy(),
            rival_ids=rivals.indices.cpu().numpy(),
            rival_log_probs=rivals.values.cpu().numpy(),
            entropy=-(log_probs.exp() * log_probs).sum(dim=-1).cpu().numpy(),
            encoder=attention.encoder[0].float().cpu().numpy(),
            decoder=attention.decoder[0].float().cpu().numpy(),
            cross=attention.cross[0].float().cpu().numpy(),
        )


@contextmanager
def _muted(transformer: Transformer, masks: HeadMasks | None) -> Iterator[None]:
    """Multiplies what each head gives by its number in ``masks``, on the way into the output projection."""
    parts = {
        "encoder": (transformer.encoder, "self_attention"),
        "decoder": (transformer.decoder, "self_attention"),
        "cross": (transformer.decoder, "cross_attention"),
    }
    attentions = [
        (family, index, layer.get_submodule(part))
        for family, (stack, part) in parts.items()
        for index, layer in enumerate(stack)
    ]
    hooks = []
    for family, index, attention in attentions if masks else []:
        assert isinstance(attention, MultiHeadAttention)
        gate = torch.from_numpy(getattr(masks, family)[index]).repeat_interleave(attention.head_dim)

        def mute(_module: object, merged: tuple[Tensor], gate: Tensor = gate) -> Tensor:
            return merged[0] * gate.to(merged[0].device)

        hooks.append(attention.output.register_forward_pre_hook(mute))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _memory_heads(attention: MultiHeadAttention, memory: Tensor) -> tuple[Tensor, Tensor]:
    """Keys and values ``[sentences, heads, source_len, head_dim]`` of ``memory [sentences, source_len, d_model]``."""
    keys, values = attention.project_memory(memory)
    return attention.split_heads(keys), attention.split_heads(values)


def _pad_axis(tensor: Tensor, axis: int, length: int) -> Tensor:
    """Appends zeros (False) along ``axis`` until it is ``length`` long."""
    missing = length - tensor.shape[axis]
    if missing <= 0:
        return tensor
    shape = list(tensor.shape)
    shape[axis] = missing
    return torch.cat([tensor, tensor.new_zeros(shape)], dim=axis)
