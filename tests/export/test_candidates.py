import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto

from export.candidates import top_candidates
from export.graph_builder import GraphBuilder
from export.quantize import quantize
from export.weight_file import WeightFile
from tests.conftest import random_checkpoint, tiny_run_config


@pytest.mark.parametrize("vocab_size", [1, 12, 97, 420, 8000])
@pytest.mark.parametrize("k", [1, 3, 50])
def test_the_best_of_all_are_found(vocab_size: int, k: int) -> None:
    k = min(k, vocab_size)
    builder = GraphBuilder("candidates", WeightFile(quantize(random_checkpoint(tiny_run_config()), []), "none"))
    log_probs = builder.input("log_probs", TensorProto.FLOAT, ["rows", vocab_size])
    values, ids = top_candidates(builder, log_probs, builder.input("k", TensorProto.INT64, [1]), vocab_size)
    builder.output(values, "values", TensorProto.FLOAT, ["rows", "k"])
    builder.output(ids, "ids", TensorProto.INT64, ["rows", "k"])
    numbers = np.random.default_rng(vocab_size).standard_normal((5, vocab_size)).astype(np.float32)
    session = onnxruntime.InferenceSession(builder.model().SerializeToString(), providers=["CPUExecutionProvider"])
    found_values, found_ids = session.run(["values", "ids"], {"log_probs": numbers, "k": np.array([k])})
    expected = np.argsort(-numbers, axis=1)[:, :k]
    np.testing.assert_array_equal(found_ids, expected)
    np.testing.assert_array_equal(found_values, np.take_along_axis(numbers, expected, axis=1))
