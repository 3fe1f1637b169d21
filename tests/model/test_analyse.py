import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from model import analyse
from model.checkpoint import Checkpoint, save_checkpoint
from model.head_importance import Head, all_heads, attentions, make_task, negative_log_likelihood, without
from model.head_statistics import count, divergence, entropy, role
from model.transformer import Transformer
from tests.model.tiny import tiny_config

PAIRS = [("the cat sees 24 X1", "le chat voit 24 X1"), ("the bird sings here", "le oiseau chante ici")]


@pytest.fixture
def transformer() -> Transformer:
    torch.manual_seed(0)
    return Transformer(tiny_config().transformer).eval()


def test_a_sharp_head_has_no_entropy_and_an_even_one_has_the_most() -> None:
    weights = np.array([[[1.0, 0, 0, 0]], [[0.25] * 4]])
    assert entropy(weights).tolist() == [[0.0], [pytest.approx(math.log(4))]]


def test_divergence_is_zero_between_equal_heads_and_largest_between_opposite_ones() -> None:
    found = divergence(np.array([[[1.0, 0]], [[0, 1.0]], [[1.0, 0]]]))[..., 0]
    assert found.diagonal() == pytest.approx(0, abs=1e-12)
    assert found[0, 2] == pytest.approx(0, abs=1e-12)
    assert found[0, 1] == pytest.approx(math.log(2), abs=0.02)
    assert np.array_equal(found, found.T)


def test_roles_are_told_by_where_the_largest_weight_is() -> None:
    previous = np.eye(5, k=-1)
    previous[0, 0] = 1
    maps = np.stack([previous, np.eye(5), np.full((5, 5), 0.2), np.eye(5, k=1) + 0.0])
    maps[2, :, 0] = 5  # all on the first key
    maps /= np.maximum(maps.sum(axis=2, keepdims=True), 1)
    counted = count(maps.astype(np.float32), special_keys=(0,))
    assert [role(counted, head) for head in range(4)] == ["previous", "itself", "delimiter", "next"]
    assert counted.confidence[1] / counted.queries == pytest.approx(4 / 5)  # the special key does not count
    both = counted + counted
    assert both.queries == 10
    assert np.array_equal(both.distance, 2 * counted.distance)


@pytest.mark.parametrize("family", ["encoder", "decoder", "cross"])
def test_a_muted_head_gives_what_zero_weights_on_its_values_give(transformer: Transformer, family: str) -> None:
    source = torch.tensor([[4, 5, 6, 7, 2]])
    mask = torch.ones_like(source, dtype=torch.bool)
    target = torch.tensor([[1, 8, 9]])
    head = Head(family, 1, 2)  # type: ignore[arg-type]
    muted = without(transformer, [head])(source, mask, target)
    # Another way to silence it: its values are nought, so whatever it looks at it says nothing.
    shape = transformer.config
    attention = attentions(transformer, head.family)[head.layer]
    first = 2 * shape.d_model + head.head * shape.head_dim
    with torch.no_grad():
        attention.qkv.weight[first : first + shape.head_dim] = 0
        attention.qkv.bias[first : first + shape.head_dim] = 0
        silent = transformer(source, mask, target)
    assert torch.allclose(muted, silent, atol=1e-5)


def test_muting_leaves_the_model_itself_alone(transformer: Transformer, tokenizer: Tokenizer) -> None:
    task = make_task(PAIRS, tokenizer, ("en", "fr"))
    assert len(task.sources) == 4
    before = negative_log_likelihood(transformer, task, 0)
    heads = all_heads(transformer)
    assert len(heads) == 3 * 2 * 4
    assert negative_log_likelihood(without(transformer, heads), task, 0) != pytest.approx(before, abs=1e-4)
    assert negative_log_likelihood(transformer, task, 0) == before
    assert negative_log_likelihood(without(transformer, []), task, 0) == before


def test_the_analysis_covers_every_head_and_every_family(
    transformer: Transformer, tokenizer_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = tmp_path / "step.pt"
    save_checkpoint(Checkpoint(tiny_config(), transformer.state_dict(), 1, 1), checkpoint)
    (tmp_path / TOKENIZER_FILE).write_bytes(tokenizer_path.read_bytes())
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{first}\t{second}\n" for first, second in PAIRS), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["analyse", str(checkpoint), str(pairs), str(tmp_path / "analysis.json")])
    analyse.main()
    found = json.loads((tmp_path / "analysis.json").read_text(encoding="utf-8"))
    assert (found["pairs"], found["examples"]) == (2, 4)
    assert len({(head["family"], head["layer"], head["head"]) for head in found["heads"]}) == 24
    assert {family: np.shape(rises) for family, rises in found["importance"].items()} == dict.fromkeys(
        ("encoder", "decoder", "cross"), (2, 4)
    )
    assert len(found["without_one"]) == 20
    for curve in found["pruning"].values():
        assert [point["kept"] for point in curve] == [8, 6, 4, 2, 0]
        assert curve[0]["bleu"] == found["bleu"]
    for head in found["heads"]:
        assert 0 <= head["special"] <= 1
        assert 0 <= head["confidence"] <= 1
