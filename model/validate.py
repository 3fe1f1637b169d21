"""Validation during training: loss on held-out pairs."""

import torch

from app.text.tokenizer import Tokenizer
from model.batching import BatchMaker
from model.config import TrainingConfig
from model.dataset import Corpus
from model.loss import smoothed_cross_entropy
from model.transformer import Transformer


@torch.no_grad()
def validate(
    transformer: Transformer, batches: BatchMaker, corpora: list[Corpus], tokenizer: Tokenizer, training: TrainingConfig
) -> dict[str, float]:
    """``nll_<corpus>`` in nats per piece for every corpus."""
    transformer.eval()
    device = next(transformer.parameters()).device
    record = {}
    for number, corpus in enumerate(corpora):
        total, pieces = 0.0, 0
        for batch in batches.held_out(number):
            batch = batch.to(device)
            with torch.autocast(device.type, dtype=torch.bfloat16):
                memory = transformer.encode(batch.source_ids, batch.source_mask)
                states = transformer.decode(batch.target_ids, memory, batch.source_mask)
                real = states.flatten(0, 1).index_select(0, batch.real_positions)
                _, nll = smoothed_cross_entropy(real, transformer.projection.weight, batch.next_ids, 0.0)
            total += nll.item() * len(batch.next_ids)
            pieces += len(batch.next_ids)
        record[f"nll_{corpus.name}"] = round(total / pieces, 4)
    return record
