import asyncio
import io
import json
from typing import Any

import httpx
import numpy as np
import pytest

from app.attention.selection import AttentionSelection, MapFormat
from app.errors import TooLarge
from app.explanation import ExplainRequest, ExplanationRequest
from app.settings import Settings
from tests.api.scripted_service import ScriptedService, client_of

VALID = {"text": "Hi.", "source": "en", "target": "fr"}


def post(service: ScriptedService, body: dict[str, Any], **options: Any) -> httpx.Response:
    async def scenario() -> httpx.Response:
        async with client_of(service, Settings(max_characters=1_000)) as client:
            return await client.post("/attention", json=VALID | body, **options)

    return asyncio.run(scenario())


def test_answer_has_the_shape_of_the_contract() -> None:
    answer = post(ScriptedService(), {"alignment": {"azure": True, "soft": True, "marian": True}}).json()
    segment = answer["segments"][0]
    assert answer["schema"] == "attention/1"
    assert answer["model"]["layers"] == {"encoder": 3, "decoder": 6}
    assert answer["graph"] == "float32"
    assert answer["translated_by"] == "float32"
    assert "not a quality score" in answer["caption"]
    assert segment["source"]["words"] == [{"text": "H", "span": [0, 1], "tokens": [0]}]
    assert segment["target"]["fed"] == ["<s>", "▁a"]
    assert segment["target"]["predicted"][0] == {
        "piece": "▁a",
        "id": 7,
        "span": [0, 1],
        "word": 0,
        "special": None,
        "logprob": -1.2346,
        "rivals": [{"piece": "▁b", "id": 8, "logprob": -0.5}],
        "entropy": 0.25,
    }
    assert segment["attention"]["maps"]["cross"] == {
        "axes": ["layer", "head", "query", "key"],
        "query": "target.fed",
        "key": "source.tokens",
        "query_units": [[0], [1]],
        "key_units": [[0], [1]],
        "query_labels": ["<s>", "▁a"],
        "key_labels": ["▁a", "</s>"],
        "shape": [1, 2, 2, 2],
        "layers": [5],
        "heads": [0, 1],
        "causal": False,
        "normalized": True,
        "encoding": "json",
        "dtype": None,
        "byte_order": None,
        "order": None,
        "data": [[[[0.3333, 0.3333]] * 2] * 2],
        "hidden_mass": None,
    }
    assert segment["alignment"] == {
        "method": "predicted",
        "layer": 1,
        "heads": "mean",
        "unit": "word",
        "links": [{"source": 0, "target": 0, "score": 0.3333}],
        "pharaoh": "0-0",
        "marian": "0.3333,0.3333 0.3333,0.3333",
        "azure": "0:0-0:0",
        "soft": [[0.3333]],
    }
    assert segment["signals"]["ignored_source_words"] == [0]
    assert segment["signals"]["mean_logprob"] == -1.2346


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({}, ExplanationRequest(AttentionSelection(), False, path="")),
        (
            {"layers": [-1], "heads": [0], "aggregate": {"heads": "max", "layers": "mean"}, "unit": "word"},
            ExplanationRequest(AttentionSelection(("cross",), (-1,), (0,), "max", "mean", "word"), False, path=""),
        ),
        (
            {"resolution": 8, "special_tokens": "drop", "encoding": "base64", "dtype": "float32", "decimals": 2},
            ExplanationRequest(
                AttentionSelection(special_tokens="drop", resolution=8, format=MapFormat("base64", "float32", 2)),
                False,
                path="",
            ),
        ),
        ({"alignment": {}, "offset_unit": "utf8"}, ExplanationRequest(AttentionSelection(), True, "utf8", path="")),
    ],
)
def test_selection_reaches_the_service(fields: dict[str, Any], wanted: ExplanationRequest) -> None:
    service = ScriptedService()
    assert post(service, fields).status_code == 200
    assert service.explained == [ExplainRequest("Hi.", "en", "fr", None, wanted)]


def test_target_and_head_mask_reach_the_service() -> None:
    service = ScriptedService()
    post(service, {"target_text": "Salut.", "head_mask": {"encoder": [[0, 1]]}})
    assert (service.explained[0].target_text, service.explained[0].head_mask) == ("Salut.", {"encoder": ((0.0, 1.0),)})


def test_archive_by_accept() -> None:
    service = ScriptedService()
    response = post(service, {"dtype": "float32"}, headers={"accept": "application/x-npz"})
    assert response.headers["content-type"] == "application/x-npz"
    with np.load(io.BytesIO(response.content), allow_pickle=False) as archive:
        np.testing.assert_allclose(archive["s0/cross"], 1 / 3)
        meta = json.loads(archive["meta.json"])
    assert meta["segments"][0]["attention"]["maps"]["cross"]["data"] == "s0/cross"
    assert service.explained[0].wanted.attention == AttentionSelection(format=MapFormat("npz", "float32"))


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("application/x-npz, */*", "application/x-npz"),
        ("application/json;q=0.9, application/x-npz", "application/x-npz"),
        ("application/x-npz;q=0.5, application/json", "application/json"),
        ("application/x-npz;q=0", "application/json"),
        ("*/*", "application/json"),
    ],
)
def test_an_archive_is_for_those_who_want_it_most(accept: str, media_type: str) -> None:
    response = post(ScriptedService(), {}, headers={"accept": accept})
    assert (response.status_code, response.headers["content-type"]) == (200, media_type)
    assert response.headers["vary"].split(", ")[0] == "Accept"


@pytest.mark.parametrize(
    ("fields", "status", "field"),
    [
        ({"families": ["self"]}, 422, "families[0]"),
        ({"aggregate": {"heads": "rollout"}}, 422, "aggregate.heads"),
        ({"resolution": 3}, 422, "resolution"),
        ({"decimals": 8}, 422, "decimals"),
        ({"encoding": "npz"}, 422, "encoding"),
        ({"head_mask": {"cross": [[2]]}}, 422, "head_mask.cross[0][0]"),
        ({"head_mask": {"self": []}}, 422, "head_mask.self"),
        ({"target_text": 1}, 422, "target_text"),
        ({"target_text": "a" * 998}, 413, "text"),
        ({"target": "en"}, 422, "target"),
        ({"beam_size": 1}, 422, "beam_size"),
    ],
)
def test_invalid_field(fields: dict[str, Any], status: int, field: str) -> None:
    service = ScriptedService()
    response = post(service, fields)
    assert (response.status_code, response.json()["error"]["field"]) == (status, field)
    assert service.explained == []


def test_too_much_attention_is_413() -> None:
    service = ScriptedService(failure=TooLarge("much", field="attention", limit=10, value=20))
    response = post(service, {})
    assert (response.status_code, response.json()["error"]["limit"]) == (413, 10)


def test_translate_answers_the_same_object() -> None:
    async def scenario() -> None:
        async with client_of(ScriptedService()) as client:
            explained = (await client.post("/attention", json=VALID | {"alignment": {}})).json()
            body = VALID | {"attention": {}, "alignment": {}}
            translated = (await client.post("/translate", json=body)).json()
            nothing = (await client.post("/translate", json=VALID)).json()
        assert translated["translations"][0]["attention"] == explained
        assert nothing["translations"][0]["attention"] is None

    asyncio.run(scenario())
