"""What must hold of every explanation, asked of the service with the bundled model over HTTP.

The numbers are those of the list that the contract came with. What HTTP cannot show (padding, caches, queries and keys,
positions) stands in ``test_graph_invariants``.
"""

import base64
import io
import json
import re
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from app.text.normalise import normalise
from tests.attention.asking import (
    ALL,
    EXACT,
    NASTY,
    SENTENCES,
    Json,
    decode_base64,
    explain,
    maps_of,
    segment_of,
    segments_of,
    weights_of,
)


@pytest.mark.parametrize("unit", ["token", "word"])
def test_01_shapes_lists_and_labels_agree(client: TestClient, unit: str) -> None:
    answer = explain(client, **ALL, unit=unit)
    depth = answer["model"]["layers"]
    assert depth["encoder"] != depth["decoder"], "the bundled model is to be of unequal depth"
    segment = answer["segments"][0]
    lists = {"source.tokens": segment["source"]["tokens"], "target.fed": segment["target"]["fed"]}
    assert len(segment["target"]["fed"]) == len(segment["target"]["predicted"])
    for family, one in segment["attention"]["maps"].items():
        assert one["axes"] == ["layer", "head", "query", "key"]
        assert one["layers"] == list(range(depth["encoder" if family == "encoder" else "decoder"]))
        assert one["heads"] == list(range(answer["model"]["heads"]))
        labels = [len(one[name]) for name in ("layers", "heads", "query_labels", "key_labels")]
        assert list(weights_of(one).shape) == one["shape"] == labels
        for axis in ("query", "key"):
            assert len(one[f"{axis}_units"]) == len(one[f"{axis}_labels"])
            assert [index for unit in one[f"{axis}_units"] for index in unit] == list(range(len(lists[one[axis]])))


@pytest.mark.parametrize("text", SENTENCES)
def test_02_every_value_is_finite_and_within_0_and_1(client: TestClient, text: str) -> None:
    for weights in maps_of(segment_of(client, text, **ALL, **EXACT)).values():
        assert np.isfinite(weights).all()
        assert ((weights >= 0) & (weights <= 1)).all()


@pytest.mark.parametrize(
    "form",
    [
        {"encoding": "base64", "dtype": "float32"},
        {"encoding": "base64", "dtype": "float16"},
        {"encoding": "base64", "dtype": "uint8_sqrt"},
        {"encoding": "json"},
    ],
)
@pytest.mark.parametrize("text", SENTENCES)
def test_03_rows_sum_to_1(client: TestClient, text: str, form: Json) -> None:
    for one in segment_of(client, text, **ALL, **form)["attention"]["maps"].values():
        keys = one["shape"][3]
        bounds = {
            "float32": 1e-5,
            "float16": 5e-4,
            "uint8_sqrt": 2 * np.sqrt(keys) / 510 + keys / 510**2,
            None: keys * 5e-5 + 1e-6,
        }
        assert one["normalized"]
        np.testing.assert_allclose(weights_of(one).sum(axis=-1), 1, atol=bounds[one["dtype"]])


def test_04_decoder_rows_never_look_ahead(client: TestClient) -> None:
    decoder = maps_of(segment_of(client, **ALL, **EXACT))["decoder"]
    future = np.triu(np.ones(decoder.shape[2:], dtype=bool), k=1)
    assert (decoder[..., future] == 0).all()


def test_05_the_first_decoder_row_sees_itself_alone_and_each_row_its_past(client: TestClient) -> None:
    decoder = maps_of(segment_of(client, **ALL, **EXACT))["decoder"]
    assert (decoder[:, :, 0, 0] == 1).all()
    assert (decoder[:, :, 0, 1:] == 0).all()
    past = np.tril(np.ones(decoder.shape[2:], dtype=bool))
    assert (decoder[..., past] > 0).mean() > 0.99  # a weight may underflow to 0


