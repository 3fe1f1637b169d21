"""Greedy and beam search against hand-computed values, each other and exhaustive search."""

import itertools

import numpy as np
import pytest

from app.engine.batch_search import search_batch, search_each
from app.engine.hypotheses import Hypothesis, SearchOptions
from app.engine.scoring import best_first, extend, length_normalised
from app.engine.search import BeamSearches, candidates_per_row, rows_kept
from tests.engine.scripted_model import BOS, EOS, ScriptedModel, log_softmax, random_rule


def options(beam_size: int = 1, alternatives: int = 0, target_len: int = 12, penalty: float = 1.0) -> SearchOptions:
    return SearchOptions(beam_size, penalty, alternatives, target_len)


def test_length_normalised_by_hand() -> None:
    assert length_normalised(-6.0, 3, 1.0) == -2.0
    assert length_normalised(-6.0, 4, 0.5) == -3.0
    assert length_normalised(-6.0, 4, 0.0) == -6.0


def test_extend_adds_along_rows() -> None:
    total = extend(np.float64([[-1, -2], [0, -9]]), np.float32([[-1, -3], [0, -5], [-1, -1], [0, -1]]))
    assert total.tolist() == [[-2, -4, -2, -7], [-1, -1, -9, -10]]


def test_best_first_against_a_slow_sort() -> None:
    random = np.random.default_rng(0)
    total = random.integers(-4, 0, size=(50, 18)).astype(np.float64)  # many ties
    for row, places in zip(total, best_first(total, 6), strict=True):
        assert places.tolist() == sorted(range(18), key=lambda place: (-row[place], place))[:6]


def test_candidates_per_row() -> None:
    assert candidates_per_row(1, 100) == 1
    assert candidates_per_row(4, 100) == 8
    assert candidates_per_row(4, 5) == 5


@pytest.mark.parametrize(
    ("parents", "expected"),
    [
        ([0, 1, 2, 3], [0, 1, 2, 3]),
        ([2, 0, 3, 1], [1, 3, 0, 2]),
        ([0, 0, 0, 0], [0, 1, 2, 3]),
        ([3, 3, 1, 3], [1, 2, 3, 0]),
        ([1, 1], [1, 0]),
    ],
)
def test_a_continuation_stays_in_the_row_that_it_goes_on_from(parents: list[int], expected: list[int]) -> None:
    assert rows_kept(parents) == expected
    assert sorted(expected) == list(range(len(parents)))
    assert all(parents[expected[parent]] == parent for parent in parents)


@pytest.mark.parametrize("seed", range(20))
def test_beam_one_takes_the_likeliest_piece_of_every_step(seed: int) -> None:
    model = ScriptedModel(random_rule(7, seed), 7)
    expected: list[int] = []
    while len(expected) < 12 and EOS not in expected:
        expected.append(int(np.argmax(model.rule((3, 4), (BOS, *expected)))))
    found = search_batch(model, [(3, 4)], options())[0][0]
    assert [*found.ids, *([EOS] if found.finish_reason == "eos" else [])] == expected


@pytest.mark.parametrize("seed", range(20))
def test_greedy_search_equals_beams_of_width_one(seed: int) -> None:
    model = ScriptedModel(random_rule(9, seed), 9)
    sources = [(2, 3), (4,), (5, 6, 7), (8,)]
    wanted = [options(target_len=3 + 40 * index, penalty=0.4 * index) for index in range(len(sources))]
    beams = BeamSearches(1, BOS, EOS)
    beams.join(wanted)
    decoding = model.encode(sources, 1)
    found: dict[int, list[Hypothesis]] = {}
    while len(found) < len(sources):
        _, ends = beams.advance(decoding.step(beams.last_ids.reshape(-1), 2))
        found |= {index: beams.hypotheses(index) for index in ends if index not in found}
    assert search_each(model, sources, wanted) == [found[index] for index in range(len(sources))]


