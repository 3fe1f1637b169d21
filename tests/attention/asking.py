"""Asks the service about attention and reads its answers."""

import base64
from typing import Any

import numpy as np
import numpy.typing as npt
from fastapi.testclient import TestClient

Json = dict[str, Any]
Array = npt.NDArray[np.float32]

SENTENCES = ["Where is the train station?", "My brother bought a new car last week, didn't he?", "I am tired."]
NASTY = "  👩‍🚀 Where’s the e\u0301te\u0301 ＡＢＣ, 中文 and \u00adcafe\u0301?  Yes 😀!\nHello."
ALL = {"families": ["encoder", "decoder", "cross"]}
EXACT = {"encoding": "base64", "dtype": "float32"}


def explain(client: TestClient, text: str = SENTENCES[0], **fields: Any) -> Json:
    answer = client.post("/attention", json={"text": text, "source": "en", "target": "fr", **fields})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def segments_of(client: TestClient, text: str, **fields: Any) -> list[Json]:
    segments: list[Json] = explain(client, text, **fields)["segments"]
    return segments


def segment_of(client: TestClient, text: str = SENTENCES[0], **fields: Any) -> Json:
    return segments_of(client, text, **fields)[0]


def weights_of(one: Json) -> Array:
    if one["encoding"] == "json":
        return np.array(one["data"], dtype=np.float32)
    return decode_base64(one["data"], one["dtype"], tuple(one["shape"]))


def maps_of(segment: Json) -> dict[str, Array]:
    return {family: weights_of(one) for family, one in segment["attention"]["maps"].items()}


def decode_base64(data: str, dtype: str, shape: tuple[int, ...]) -> Array:
    """The numbers that a base64 answer stands for, as a client reads them."""
    stored: npt.NDArray[Any] = np.frombuffer(
        base64.b64decode(data), {"float32": "<f4", "float16": "<f2", "uint8_sqrt": "u1"}[dtype]
    )
    floats = stored.reshape(shape).astype(np.float32)
    return np.square(floats / 255) if dtype == "uint8_sqrt" else floats