def test_06_07_a_sentence_is_explained_alike_alone_and_among_longer_ones(client: TestClient) -> None:
    single = [segment_of(client, text, **ALL, **EXACT) for text in SENTENCES]
    body = {"text": SENTENCES, "source": "en", "target": "fr", "attention": {**ALL, **EXACT}}
    together = client.post("/translate", json=body).json()["translations"]
    joined = segments_of(client, " ".join(SENTENCES), **ALL, **EXACT)
    for one, other, third in zip(single, together, joined, strict=True):
        assert other["attention"]["segments"][0]["attention"] == one["attention"] == third["attention"]
        listed = [token["piece"] for token in one["source"]["tokens"]] + one["target"]["fed"]
        assert "<pad>" not in listed
        assert one["attention"]["maps"]["cross"]["shape"][2:] == [
            len(one["target"]["fed"]),
            len(one["source"]["tokens"]),
        ]


def test_10_rows_do_not_depend_on_what_follows(client: TestClient) -> None:
    first = segment_of(client, target_text="Où est la gare ?", **ALL, **EXACT)
    second = segment_of(client, target_text="Où est la maison rouge de mon frère ?", **ALL, **EXACT)
    fed = (first["target"]["fed"], second["target"]["fed"])
    shared = next(index for index, (one, other) in enumerate(zip(*fed, strict=False)) if one != other)
    assert shared > 1
    one, other = maps_of(first), maps_of(second)
    for family in ("decoder", "cross"):
        rows = (weights[:, :, :shared] for weights in (one[family], other[family]))
        cut = (weights[..., :shared] if family == "decoder" else weights for weights in rows)
        np.testing.assert_allclose(next(cut), next(cut), atol=1e-6)


def test_11_encoder_maps_do_not_depend_on_the_target(client: TestClient) -> None:
    options = {"families": ["encoder"], **EXACT}
    alone = segment_of(client, **options)
    given = segment_of(client, target_text="Bonjour.", alignment={}, **options)
    assert alone["target"] is None
    assert alone["attention"]["maps"] == given["attention"]["maps"]


@pytest.mark.parametrize("text", [*SENTENCES, NASTY])
def test_12_the_translation_is_the_same_with_attention_on(client: TestClient, text: str) -> None:
    body = {"text": text, "source": "en", "target": "fr"}
    plain = client.post("/translate", json=body).json()["translations"][0]
    looked = client.post("/translate", json=body | {"attention": {"layers": [0]}, "alignment": {}}).json()
    translation = looked["translations"][0]
    attention = translation.pop("attention")
    assert translation == {key: value for key, value in plain.items() if key != "attention"}
    assert attention["target_text"] == plain["text"]
    for segment, explained in zip(plain["segments"], attention["segments"], strict=True):
        written = [token["piece"] for token in explained["target"]["predicted"] if token["special"] is None]
        assert written == segment["target"]["pieces"]


def test_13_a_selection_is_a_slice_and_a_mean_is_the_mean(client: TestClient) -> None:
    whole = maps_of(segment_of(client, **ALL, **EXACT))
    part = segment_of(client, **ALL, **EXACT, layers=[-1, 0], heads=[3, -1])
    for family, one in part["attention"]["maps"].items():
        np.testing.assert_array_equal(weights_of(one), whole[family][one["layers"]][:, one["heads"]])
    for reduction in ("mean", "max"):
        reduced = segment_of(client, **ALL, **EXACT, layers=[0], heads=[1, 2], aggregate={"heads": reduction})
        for family, one in reduced["attention"]["maps"].items():
            expected = getattr(whole[family][:1, 1:3], reduction)(axis=1, keepdims=True)
            np.testing.assert_allclose(weights_of(one), expected, atol=1e-6)
            assert one["normalized"] == (reduction == "mean")


@pytest.mark.parametrize("layers", ["all", [-1], [1, 0]])
@pytest.mark.parametrize("heads", ["all", [5], [0, 2, -1]])
@pytest.mark.parametrize("over_heads", ["none", "mean", "max"])
def test_13_heads_are_reduced_before_layers(client: TestClient, layers: Any, heads: Any, over_heads: str) -> None:
    """An oracle of its own: from all weights, in float64."""
    whole = maps_of(segment_of(client, **ALL, **EXACT))
    options = {"layers": layers, "heads": heads, "aggregate": {"heads": over_heads, "layers": "mean"}}
    for family, one in segment_of(client, **ALL, **EXACT, **options)["attention"]["maps"].items():
        expected = whole[family].astype(np.float64)
        expected = expected if layers == "all" else expected[layers]
        expected = expected if heads == "all" else expected[:, heads]
        if over_heads != "none":
            expected = getattr(expected, over_heads)(axis=1, keepdims=True)
        np.testing.assert_allclose(weights_of(one), expected.mean(axis=0, keepdims=True), atol=1e-6, rtol=0)
        assert one["normalized"] == (over_heads != "max")


