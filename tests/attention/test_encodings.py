import io
import json

import numpy as np
import pytest

from app.attention.encodings import encode, estimated_bytes, npz
from app.attention.selection import AttentionDepths, AttentionSelection, DType, MapFormat, choose
from app.errors import InvalidInput
from tests.attention.asking import decode_base64

VALUES = np.random.default_rng(0).dirichlet(np.ones(200), (2, 3, 4)).astype(np.float32)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 0), ("float16", 5e-4), ("uint8_sqrt", 4e-3)])
def test_bytes_come_back(dtype: DType, tolerance: float) -> None:
    text = encode(VALUES, MapFormat("base64", dtype))
    found = decode_base64(text, dtype, VALUES.shape)
    np.testing.assert_allclose(found, VALUES, atol=tolerance, rtol=0)
    assert len(text) == estimated_bytes(VALUES.size, 4)[f"base64 {dtype}"]


def test_square_roots_keep_the_sum_of_long_rows() -> None:
    found = decode_base64(encode(VALUES, MapFormat("base64", "uint8_sqrt")), "uint8_sqrt", VALUES.shape)
    assert np.abs(found.sum(axis=-1) - 1).max() < 0.02


def test_json_has_as_many_decimals_as_asked_and_null_for_rows_without_mass() -> None:
    values = np.array([[[[0.123456, 0.2], [np.nan, np.nan]]]], dtype=np.float32)
    assert encode(values, MapFormat(decimals=3)) == [[[[0.123, 0.2], None]]]
    assert json.dumps(encode(VALUES, MapFormat())).count("NaN") == 0
    written = json.dumps(encode(VALUES, MapFormat()), separators=(",", ":"))
    assert len(written) == pytest.approx(estimated_bytes(VALUES.size, 4)["json"], rel=0.2)


def test_archive_loads_without_pickle() -> None:
    data = npz({"s0/cross": VALUES, "s1/cross": VALUES[:1]}, "float32", {"é": 1})
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["s0/cross"], VALUES)
        assert json.loads(archive["meta.json"]) == {"é": 1}


@pytest.mark.parametrize(
    ("selection", "field"),
    [
        (AttentionSelection(("encoder", "cross"), layers=(2,)), "layers"),
        (AttentionSelection(heads=(-5,)), "heads"),
        (AttentionSelection(reduce_heads="mean", reduce_layers="rollout"), "families"),
        (AttentionSelection(("encoder",), reduce_layers="rollout"), "aggregate.heads"),
    ],
)
def test_what_the_model_does_not_have_is_told(selection: AttentionSelection, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        choose(selection, AttentionDepths(3, 2, 4), path="")
    assert caught.value.field == field
