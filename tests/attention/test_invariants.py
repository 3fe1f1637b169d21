"""What must hold of every explanation, asked of the service with the bundled model over HTTP.

The numbers are those of the list that the contract came with. What HTTP cannot show (padding, caches, queries and keys,
positions) is asked of the graph and of the torch model with the same weights, which the export has compared to 1e-4.
"""

import base64
import io
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from fastapi.testclient import TestClient

from app.attention.encodings import decode_base64
from app.engine.batch_search import search_batch
from app.engine.hypotheses import SearchOptions
from app.main import create_app
from app.runtime import names
from app.runtime.explain_model import OnnxExplainModel, no_head_masks
from app.runtime.model_directory import ModelDirectory, open_model_directory
from app.runtime.onnx_step_model import OnnxStepModel, model_limits
from app.runtime.providers import RuntimeOptions, open_session
from app.settings import Settings
from app.text.tokenizer import Tokenizer
from export.restore import restore_checkpoint
from model.layers import MultiHeadAttention, attend
from model.step_model import TorchExplainModel, TorchStepModel
from model.transformer import Transformer

Json = dict[str, Any]
Array = npt.NDArray[np.float32]

SENTENCES = ["Where is the train station?", "My brother bought a new car last week, didn't he?", "I am tired."]
NASTY = "  👩‍🚀 Where’s the e\u0301te\u0301 ＡＢＣ, 中文 and \u00adcafe\u0301?  Yes 😀!\nHello."
ALL = {"families": ["encoder", "decoder", "cross"]}
EXACT = {"encoding": "base64", "dtype": "float32"}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(Settings())) as client:
        yield client


@pytest.fixture(scope="module")
def directory() -> ModelDirectory:
    return open_model_directory(Settings().model)


@pytest.fixture(scope="module")
def explain_model(directory: ModelDirectory) -> OnnxExplainModel:
    return OnnxExplainModel(directory, RuntimeOptions("cpu"))


@pytest.fixture(scope="module")
def transformer(directory: ModelDirectory) -> Transformer:
    """The torch model with the weights of the graphs."""
    return restore_checkpoint(directory).transformer()


@pytest.fixture(scope="module")
def tokenizer(directory: ModelDirectory) -> Tokenizer:
    return Tokenizer(directory.tokenizer_path)


def explain(client: TestClient, text: str = SENTENCES[0], **fields: Any) -> Json:
    answer = client.post("/attention", json={"text": text, "source": "en", "target": "fr", **fields})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def segment_of(client: TestClient, text: str = SENTENCES[0], **fields: Any) -> Json:
    segment: Json = explain(client, text, **fields)["segments"][0]
    return segment


def weights_of(one: Json) -> Array:
    if one["encoding"] == "json":
        return np.array(one["data"], dtype=np.float32)
    return decode_base64(one["data"], one["dtype"], tuple(one["shape"]))


def maps_of(segment: Json) -> dict[str, Array]:
    return {family: weights_of(one) for family, one in segment["attention"]["maps"].items()}


