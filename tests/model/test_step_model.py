from typing import Any

import numpy as np
import pytest
import torch

from app.engine.batch_search import search_batch
from app.engine.hypotheses import SearchOptions
from app.engine.step_model import ModelLimits
from model.config import TransformerConfig
from model.layers import attend
from model.step_model import TorchExplainModel, TorchStepModel
from model.transformer import Transformer

VOCAB = 50
LIMITS = ModelLimits(vocab_size=VOCAB, source_len=60, target_len=60, bos_id=1, eos_id=2)
SOURCES = [[5, 9, 11, 12, 2], [6, 2], [7, 8, 30, 2]]


def transformer(norm: str = "pre", positions: str = "sinusoidal", tied: bool = True) -> Transformer:
    torch.manual_seed(3)
    shape = TransformerConfig(
        VOCAB, 2, 3, 32, 4, 64, norm=norm, positions=positions, tie_embeddings=tied, max_positions=64
    )  # type: ignore[arg-type]
    return Transformer(shape).eval()


@pytest.mark.parametrize(
    ("norm", "positions", "tied"),
    [("pre", "sinusoidal", True), ("post", "learned", False), ("post", "sinusoidal", True)],
)
@torch.no_grad()
def test_cached_logits_equal_teacher_forced_ones(norm: str, positions: str, tied: bool) -> None:
    model = transformer(norm, positions, tied)
    targets = np.random.default_rng(0).integers(3, VOCAB, (3, 40))
    targets[:, 0] = LIMITS.bos_id
    decoding = TorchStepModel(model, LIMITS).encode(SOURCES, 1)
    cached = torch.stack([decoding.logits(targets[:, step]) for step in range(40)], dim=1)
    for row, source in enumerate(SOURCES):
        ids = torch.tensor([source])
        whole = model(ids, torch.ones_like(ids, dtype=torch.bool), torch.from_numpy(targets[row : row + 1]))
        torch.testing.assert_close(cached[row], whole[0], atol=1e-5, rtol=0)


@torch.no_grad()
def test_rows_that_join_keep_and_reorder_go_on_as_if_alone() -> None:
    model = TorchStepModel(transformer(), LIMITS)
    fed = np.random.default_rng(1).integers(3, VOCAB, (8, 6))

    def alone(source: list[int], pieces: list[int]) -> torch.Tensor:
        decoding = model.encode([source], 1)
        for piece in pieces:
            logits = decoding.logits(np.array([piece]))
        return logits[0]

    decoding = model.encode(SOURCES[:2], 2)
    decoding.logits(fed[:4, 0])
    decoding.reorder(np.array([1, 1, 3, 2]))
    decoding.join(model.encode(SOURCES[2:], 2))
    decoding.logits(fed[:6, 1])
    decoding.keep([2, 1])
    logits = decoding.logits(fed[:4, 2])
    assert (decoding.sentences, decoding.width) == (2, 2)
    expected = [
        alone(SOURCES[2], [fed[4, 1], fed[0, 2]]),
        alone(SOURCES[2], [fed[5, 1], fed[1, 2]]),
        alone(SOURCES[1], [fed[3, 0], fed[2, 1], fed[2, 2]]),
        alone(SOURCES[1], [fed[2, 0], fed[3, 1], fed[3, 2]]),
    ]
    torch.testing.assert_close(logits, torch.stack(expected), atol=1e-5, rtol=0)


def test_decodings_of_other_widths_do_not_join() -> None:
    model = TorchStepModel(transformer(), LIMITS)
    with pytest.raises(ValueError, match="width"):
        model.encode(SOURCES, 1).join(model.encode(SOURCES, 2))


@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_sentence_is_translated_alike_in_any_company(beam_size: int) -> None:
    model = TorchStepModel(transformer(), LIMITS)
    options = SearchOptions(beam_size, 1.0, 0, 30)
    together = search_batch(model, SOURCES, options)
    for source, found in zip(SOURCES, together, strict=True):
        alone = search_batch(model, [source], options)[0]
        assert [hypothesis.ids for hypothesis in found] == [hypothesis.ids for hypothesis in alone]


def test_explain_says_what_the_steps_said() -> None:
    model = transformer()
    found = search_batch(TorchStepModel(model, LIMITS), SOURCES[:1], SearchOptions(1, 1.0, 0, 10))[0][0]
    target = [*found.ids, LIMITS.eos_id] if found.finish_reason == "eos" else list(found.ids)
    explanation = TorchExplainModel(model, LIMITS.bos_id).explain_pair(SOURCES[0], target)
    assert explanation.log_probs.sum() == pytest.approx(found.log_prob, abs=1e-4)
    source_len, target_len = len(SOURCES[0]), len(target)
    assert explanation.encoder.shape == (2, 4, source_len, source_len)
    assert explanation.decoder.shape == (3, 4, target_len, target_len)
    assert explanation.cross.shape == (3, 4, target_len, source_len)
    for family in (explanation.encoder, explanation.decoder, explanation.cross):
        np.testing.assert_allclose(family.sum(-1), 1, atol=1e-5)
    assert np.all(np.triu(explanation.decoder, 1) == 0)


def test_the_attention_shown_is_the_attention_of_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    model = transformer()
    source, target = SOURCES[0], [8, 30, 17, 9, 41, 2]
    weights: list[torch.Tensor] = []

    def attend_and_note(query: Any, key: Any, value: Any, mask: Any, need_weights: bool) -> Any:
        context, noted = attend(query, key, value, mask, need_weights=True)
        assert noted is not None
        weights.append(noted[0, :, 0])
        return context, None

    with monkeypatch.context() as patch:
        patch.setattr("model.step_model.attend", attend_and_note)
        decoding = TorchStepModel(model, LIMITS).encode([source], 1)
        for piece in [LIMITS.bos_id, *target[:-1]]:
            decoding.step(np.array([piece]), 1)
    layers = model.config.decoder_layers
    decoder = np.zeros((layers, 4, len(target), len(target)), dtype=np.float32)
    cross = np.zeros((layers, 4, len(target), len(source)), dtype=np.float32)
    # Each step runs through the layers; each layer attends to its past, then to the source.
    for number, row in enumerate(weights):
        query, within = divmod(number, 2 * layers)
        family = cross if within % 2 else decoder
        family[within // 2, :, query, : row.shape[-1]] = row.detach().numpy()
    explanation = TorchExplainModel(model, LIMITS.bos_id).explain_pair(source, target)
    np.testing.assert_allclose(explanation.decoder, decoder, atol=1e-5)
    np.testing.assert_allclose(explanation.cross, cross, atol=1e-5)