@pytest.mark.parametrize("layers", ["all", [0, 1, 2], [-1]])
@pytest.mark.parametrize("unit", ["token", "word"])
def test_13_rollout_is_the_product_of_the_layers(client: TestClient, layers: Any, unit: str) -> None:
    """Rollout of Abnar and Zuidema (2020, equation 1) over pieces; words are joined afterwards."""
    options = {"families": ["encoder"], **EXACT}
    attention = maps_of(segment_of(client, **options))["encoder"].astype(np.float64).mean(axis=1)
    attention = attention if layers == "all" else attention[layers]
    expected = np.eye(attention.shape[-1])
    for layer in attention:
        expected = (0.5 * layer + 0.5 * np.eye(len(layer))) @ expected
    asked = {"aggregate": {"heads": "mean", "layers": "rollout"}, "layers": layers, "unit": unit}
    one = segment_of(client, **options, **asked)["attention"]["maps"]["encoder"]
    expected = np.stack([expected[:, keys].sum(axis=1) for keys in one["key_units"]], axis=1)
    expected = np.stack([expected[queries].mean(axis=0) for queries in one["query_units"]])
    np.testing.assert_allclose(weights_of(one)[0, 0], expected, atol=1e-6, rtol=0)
    np.testing.assert_allclose(weights_of(one).sum(axis=-1), 1, atol=1e-5)


@pytest.mark.parametrize("text", SENTENCES)
def test_14_words_sum_over_keys_and_average_over_queries(client: TestClient, text: str) -> None:
    pieces = maps_of(segment_of(client, text, **ALL, **EXACT))
    for family, one in segment_of(client, text, **ALL, **EXACT, unit="word")["attention"]["maps"].items():
        merged = np.stack([pieces[family][..., unit].sum(axis=-1) for unit in one["key_units"]], axis=-1)
        merged = np.stack([merged[:, :, unit].mean(axis=2) for unit in one["query_units"]], axis=2)
        np.testing.assert_allclose(weights_of(one), merged, atol=1e-5)
        np.testing.assert_allclose(weights_of(one).sum(axis=-1), 1, atol=1e-5)


@pytest.mark.parametrize("unit", ["token", "word"])
def test_15_dropping_special_pieces_tells_the_hidden_mass(client: TestClient, unit: str) -> None:
    options = {**ALL, **EXACT, "unit": unit}
    dropped = segment_of(client, **options, special_tokens="drop")["attention"]["maps"]
    renormalised = segment_of(client, **options, special_tokens="drop_renormalize")["attention"]["maps"]
    for family, one in dropped.items():
        hidden = decode_base64(one["hidden_mass"], "float32", tuple(one["shape"][:3]))
        np.testing.assert_allclose(weights_of(one).sum(axis=-1) + hidden, 1, atol=1e-5)
        assert not {">>fr<<", "</s>", "<s>"} & set(one["key_labels"])
        sums = weights_of(renormalised[family]).sum(axis=-1)
        empty = 1 - hidden < 1e-6
        np.testing.assert_allclose(sums[~empty], 1, atol=1e-5)
        assert np.isnan(sums[empty]).all()
        if family == "decoder":
            assert empty[..., 0].all(), "the first row sees the beginning of sentence alone"
    as_json = segment_of(client, families=["decoder"], special_tokens="drop_renormalize")
    assert as_json["attention"]["maps"]["decoder"]["data"][0][0][0] is None


@pytest.mark.parametrize("special_tokens", ["keep", "drop", "drop_renormalize"])
@pytest.mark.parametrize("heads", ["none", "mean", "max"])
def test_15_normalized_says_whether_rows_sum_to_1(client: TestClient, heads: str, special_tokens: str) -> None:
    options = {**ALL, **EXACT, "aggregate": {"heads": heads}, "special_tokens": special_tokens}
    for one in segment_of(client, **options)["attention"]["maps"].values():
        sums = weights_of(one).sum(axis=-1)
        assert one["normalized"] == bool(np.allclose(sums[~np.isnan(sums)], 1, atol=1e-5))


