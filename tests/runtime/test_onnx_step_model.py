"""A sentence's numbers are its own: caches, batches, reordering and company change nothing, bit for bit."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from app.engine.step_model import Candidates, Decoding, Float32
from app.runtime.device_tensor_set import DeviceTensorSet
from app.runtime.model_directory import open_model_directory
from app.runtime.onnx_step_model import OnnxStepModel
from app.runtime.providers import RuntimeOptions, open_session

BOS = 1


@pytest.fixture(scope="module", params=["int8", "float32"])
def model(request: pytest.FixtureRequest, tiny_model_directory: Path) -> OnnxStepModel:
    return OnnxStepModel(open_model_directory(tiny_model_directory), RuntimeOptions("cpu", request.param, 1))


@pytest.fixture(scope="module")
def model_on_device(tiny_model_directory: Path) -> OnnxStepModel:
    """The memory that a GPU uses, here on the CPU."""
    directory = open_model_directory(tiny_model_directory)
    options = RuntimeOptions("cpu", "float16", 1)
    copy_rows = open_session(directory, directory.config.copy_rows, options)
    model = OnnxStepModel(directory, options)
    object.__setattr__(
        model._graphs, "new_tensors", lambda count, shape, axis: DeviceTensorSet(copy_rows, count, shape, axis)
    )
    return model


@dataclass
class Script:
    """A sentence with all that happens to it: what its rows are fed and how they are reordered."""

    source: list[int]
    fed: list[list[int]]
    parents: list[list[int]]


def script(seed: int, source_len: int, width: int, steps: int = 40) -> Script:
    random = np.random.default_rng(seed)
    return Script(
        source=random.integers(4, 400, source_len).tolist(),
        fed=[[BOS] * width, *random.integers(4, 400, (steps - 1, width)).tolist()],
        parents=random.integers(0, width, (steps, width)).tolist(),
    )


class Player:
    """Plays scripts that stand at different steps on one decoding."""

    def __init__(self, model: OnnxStepModel, scripts: list[Script]) -> None:
        self.width = len(scripts[0].fed[0])
        self.decoding: Decoding = model.encode([one.source for one in scripts], self.width)
        self.scripts = scripts
        self.positions = [0] * len(scripts)

    def step(self, k: int = 5) -> list[Candidates]:
        fed = [one.fed[position] for one, position in zip(self.scripts, self.positions, strict=True)]
        found = self.decoding.step(np.array(fed, dtype=np.int64).reshape(-1), k)
        parents = [
            index * self.width + np.array(one.parents[position])
            for index, (one, position) in enumerate(zip(self.scripts, self.positions, strict=True))
        ]
        self.decoding.reorder(np.concatenate(parents))
        self.positions = [position + 1 for position in self.positions]
        rows = [slice(index * self.width, (index + 1) * self.width) for index in range(len(self.scripts))]
        return [Candidates(found.ids[one].copy(), found.log_probs[one].copy()) for one in rows]

    def keep(self, sentences: list[int]) -> None:
        self.decoding.keep(sentences)
        self.scripts = [self.scripts[index] for index in sentences]
        self.positions = [self.positions[index] for index in sentences]

    def join(self, other: "Player") -> None:
        self.decoding.join(other.decoding)
        self.scripts = self.scripts + other.scripts
        self.positions = self.positions + other.positions


def alone(model: OnnxStepModel, one: Script) -> list[Candidates]:
    player = Player(model, [one])
    return [player.step()[0] for _ in one.fed]


def assert_same(expected: Candidates, found: Candidates) -> None:
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_array_equal(found.log_probs, expected.log_probs)


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("source_len", [1, 15, 16, 17, 40, 64, 65, 90, 102])
def test_batched_equals_alone_whatever_the_companions(model: OnnxStepModel, source_len: int, width: int) -> None:
    one = script(0, source_len, width, steps=6)
    expected = alone(model, one)
    for companions in ((1,), (102, 3, 60), (33,) * 7):
        player = Player(model, [one, *(script(9, length, width, steps=6) for length in companions)])
        for candidates in expected:
            assert_same(candidates, player.step()[0])


@pytest.mark.parametrize("width", [1, 3])
def test_sentences_that_join_and_leave_equal_single_runs(model: OnnxStepModel, width: int) -> None:
    check_traffic(model, width)


def test_memory_of_a_device_behaves_like_memory_of_the_host(model_on_device: OnnxStepModel) -> None:
    check_traffic(model_on_device, width=3)


def check_traffic(model: OnnxStepModel, width: int) -> None:
    scripts = [script(seed, length, width) for seed, length in enumerate((7, 90, 20, 5, 33, 64))]
    expected = [alone(model, one) for one in scripts]

    def check(player: Player, steps: int) -> None:
        for _ in range(steps):
            positions = list(player.positions)
            for one, position, found in zip(player.scripts, positions, player.step(), strict=True):
                assert_same(expected[scripts.index(one)][position], found)

    player = Player(model, scripts[:3])
    check(player, 5)
    player.keep([2, 0])
    check(player, 4)
    player.join(Player(model, scripts[3:5]))
    check(player, 10)
    player.keep([1, 3])
    late = Player(model, [scripts[5], scripts[1]])
    check(late, 12)
    player.join(late)
    check(player, 8)
    player.keep([3])
    check(player, 19)


def test_buffers_grow_past_their_first_size(model: OnnxStepModel) -> None:
    one = script(3, 12, 2, steps=150)
    player = Player(model, [one, script(4, 30, 2, steps=150)])
    for candidates in alone(model, one):
        assert_same(candidates, player.step()[0])


def test_log_probs_are_normalised_over_the_vocabulary(model: OnnxStepModel) -> None:
    decoding = model.encode([[5, 6, 2]], 2)
    found = decoding.step(np.array([BOS, BOS]), model.limits.vocab_size)
    np.testing.assert_allclose(np.exp(found.log_probs).sum(axis=1), 1, atol=1e-4)
    assert (np.diff(found.log_probs, axis=1) <= 0).all()
    assert [sorted(row) for row in found.ids.tolist()] == [list(range(model.limits.vocab_size))] * 2


def test_an_emptied_decoding_takes_newcomers(model: OnnxStepModel) -> None:
    one = script(1, 50, 2, steps=4)
    player = Player(model, [script(2, 9, 2)])
    player.step()
    player.keep([])
    assert player.decoding.sentences == 0
    assert player.decoding.step(np.zeros(0, dtype=np.int64), 3).ids.shape == (0, 3)
    player.join(Player(model, [one]))
    for candidates in alone(model, one):
        assert_same(candidates, player.step()[0])


def test_rounding_to_int8_stays_near_float32(tiny_model_directory: Path) -> None:
    directory = open_model_directory(tiny_model_directory)

    def all_log_probs(precision: str) -> Float32:
        decoding = OnnxStepModel(directory, RuntimeOptions("cpu", precision, 1)).encode([[5, 80, 6, 2]], 1)
        found = decoding.step(np.array([BOS]), 420)
        return found.log_probs[0, np.argsort(found.ids[0])]

    difference = np.abs(all_log_probs("int8") - all_log_probs("float32"))
    assert 0 < difference.max() < 0.3


@pytest.mark.parametrize("sources", [[], [[]], [[4] * 103]])
def test_sources_outside_the_limits_are_refused(model: OnnxStepModel, sources: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="sources of 1 to 102 ids"):
        model.encode(sources, 1)


def test_a_row_beyond_the_last_position_is_refused(model: OnnxStepModel) -> None:
    decoding = model.encode([[5, 2]], 1)
    for _ in range(model.limits.target_len):
        decoding.step(np.array([7]), 1)
    with pytest.raises(ValueError, match="last position, 160"):
        decoding.step(np.array([7]), 1)


def test_a_newcomer_has_all_positions_once_an_older_sentence_has_left(model: OnnxStepModel) -> None:
    room = model.limits.target_len
    player = Player(model, [script(1, 9, 1, steps=room)])
    for _ in range(room // 2):
        player.step()
    late = script(2, 20, 1, steps=room)
    player.join(Player(model, [late]))
    player.step()
    player.keep([1])
    for candidates in alone(model, late)[1:]:
        assert_same(candidates, player.step()[0])


def test_the_number_of_ids_must_be_the_number_of_rows(model: OnnxStepModel) -> None:
    with pytest.raises(ValueError, match="2 rows need as many ids"):
        model.encode([[5, 2]], 2).step(np.array([7]), 1)


def test_decodings_of_other_width_do_not_join(model: OnnxStepModel) -> None:
    with pytest.raises(ValueError, match="same model and width"):
        model.encode([[5, 2]], 2).join(model.encode([[5, 2]], 1))


def test_a_short_sentence_takes_the_place_of_a_long_one(model: OnnxStepModel) -> None:
    short = script(5, 5, 2, steps=6)
    player = Player(model, [script(seed, 90, 2) for seed in (1, 2, 3)])
    player.step()
    player.keep([0])
    player.join(Player(model, [short]))
    for candidates in alone(model, short):
        assert_same(candidates, player.step()[1])


def test_the_number_of_candidates_may_change(model: OnnxStepModel) -> None:
    decoding = model.encode([[5, 6, 2]], 1)
    assert [decoding.step(np.array([BOS]), k).ids.shape for k in (2, 5, 1)] == [(1, 2), (1, 5), (1, 1)]
