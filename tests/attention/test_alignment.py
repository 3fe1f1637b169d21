import numpy as np

from app.attention.alignment import AlignmentRule, align
from app.engine.step_model import Float32

# A tag, three words of which the second has two pieces, the end of sentence; the rows are fed <s>, a, b1, b2.
SOURCE = ((1,), (2, 3), (4,))
TARGET = ((0,), (1, 2))


def cross(*rows: list[float]) -> Float32:
    return np.array([[rows]], dtype=np.float32)


MAP = cross(
    [0.0, 0.9, 0.1, 0.0, 0.0, 0.0],
    [0.1, 0.0, 0.5, 0.3, 0.0, 0.1],
    [0.0, 0.0, 0.1, 0.2, 0.0, 0.7],
    [0.2, 0.0, 0.0, 0.0, 0.8, 0.0],
)


def test_a_piece_is_aligned_by_the_row_that_predicts_it() -> None:
    found = align(MAP, AlignmentRule(0, "predicted"), SOURCE, TARGET)
    np.testing.assert_allclose(found.soft, [[0.9, 0.1, 0.0], [0.0, 0.55, 0.0]], atol=1e-6)
    assert [(link.source, link.target) for link in found.links] == [(0, 0), (1, 1)]
    assert found.links[1].score == np.float32(0.55)
    assert found.pharaoh() == "0-0 1-1"


def test_shifted_by_the_row_that_is_fed_it() -> None:
    found = align(MAP, AlignmentRule(0, "shifted"), SOURCE, TARGET)
    np.testing.assert_allclose(found.soft, [[0.0, 0.8, 0.0], [0.0, 0.15, 0.4]], atol=1e-6)
    assert found.pharaoh() == "1-0 1-1 2-1"


def test_at_the_length_limit_the_last_piece_is_read_from_its_own_row() -> None:
    found = align(MAP[:, :, :3], AlignmentRule(0, "shifted"), SOURCE, TARGET)
    np.testing.assert_allclose(found.soft[1], [0.0, 0.3, 0.0], atol=1e-6)


def test_marian_has_a_row_for_each_piece_and_a_weight_for_each_source_piece() -> None:
    first, *_, last = align(MAP, AlignmentRule(0, "predicted"), SOURCE, TARGET).marian().split(" ")
    assert first == "0.0000,0.9000,0.1000,0.0000,0.0000,0.0000"
    assert last == "0.2000,0.0000,0.0000,0.0000,0.8000,0.0000"
    rows = align(MAP, AlignmentRule(0, "shifted"), SOURCE, TARGET).marian().split(" ")
    assert [row.split(",")[4] for row in rows] == ["0.0000", "0.0000", "0.8000", "0.8000"]


def test_azure_counts_inclusive_ends() -> None:
    found = align(MAP, AlignmentRule(0, "predicted"), SOURCE, TARGET)
    assert found.azure([(0, 3), (4, 10), (11, 16)], [(0, 4), (5, 7)]) == "0:2-0:3 4:9-5:6"


def test_without_words_there_are_no_links() -> None:
    found = align(MAP, AlignmentRule(0), (), TARGET)
    assert (found.soft.shape, found.links, found.pharaoh()) == ((2, 0), (), "")
