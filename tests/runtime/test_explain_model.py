from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from app.engine.batch_search import search_batch
from app.engine.hypotheses import SearchOptions
from app.engine.step_model import HeadMasks
from app.runtime.explain_model import OnnxExplainModel
from app.runtime.model_directory import open_model_directory
from app.runtime.onnx_step_model import OnnxStepModel
from app.runtime.providers import RuntimeOptions


def masks(**muted: tuple[int, int]) -> HeadMasks:
    """Ones but for one (layer, head) of each family named."""
    found = HeadMasks(*(np.ones((layers, 4), np.float32) for layers in (3, 2, 2)))
    for family, (layer, head) in muted.items():
        getattr(found, family)[layer, head] = 0
    return found


@pytest.fixture(scope="module")
def model(tiny_model_directory: Path) -> OnnxExplainModel:
    return OnnxExplainModel(open_model_directory(tiny_model_directory), RuntimeOptions("cpu", threads=1))


def test_shapes(model: OnnxExplainModel) -> None:
    found = model.explain_pair([5, 6, 7, 2], [8, 9, 2])
    assert found.log_probs.shape == (3,)
    assert found.encoder.shape == (3, 4, 4, 4)
    assert found.decoder.shape == (2, 4, 3, 3)
    assert found.cross.shape == (2, 4, 3, 4)


@pytest.mark.parametrize(("source", "target"), [([], [2]), ([2], []), ([4] * 103, [2]), ([2], [4] * 161)])
def test_lengths_outside_the_limits_are_refused(model: OnnxExplainModel, source: list[int], target: list[int]) -> None:
    with pytest.raises(ValueError, match="has 1 to"):
        model.explain_pair(source, target)


def test_the_rivals_are_the_likeliest_pieces_and_entropy_is_theirs(model: OnnxExplainModel) -> None:
    found = model.explain_pair([5, 6, 7, 2], [8, 9, 2])
    assert found.rival_ids.shape == found.rival_log_probs.shape == (3, 5)
    assert (np.diff(found.rival_log_probs, axis=1) <= 0).all()
    best = found.rival_ids[0, 0]
    assert model.explain_pair([5, 6, 7, 2], [best, 9, 2]).log_probs[0] == pytest.approx(found.rival_log_probs[0, 0])
    assert ((found.entropy > 0) & (found.entropy < np.log(420))).all()


def test_the_source_alone_gives_the_encoder_maps_of_any_pair(model: OnnxExplainModel) -> None:
    read = model.read([5, 6, 7, 2])
    np.testing.assert_array_equal(read.encoder, model.explain_pair([5, 6, 7, 2], [8, 9, 2]).encoder)


def test_a_mask_of_ones_changes_nothing_and_a_muted_head_is_still_shown(model: OnnxExplainModel) -> None:
    plain = model.explain_pair([5, 6, 7, 2], [8, 9, 2])
    ones = model.explain_pair([5, 6, 7, 2], [8, 9, 2], masks())
    for name, array in vars(plain).items():
        np.testing.assert_array_equal(array, getattr(ones, name))
    for family in ("encoder", "decoder", "cross"):
        muted = model.explain_pair([5, 6, 7, 2], [8, 9, 2], masks(**{family: (0, 1)}))
        np.testing.assert_array_equal(getattr(muted, family)[0], getattr(plain, family)[0])
        assert np.abs(muted.log_probs - plain.log_probs).max() > 1e-6


@pytest.mark.parametrize("beam_size", [1, 4])
def test_decoding_with_no_head_muted_is_the_decoding_of_the_fast_graphs(
    tiny_model_directory: Path, model: OnnxExplainModel, beam_size: int
) -> None:
    options = SearchOptions(beam_size, 1.0, 0, 12)
    fast = OnnxStepModel(open_model_directory(tiny_model_directory), RuntimeOptions("cpu", "float32", 1))
    slow = model.step_model(masks(), lambda: None)
    for source in ([5, 9, 30, 2], [7, 2], [8, 40, 41, 42, 43, 44, 2]):
        (expected,), (found,) = search_batch(fast, [source], options), search_batch(slow, [source], options)
        assert found[0].ids == expected[0].ids
        assert found[0].log_prob == pytest.approx(expected[0].log_prob, abs=1e-4)


def test_decoding_with_muted_heads_says_what_the_explanation_says(model: OnnxExplainModel) -> None:
    muted = masks(cross=(1, 2), encoder=(0, 0))
    (found,) = search_batch(model.step_model(muted, lambda: None), [[5, 9, 30, 2]], SearchOptions(2, 1.0, 0, 12))
    end = [2] if found[0].finish_reason == "eos" else []
    explanation = model.explain_pair([5, 9, 30, 2], [*found[0].ids, *end], muted)
    assert float(explanation.log_probs.sum()) == pytest.approx(found[0].log_prob, abs=1e-4)


def test_a_search_with_muted_heads_reads_its_source_once(
    model: OnnxExplainModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Sequence[int]] = []
    whole = model.read
    monkeypatch.setattr(model, "read", lambda source, masks: (read.append(source), whole(source, masks))[1])
    search_batch(model.step_model(masks(), lambda: None), [[5, 9, 30, 2]], SearchOptions(4, 1.0, 0, 12))
    assert read == [[5, 9, 30, 2]]


@pytest.mark.parametrize("length", [1, 5])
def test_rows_that_share_a_source_get_what_each_gets_alone(model: OnnxExplainModel, length: int) -> None:
    muted = masks(cross=(1, 2), encoder=(0, 0))
    together = model.step_model(muted, lambda: None).encode([[5, 9, 30, 2]], 3)
    alone = [model.step_model(muted, lambda: None).encode([[5, 9, 30, 2]], 1) for _ in range(3)]
    for step in range(length):
        last_ids = np.array([7, 8, 9]) + step
        found = together.step(last_ids, 4)
        for row, one in enumerate(alone):
            expected = one.step(last_ids[row : row + 1], 4)
            np.testing.assert_array_equal(found.ids[row], expected.ids[0])
            np.testing.assert_allclose(found.log_probs[row], expected.log_probs[0], atol=1e-6)


def test_one_source_read_serves_many_targets(model: OnnxExplainModel) -> None:
    read = model.read([5, 6, 7, 2])
    assert read.source_len == 4
    for target in ([8, 9, 2], [2], [10, 11, 12, 13, 2]):
        again = model.explain_pair([5, 6, 7, 2], target)
        for name, array in vars(model.explain(read, target)).items():
            np.testing.assert_array_equal(array, getattr(again, name))


def test_a_search_with_muted_heads_ends_when_told(model: OnnxExplainModel) -> None:
    def give_up() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        search_batch(model.step_model(masks(), give_up), [[5, 2]], SearchOptions(1, 1.0, 0, 12))


def test_one_sentence_at_a_time_with_muted_heads(model: OnnxExplainModel) -> None:
    with pytest.raises(ValueError, match="one sentence"):
        model.step_model(masks(), lambda: None).encode([[5, 2], [6, 2]], 1)