@pytest.mark.parametrize("beam_size", [1, 3])
def test_sentences_with_options_of_their_own_equal_those_alone(beam_size: int) -> None:
    model = ScriptedModel(random_rule(11, 7), 11)
    sources = [(2,), (3, 4, 5), (6, 7), (2, 2, 2, 2), (9,), (5, 5)]
    wanted = [options(beam_size, min(beam_size - 1, 1), 2 + 9 * index, 0.3 * index) for index in range(len(sources))]
    together = search_each(model, sources, wanted)
    assert together == [search_batch(model, [source], one)[0] for source, one in zip(sources, wanted, strict=True)]


def exhaustive(
    model: ScriptedModel, source: tuple[int, ...], target_len: int, penalty: float
) -> list[tuple[float, tuple[int, ...]]]:
    """Every sequence that ends, or is cut, within ``target_len``: (score, ids with the end), best first."""
    found = []
    pieces = [piece for piece in range(model.limits.vocab_size) if piece != EOS]
    for length in range(1, target_len + 1):
        for head in itertools.product(pieces, repeat=length - 1):
            for last in range(model.limits.vocab_size) if length == target_len else [EOS]:
                ids = (*head, last)
                log_prob = sum(float(model.rule(source, (BOS, *ids[:at]))[ids[at]]) for at in range(length))
                found.append((log_prob / length**penalty, ids))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_beam_against_exhaustive_search_on_five_words(seed: int, penalty: float) -> None:
    model = ScriptedModel(random_rule(5, seed), 5)
    best = exhaustive(model, (2, 3), 4, penalty)
    # Wide enough to hold every hypothesis: 4 ** 3 running ones, 4 ** 0 + ... + 4 ** 3 * 5 finished ones.
    wide = options(beam_size=400, alternatives=9, target_len=4, penalty=penalty)
    found = search_batch(model, [(2, 3)], wide)[0]
    assert [(*h.ids, EOS) if h.finish_reason == "eos" else h.ids for h in found] == [ids for _, ids in best[:10]]
    assert [h.score for h in found] == pytest.approx([score for score, _ in best[:10]], abs=1e-5)


def test_a_wider_beam_never_scores_worse_here() -> None:
    model = ScriptedModel(random_rule(9, 5), 9)
    scores = [search_batch(model, [(4,)], options(beam_size=size))[0][0].score for size in (1, 2, 4, 8)]
    assert scores == sorted(scores)


@pytest.mark.parametrize("beam_size", [1, 2, 4])
def test_batched_equals_alone(beam_size: int) -> None:
    model = ScriptedModel(random_rule(11, 3), 11)
    sources = [(2,), (3, 4, 5), (6, 7), (2, 2, 2, 2), (9,)]
    together = search_batch(model, sources, options(beam_size))
    alone = [search_batch(model, [source], options(beam_size))[0] for source in sources]
    assert together == alone


def test_length_limit_is_reported() -> None:
    def never_ends(source: tuple[int, ...], fed: tuple[int, ...]) -> np.ndarray:
        return log_softmax(np.array([0.0, -50.0, 3.0, 1.0]))

    model = ScriptedModel(never_ends, 4)
    for beam_size in (1, 3):
        best = search_batch(model, [(2,)], options(beam_size, target_len=5))[0][0]
        assert best.finish_reason == "length"
        assert best.ids == (2,) * 5


def test_alternatives_are_distinct_and_sorted() -> None:
    model = ScriptedModel(random_rule(12, 8), 12)
    found = search_batch(model, [(5, 6)], options(beam_size=5, alternatives=4))[0]
    assert len({hypothesis.ids for hypothesis in found}) == 5
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)


def test_log_prob_and_score_are_those_of_the_ids() -> None:
    model = ScriptedModel(random_rule(8, 2), 8)
    for beam_size in (1, 4):
        best = search_batch(model, [(5, 6)], options(beam_size))[0][0]
        ids = [*best.ids, EOS] if best.finish_reason == "eos" else list(best.ids)
        log_prob = sum(float(model.rule((5, 6), (BOS, *ids[:at]))[ids[at]]) for at in range(len(ids)))
        assert best.log_prob == pytest.approx(log_prob, abs=1e-4)
        assert best.score == pytest.approx(log_prob / len(ids), abs=1e-5)


def test_nothing_to_search() -> None:
    assert search_batch(ScriptedModel(random_rule(5), 5), [], options()) == []
