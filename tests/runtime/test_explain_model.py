from pathlib import Path

import pytest

from app.runtime.explain_model import OnnxExplainModel
from app.runtime.model_directory import open_model_directory
from app.runtime.providers import RuntimeOptions


@pytest.fixture(scope="module")
def model(tiny_model_directory: Path) -> OnnxExplainModel:
    return OnnxExplainModel(open_model_directory(tiny_model_directory), RuntimeOptions("cpu", threads=1))


def test_shapes(model: OnnxExplainModel) -> None:
    found = model.explain([5, 6, 7, 2], [8, 9, 2])
    assert found.log_probs.shape == (3,)
    assert found.encoder.shape == (3, 4, 4, 4)
    assert found.decoder.shape == (2, 4, 3, 3)
    assert found.cross.shape == (2, 4, 3, 4)


@pytest.mark.parametrize(("source", "target"), [([], [2]), ([2], []), ([4] * 103, [2]), ([2], [4] * 161)])
def test_lengths_outside_the_limits_are_refused(model: OnnxExplainModel, source: list[int], target: list[int]) -> None:
    with pytest.raises(ValueError, match="has 1 to"):
        model.explain(source, target)
