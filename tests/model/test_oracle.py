from functools import cache

import pytest
import torch

from app.engine.batch_search import search_batch
from app.engine.hypotheses import SearchOptions
from app.engine.step_model import ModelLimits
from model.batching import collate, pad_rows
from model.config import Norm, TransformerConfig
from model.step_model import TorchStepModel
from model.train import batch_loss
from model.transformer import Transformer
from tests.model.oracle import hugging_face_model

VOCAB = 12
LIMITS = ModelLimits(vocab_size=VOCAB, source_len=60, target_len=60, bos_id=1, eos_id=2)


@cache
@torch.enable_grad()
def half_trained(norm: Norm) -> Transformer:
    """A model that has begun to learn to copy: it ends sentences, and still has doubts that beams can follow."""
    torch.manual_seed(11)
    transformer = Transformer(TransformerConfig(VOCAB, 3, 2, 32, 4, 64, dropout=0, norm=norm, max_positions=80))
    # Freshly made norms and biases are ones and zeros: a mix-up of them would not show.
    for parameter in transformer.parameters():
        torch.nn.init.normal_(parameter, mean=parameter.mean().item(), std=0.15)
    optimizer = torch.optim.Adam(transformer.parameters(), lr=3e-3)
    sources = random_sources(64)
    batch = collate(sources, [[LIMITS.bos_id, *source] for source in sources], 0)
    for _ in range(60):
        optimizer.zero_grad()
        batch_loss(transformer, batch, 0.0)[0].backward()
        optimizer.step()
    return transformer.eval()


def random_sources(count: int) -> list[list[int]]:
    generator = torch.Generator().manual_seed(5)
    lengths = torch.randint(2, 12, (count,), generator=generator).tolist()
    return [[*torch.randint(3, VOCAB, (length,), generator=generator).tolist(), 2] for length in lengths]


@pytest.mark.parametrize("norm", ["pre", "post"])
@torch.no_grad()
def test_same_weights_same_logits(norm: Norm) -> None:
    transformer = half_trained(norm)
    source = torch.tensor([[4, 5, 6, 7, 2], [8, 9, 2, 0, 0]])
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    target = torch.randint(3, VOCAB, (2, 9))
    theirs = hugging_face_model(transformer)(input_ids=source, attention_mask=mask.long(), decoder_input_ids=target)
    torch.testing.assert_close(transformer(source, mask, target), theirs.logits, atol=1e-4, rtol=0)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("beam_size", "length_penalty"), [(1, 1.0), (4, 1.0), (4, 0.6), (3, 0.0)])
@torch.no_grad()
def test_same_weights_same_translations(norm: Norm, beam_size: int, length_penalty: float) -> None:
    transformer = half_trained(norm)
    sources = random_sources(76)[64:]
    options = SearchOptions(beam_size, length_penalty, 0, 20)
    found = search_batch(TorchStepModel(transformer, LIMITS), sources, options)
    source_ids = pad_rows(sources, 0)
    generated = hugging_face_model(transformer).generate(
        source_ids,
        attention_mask=(source_ids != 0).long(),
        num_beams=beam_size,
        length_penalty=length_penalty,
        early_stopping=False,
        do_sample=False,
        max_new_tokens=20,
    )
    for (best, *_), ids in zip(found, generated[:, 1:].tolist(), strict=True):
        produced = [*best.ids, LIMITS.eos_id] if best.finish_reason == "eos" else list(best.ids)
        assert produced == ids[: len(produced)]
        assert set(ids[len(produced) :]) <= {0, LIMITS.eos_id}  # padding
    assert sum(best.finish_reason == "eos" for best, *_ in found) >= 3