@pytest.mark.parametrize("unit", ["codepoint", "utf16", "utf8"])
@pytest.mark.parametrize("text", [*SENTENCES, NASTY])
def test_16_spans_reproduce_words_and_pieces(client: TestClient, text: str, unit: str) -> None:
    def cut(whole: str, span: list[int]) -> str:
        if unit == "codepoint":
            return whole[slice(*span)]
        encoding, width = ("utf-16-le", 2) if unit == "utf16" else ("utf-8", 1)
        return whole.encode(encoding)[span[0] * width : span[1] * width].decode(encoding)

    answer = explain(client, text, layers=[0], heads=[0], offset_unit=unit)
    for segment in answer["segments"]:
        for whole, side, tokens in (
            (text, segment["source"], segment["source"]["tokens"]),
            (answer["target_text"], segment["target"], segment["target"]["predicted"]),
        ):
            assert cut(whole, side["span"]) == side["text"]
            position = side["span"][0]
            for token in tokens:
                assert (token["span"] is None) == (token["special"] is not None)
                if token["span"]:
                    assert position <= token["span"][0] <= token["span"][1] <= side["span"][1]
                    position = token["span"][1]
                    shown, piece = cut(whole, token["span"]), token["piece"].replace("▁", "")
                    # A byte is no text.
                    if not re.fullmatch("<0x[0-9A-F]{2}>", piece):
                        assert normalise(shown) == piece
            position = side["span"][0]
            for word in side["words"]:
                assert cut(whole, word["span"]) == word["text"]
                assert position <= word["span"][0] < word["span"][1]
                position = word["span"][1]


def test_17_all_encodings_tell_the_same_numbers(client: TestClient) -> None:
    exact = maps_of(segment_of(client, **ALL, **EXACT))
    for form, tolerance in (
        ({"encoding": "base64", "dtype": "float16"}, 5e-4),
        ({"encoding": "base64", "dtype": "uint8_sqrt"}, 4e-3),
        ({"encoding": "json"}, 5.1e-5),
        ({"encoding": "json", "decimals": 7}, 1e-7),
    ):
        for family, weights in maps_of(segment_of(client, **ALL, **form)).items():
            np.testing.assert_allclose(weights, exact[family], atol=tolerance, rtol=0)
    body = {"text": SENTENCES[0], "source": "en", "target": "fr", **ALL, "dtype": "float32"}
    archive = client.post("/attention", json=body, headers={"accept": "application/x-npz"})
    with np.load(io.BytesIO(archive.content), allow_pickle=False) as arrays:
        for family, weights in exact.items():
            np.testing.assert_array_equal(arrays[f"s0/{family}"], weights)
        assert json.loads(arrays["meta.json"])["segments"][0]["target"]["fed"]
    stored = segment_of(client, **ALL, **EXACT)["attention"]["maps"]["cross"]
    assert np.frombuffer(base64.b64decode(stored["data"]), "<f4").size == np.prod(stored["shape"])


def test_20_ones_mask_nothing_and_a_muted_head_is_still_shown(client: TestClient) -> None:
    answer = explain(client, **ALL, **EXACT)
    depth, heads = answer["model"]["layers"], answer["model"]["heads"]
    ones = {
        family: [[1.0] * heads for _ in range(depth["encoder" if family == "encoder" else "decoder"])]
        for family in ("encoder", "decoder", "cross")
    }
    text = answer["target_text"]
    plain = segment_of(client, **ALL, **EXACT, target_text=text)
    assert segment_of(client, **ALL, **EXACT, target_text=text, head_mask=ones) == plain
    for family in ones:
        mask = {family: [[0.0] * heads, *ones[family][1:]]}
        muted = segment_of(client, **ALL, **EXACT, target_text=text, head_mask=mask)
        np.testing.assert_array_equal(maps_of(muted)[family][0], maps_of(plain)[family][0])
        log_probs = [np.array([token["logprob"] for token in one["target"]["predicted"]]) for one in (plain, muted)]
        assert np.abs(log_probs[0] - log_probs[1]).max() > 1e-3
    silent = {"cross": [[0.0] * heads for _ in range(depth["decoder"])]}
    body = {"text": SENTENCES[0], "source": "en", "target": "fr"}
    without = client.post("/translate", json=body | {"head_mask": silent}).json()["translations"][0]["text"]
    assert without != client.post("/translate", json=body).json()["translations"][0]["text"]