@cache
def ids(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """A source and a target of the bundled model."""
    source = tokenizer.encode_source("Where is the train station?", "fr")
    return source, [*tokenizer.encode("Où est la gare ?"), tokenizer.special_ids.eos]


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
def test_03_rows_sum_to_1(client: TestClient, form: Json) -> None:
    for one in segment_of(client, **ALL, **form)["attention"]["maps"].values():
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


def padded_run(directory: ModelDirectory, source: list[int], target: list[int]) -> dict[str, Array]:
    """The explain graph over the pair, padded on both sides, second of two rows."""
    masks = no_head_masks(directory.config)
    pad = directory.config.special_ids.pad
    source_len, target_len = len(source) + 7, len(target) + 5
    fed = [directory.config.special_ids.bos, *target[:-1]]
    other = [9] * source_len
    feeds = {
        names.SOURCE_IDS: np.array([other, source + [pad] * 7]),
        names.SOURCE_MASK: np.array([[True] * source_len, [True] * len(source) + [False] * 7]),
        names.TARGET_IDS: np.array([[1] + [9] * (target_len - 1), fed + [pad] * 5]),
        names.NEXT_IDS: np.array([[9] * target_len, target + [pad] * 5]),
        names.K: np.array([5]),
        names.ENCODER_HEAD_MASK: masks.encoder,
        names.DECODER_HEAD_MASK: masks.decoder,
        names.CROSS_HEAD_MASK: masks.cross,
    }
    session = open_session(directory, directory.config.explain, RuntimeOptions("cpu"))
    outputs = [names.LOG_PROBS, names.ENCODER_ATTENTION, names.DECODER_ATTENTION, names.CROSS_ATTENTION]
    found = session.run(outputs, feeds)
    return dict(zip(outputs, (array[1] for array in found), strict=True))


def test_06_padded_keys_get_exactly_nothing_and_never_show(
    client: TestClient, directory: ModelDirectory, tokenizer: Tokenizer
) -> None:
    source, target = ids(tokenizer)
    found = padded_run(directory, source, target)
    assert (found[names.ENCODER_ATTENTION][..., len(source) :] == 0).all()
    assert (found[names.CROSS_ATTENTION][..., len(source) :] == 0).all()
    pieces = [token["piece"] for token in segment_of(client)["source"]["tokens"]]
    assert "<pad>" not in pieces


def test_07_a_sentence_is_explained_alike_alone_padded_and_in_company(
    client: TestClient, directory: ModelDirectory, explain_model: OnnxExplainModel, tokenizer: Tokenizer
) -> None:
    source, target = ids(tokenizer)
    alone, found = explain_model.explain(source, target), padded_run(directory, source, target)
    n, t = len(source), len(target)
    np.testing.assert_allclose(found[names.LOG_PROBS][:t], alone.log_probs, atol=1e-5)
    np.testing.assert_allclose(found[names.ENCODER_ATTENTION][..., :n, :n], alone.encoder, atol=1e-5)
    np.testing.assert_allclose(found[names.DECODER_ATTENTION][..., :t, :t], alone.decoder, atol=1e-5)
    np.testing.assert_allclose(found[names.CROSS_ATTENTION][..., :t, :n], alone.cross, atol=1e-5)
    single = [segment_of(client, text, **EXACT) for text in SENTENCES]
    body = {"text": SENTENCES, "source": "en", "target": "fr", "attention": EXACT}
    together = client.post("/translate", json=body).json()["translations"]
    for one, other in zip(single, together, strict=True):
        assert other["attention"]["segments"][0]["attention"] == one["attention"]


def cached_weights(
    transformer: Transformer, source: list[int], target: list[int], monkeypatch: pytest.MonkeyPatch
) -> tuple[Array, Array]:
    """Decoder and cross-attention of the cached steps, noted where each step computes them."""
    noted: list[torch.Tensor] = []

    def attend_and_note(query: Any, key: Any, value: Any, mask: Any, need_weights: bool) -> Any:
        context, weights = attend(query, key, value, mask, need_weights=True)
        assert weights is not None
        noted.append(weights[0, :, 0])
        return context, None

    limits = model_limits(open_model_directory(Settings().model).config)
    with monkeypatch.context() as patch, torch.no_grad():
        patch.setattr("model.step_model.attend", attend_and_note)
        decoding = TorchStepModel(transformer, limits).encode([source], 1)
        for piece in [limits.bos_id, *target[:-1]]:
            decoding.step(np.array([piece]), 1)
    layers, heads = transformer.config.decoder_layers, transformer.config.heads
    decoder = np.zeros((layers, heads, len(target), len(target)), dtype=np.float32)
    cross = np.zeros((layers, heads, len(target), len(source)), dtype=np.float32)
    for number, row in enumerate(noted):
        query, within = divmod(number, 2 * layers)
        (cross if within % 2 else decoder)[within // 2, :, query, : row.shape[-1]] = row.numpy()
    return decoder, cross


def test_08_attention_of_cached_steps_is_that_of_the_teacher_forced_pass(
    explain_model: OnnxExplainModel,
    transformer: Transformer,
    tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, target = ids(tokenizer)
    decoder, cross = cached_weights(transformer, source, target, monkeypatch)
    found = explain_model.explain(source, target)
    np.testing.assert_allclose(found.decoder, decoder, atol=1e-5)
    np.testing.assert_allclose(found.cross, cross, atol=1e-5)


def test_09_every_hypothesis_of_a_beam_scores_as_it_is_explained(
    directory: ModelDirectory, explain_model: OnnxExplainModel, tokenizer: Tokenizer
) -> None:
    source, _ = ids(tokenizer)
    model = OnnxStepModel(directory, RuntimeOptions("cpu", "float32"))
    (found,) = search_batch(model, [source], SearchOptions(4, 1.0, 3, 30))
    for hypothesis in found:
        end = [tokenizer.special_ids.eos] if hypothesis.finish_reason == "eos" else []
        explanation = explain_model.explain(source, [*hypothesis.ids, *end])
        assert float(explanation.log_probs.sum()) == pytest.approx(hypothesis.log_prob, abs=1e-4)


def test_10_rows_do_not_depend_on_what_follows(client: TestClient) -> None:
    first = segment_of(client, target_text="Où est la gare ?", **ALL, **EXACT)
    second = segment_of(client, target_text="Où est la maison rouge de mon frère ?", **ALL, **EXACT)
    fed = (first["target"]["fed"], second["target"]["fed"])
    shared = next(index for index, (one, other) in enumerate(zip(*fed, strict=False)) if one != other)
    assert shared == 4
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
    mean = maps_of(segment_of(client, **ALL, **EXACT, aggregate={"layers": "mean", "heads": "mean"}))
    for family, weights in mean.items():
        np.testing.assert_allclose(weights[0, 0], whole[family].mean(axis=(0, 1)), atol=1e-6)


def test_13_rollout_is_the_product_of_the_layers(client: TestClient) -> None:
    options = {"families": ["encoder"], **EXACT}
    layers = maps_of(segment_of(client, **options, aggregate={"heads": "mean"}))["encoder"][:, 0]
    expected = np.eye(layers.shape[-1])
    for layer in layers:
        expected = (layer + np.eye(len(layer))) / 2 @ expected
    rollout = maps_of(segment_of(client, **options, aggregate={"heads": "mean", "layers": "rollout"}))["encoder"]
    np.testing.assert_allclose(rollout[0, 0], expected, atol=1e-5)


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
        assert (family == "decoder") == bool(empty.any())
    as_json = segment_of(client, families=["decoder"], special_tokens="drop_renormalize")
    assert as_json["attention"]["maps"]["decoder"]["data"][0][0][0] is None


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
                    cut(whole, token["span"])
                piece = token["piece"].replace("▁", "")
                if token["span"] and piece.isascii() and piece.isalpha() and unit == "codepoint":
                    assert cut(whole, token["span"]) == piece
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


def test_18_a_map_is_the_softmax_of_its_queries_and_keys(
    explain_model: OnnxExplainModel, transformer: Transformer, tokenizer: Tokenizer
) -> None:
    source, target = ids(tokenizer)
    found = explain_model.explain(source, target).encoder[0]
    layer = transformer.encoder[0]
    attention = layer.get_submodule("self_attention")
    assert isinstance(attention, MultiHeadAttention)
    with torch.no_grad():
        entered = layer.get_submodule("self_residual").enter(transformer.source_embedding(torch.tensor([source])))  # type: ignore[operator]
        query, key, _ = attention.project(entered, None)
        weights = (query @ key.transpose(-2, -1) / attention.head_dim**0.5).softmax(dim=-1)
    np.testing.assert_allclose(found, weights[0].numpy(), atol=1e-5)


def test_19_without_positions_encoder_maps_are_permuted_with_their_pieces(
    transformer: Transformer, tokenizer: Tokenizer
) -> None:
    source, target = ids(tokenizer)
    order = np.random.default_rng(0).permutation(len(source))
    positions = transformer.source_embedding.positions.clone()
    with torch.no_grad():
        transformer.source_embedding.positions.zero_()
        model = TorchExplainModel(transformer, tokenizer.special_ids.bos)
        plain = model.explain(source, target).encoder
        permuted = model.explain([source[index] for index in order], target).encoder
        transformer.source_embedding.positions.copy_(positions)
        placed = model.explain(source, target).encoder
    np.testing.assert_allclose(permuted, plain[..., order, :][..., order], atol=1e-5)
    assert np.abs(placed - plain).max() > 1e-2


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
