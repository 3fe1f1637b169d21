import pytest
import torch
from torch.nn import functional

from model.config import TransformerConfig
from model.layers import MultiHeadAttention, SentenceDropout, attend


@pytest.mark.parametrize("causal", [False, True])
def test_written_out_attention_equals_the_fused_kernel(causal: bool) -> None:
    torch.manual_seed(0)
    query, key, value = (torch.randn(3, 4, 7, 8) for _ in range(3))
    mask = torch.arange(7) < torch.tensor([7, 4, 1])[:, None]
    mask = mask[:, None, None, :].expand(3, 4, 7, 7)
    if causal:
        mask = mask & torch.ones(7, 7, dtype=torch.bool).tril()
    context, weights = attend(query, key, value, mask, need_weights=True)
    fused = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    torch.testing.assert_close(context, fused, atol=1e-5, rtol=0)
    assert weights is not None
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 4, 7))
    assert torch.all(weights[~mask] == 0)


def test_projections_for_memory_are_the_parts_of_the_stacked_matrix() -> None:
    attention = MultiHeadAttention(TransformerConfig(d_model=16, heads=2))
    states = torch.randn(2, 5, 16)
    together = attention.project(states, None)
    apart = attention.project(states, states)
    for one, other in zip(together, apart, strict=True):
        torch.testing.assert_close(one, other)


def test_sentence_dropout_shares_its_mask_among_positions_and_keeps_the_mean() -> None:
    torch.manual_seed(0)
    dropout = SentenceDropout(0.25)
    dropped = dropout(torch.ones(200, 5, 50))
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert dropped.mean().item() == pytest.approx(1, abs=0.02)
    assert torch.equal(dropout.eval()(torch.ones(2, 3, 4)), torch.ones(2, 3, 4))
