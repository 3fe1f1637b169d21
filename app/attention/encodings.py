"""Weights as JSON, as base64 and as an ``.npz`` archive, and how large each would be."""

import base64
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from app.attention.selection import DType, MapFormat
from app.engine.step_model import Float32

# Characters of JSON that a weight takes besides its decimals: "0.", a comma.
_JSON_BESIDES_DECIMALS = 3
_BYTES: dict[DType, int] = {"float32": 4, "float16": 2, "uint8_sqrt": 1}
_UINT8_MOST = 255
_META = "meta.json"


def to_bytes_array(values: Float32, dtype: DType) -> npt.NDArray[Any]:
    """``values`` little-endian; ``uint8_sqrt`` is ``round(255 * sqrt(p))``, which keeps rows of small weights true.

    NaN, which ``uint8_sqrt`` cannot write, becomes 0 there.
    """
    match dtype:
        case "float32":
            return values.astype("<f4")
        case "float16":
            return values.astype("<f2")
        case "uint8_sqrt":
            roots = np.sqrt(np.nan_to_num(values, nan=0.0).clip(0, 1))
            rounded: npt.NDArray[np.uint8] = np.rint(_UINT8_MOST * roots).astype(np.uint8)
            return rounded


def encode(values: Float32, how: MapFormat) -> Any:
    """A nested list with NaN rows as null (JSON), or base64 text of the array in C order."""
    if how.encoding == "base64":
        return base64.b64encode(to_bytes_array(values, how.dtype).tobytes()).decode("ascii")
    # As float64, since float32 cannot hold a number of few decimals and would print more of them.
    rounded: npt.NDArray[np.floating] = np.round(values.astype(np.float64), how.decimals)
    return _without_nan(rounded) if np.isnan(rounded).any() else rounded.tolist()


def estimated_bytes(values: int, decimals: int) -> dict[str, int]:
    """About how many bytes so many weights take in each encoding."""
    base64_sizes = {f"base64 {dtype}": -(-values * size // 3) * 4 for dtype, size in _BYTES.items()}
    return {"json": values * (_JSON_BESIDES_DECIMALS + decimals), **base64_sizes, "npz float16": 2 * values}


def npz(arrays: Mapping[str, Float32], dtype: DType, meta: object) -> bytes:
    """An archive for ``numpy.load(..., allow_pickle=False)``: the arrays, and ``meta.json`` as bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, to_bytes_array(values, dtype), allow_pickle=False)
        archive.writestr(_META, json.dumps(meta, ensure_ascii=False))
    return buffer.getvalue()


def _without_nan(values: npt.NDArray[np.floating]) -> list[Any]:
    """Nested lists in which a row that is NaN is null."""
    if values.ndim == 1:
        return [None if np.isnan(value) else float(value) for value in values]
    if values.ndim == 2:
        return [None if np.isnan(row).any() else row.tolist() for row in values]
    return [_without_nan(part) for part in values]
