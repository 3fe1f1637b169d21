import pytest
import torch

from app.engine.batch_search import search_batch
from app.engine.hypotheses import SearchOptions
from app.engine.step_model import ModelLimits
from model.config import Norm, TransformerConfig
from model.step_model import TorchStepModel
from model.transformer import Transformer
from tests.model.oracle import hugging_face_model

VOCAB = 12
LIMITS = ModelLimits(vocab_size=VOCAB, source_len=60, target_len=60, bos_id=1, eos_id=2)


def random_transformer(norm: Norm) -> Transformer:
    torch.manual_seed(11)
    transformer = Transformer(TransformerConfig(VOCAB, 3, 2, 32, 4, 64, norm=norm, max_positions=80)).eval()
    # Freshly made norms and biases are ones and zeros: a mix-up of them would not show.
    for parameter in transformer.parameters():
        torch.nn.init.normal_(parameter, mean=parameter.mean().item(), std=0.3)
    return transformer


def random_sources(count: int) -> list[list[int]]:
    generator = torch.Generator().manual_seed(5)
    lengths = torch.randint(2, 12, (count,), generator=generator).tolist()
    return [[*torch.randint(3, VOCAB, (length,), generator=generator).tolist(), 2] for length in lengths]


@pytest.mark.parametrize("norm", ["pre", "post"])
@torch.no_grad()
def test_same_weights_same_logits(norm: Norm) -> None:
    transformer = random_transformer(norm)
    source = torch.tensor([[4, 5, 6, 7, 2], [8, 9, 2, 0, 0]])
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    target = torch.randint(3, VOCAB, (2, 9))
    theirs = hugging_face_model(transformer)(input_ids=source, attention_mask=mask.long(), decoder_input_ids=target)
    torch.testing.assert_close(transformer(source, mask, target), theirs.logits, atol=1e-4, rtol=0)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("beam_size", "length_penalty"), [(1, 1.0), (4, 1.0), (4, 0.6), (3, 0.0)])
@torch.no_grad()
def test_same_weights_same_translations(norm: Norm, beam_size: int, length_penalty: float) -> None:
    transformer = random_transformer(norm)
    theirs = hugging_face_model(transformer)
    sources = random_sources(30)
    options = SearchOptions(beam_size, length_penalty, 0, 50)
    found = search_batch(TorchStepModel(transformer, LIMITS), sources, options)
    ended = 0
    for source, (best, *_) in zip(sources, found, strict=True):
        generated = theirs.generate(
            torch.tensor([source]),
            attention_mask=torch.ones(1, len(source), dtype=torch.int64),
            num_beams=beam_size,
            length_penalty=length_penalty,
            early_stopping=False,
            do_sample=False,
            max_new_tokens=50,
        )
        ids = generated[0, 1:].tolist()
        assert list(best.ids) == (ids[:-1] if best.finish_reason == "eos" else ids)
        ended += best.finish_reason == "eos"
    assert ended >= 5
