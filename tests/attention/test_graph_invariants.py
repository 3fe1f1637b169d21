"""What must hold of explanations and cannot be seen over HTTP: padding, caches, queries and keys, positions.

Asked of the explain graphs of the bundled model and of the torch model with the same weights, whose cached steps are
what search runs on. Numbers and numbering go on from ``test_invariants``.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch

from app.engine.batch_search import search_batch
from app.engine.hypotheses import Hypothesis, SearchOptions
from app.engine.step_model import Candidates, Decoding, Explanation, Int64, ModelLimits
from app.runtime import names
from app.runtime.explain_model import OnnxExplainModel, no_head_masks
from app.runtime.model_directory import ModelDirectory
from app.runtime.onnx_step_model import OnnxStepModel, model_limits
from app.runtime.providers import RuntimeOptions, open_session
from app.text.tokenizer import Tokenizer
from model.layers import attend
from model.step_model import TorchExplainModel, TorchStepModel
from model.transformer import Transformer
from tests.attention.asking import Array

Pair = tuple[list[int], list[int]]
# Queries [rows, heads, query, head_dim], keys likewise, and the weights that came of them.
Attended = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


@pytest.fixture(scope="module")
def pair(tokenizer: Tokenizer) -> Pair:
    """Ids of a source and a target."""
    source = tokenizer.encode_source("Where is the train station?", "fr")
    return source, [*tokenizer.encode("Où est la gare ?"), tokenizer.special_ids.eos]


@pytest.fixture(scope="module")
def limits(directory: ModelDirectory) -> ModelLimits:
    return model_limits(directory.config)


@contextmanager
def noting(module: str, noted: list[Attended]) -> Iterator[None]:
    """Every attention that ``module`` computes is put into ``noted``."""

    def attend_and_note(query: Any, key: Any, value: Any, mask: Any, need_weights: bool) -> Any:
        context, weights = attend(query, key, value, mask, need_weights=True)
        assert weights is not None
        noted.append((query, key, weights))
        return context, weights if need_weights else None

    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(f"{module}.attend", attend_and_note)
        yield


def padded_run(directory: ModelDirectory, pair: Pair, place: int) -> dict[str, Array]:
    """The explain graphs over ``pair``, padded on both sides, at ``place`` of three rows."""
    source, target = pair
    masks, special = no_head_masks(directory.config), directory.config.special_ids
    source_len, target_len = len(source) + 7, len(target) + 5

    def among_others(row: Sequence[int | bool], filler: int | bool, length: int, padding: int | bool) -> Any:
        rows = np.full((3, length), filler)
        rows[place] = [*row, *[padding] * (length - len(row))]
        return rows

    source_mask = among_others([True] * len(source), True, source_len, False)
    feeds = {
        names.SOURCE_IDS: among_others(source, 9, source_len, special.pad),
        names.SOURCE_MASK: source_mask,
        names.ENCODER_HEAD_MASK: masks.encoder,
    }
    read = run(directory, directory.config.explain.encoder, feeds)
    feeds = {
        **{name: array for name, array in read.items() if name != names.ENCODER_ATTENTION},
        names.SOURCE_MASK: source_mask,
        names.TARGET_IDS: among_others([special.bos, *target[:-1]], 9, target_len, special.pad),
        names.NEXT_IDS: among_others(target, 9, target_len, special.pad),
        names.K: np.array([5]),
        names.DECODER_HEAD_MASK: masks.decoder,
        names.CROSS_HEAD_MASK: masks.cross,
    }
    found = {names.ENCODER_ATTENTION: read[names.ENCODER_ATTENTION]}
    found |= run(directory, directory.config.explain.decoder, feeds)
    return {name: array[place] for name, array in found.items()}


def run(directory: ModelDirectory, file: str, feeds: dict[str, Any]) -> dict[str, Any]:
    """All outputs of a graph, by name."""
    session = open_session(directory, file, RuntimeOptions("cpu"))
    outputs = [output.name for output in session.get_outputs()]
    return dict(zip(outputs, session.run(outputs, feeds), strict=True))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_06_07_padding_gets_exactly_nothing_and_changes_nothing(
    directory: ModelDirectory, explain_model: OnnxExplainModel, pair: Pair, place: int
) -> None:
    alone, found = explain_model.explain_pair(*pair), padded_run(directory, pair, place)
    n, t = map(len, pair)
    assert (found[names.ENCODER_ATTENTION][..., n:] == 0).all()
    assert (found[names.CROSS_ATTENTION][..., n:] == 0).all()
    assert (found[names.DECODER_ATTENTION][..., :t, t:] == 0).all()
    np.testing.assert_allclose(found[names.LOG_PROBS][:t], alone.log_probs, atol=1e-5)
    np.testing.assert_allclose(found[names.ENCODER_ATTENTION][..., :n, :n], alone.encoder, atol=1e-5)
    np.testing.assert_allclose(found[names.DECODER_ATTENTION][..., :t, :t], alone.decoder, atol=1e-5)
    np.testing.assert_allclose(found[names.CROSS_ATTENTION][..., :t, :n], alone.cross, atol=1e-5)


class NotingDecoding:
    """A decoding that remembers what each row was fed, from where, and the attention of its last step.

    Attributes:
        fed: of each row, beginning with the beginning of sentence.
        maps: by index of the source and pieces fed, the last row of the maps: of the decoder ``[layer, head, key]``
            over the pieces fed, and of cross-attention over the source.
        moved: whether rows were ever reordered in earnest.
    """

    def __init__(self, decoding: Decoding, sources: Sequence[Sequence[int]]) -> None:
        self._decoding = decoding
        self._sources = sources
        self._kept = list(range(len(sources)))
        self.fed: list[tuple[int, ...]] = [()] * (len(sources) * decoding.width)
        self.maps: dict[tuple[int, tuple[int, ...]], tuple[Array, Array]] = {}
        self.moved = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._decoding, name)

    def step(self, last_ids: Int64, k: int) -> Candidates:
        self.fed = [(*before, int(last)) for before, last in zip(self.fed, last_ids, strict=True)]
        noted: list[Attended] = []
        with noting("model.step_model", noted):
            candidates = self._decoding.step(last_ids, k)
        decoder, cross = (torch.stack([weights for _, _, weights in noted[part::2]]).numpy() for part in (0, 1))
        for row, fed in enumerate(self.fed):
            sentence, within = divmod(row, self._decoding.width)
            source = self._kept[sentence]
            own = decoder[:, row, :, 0, : len(fed)]
            self.maps[source, fed] = own, cross[:, sentence, :, within, : len(self._sources[source])]
        return candidates

    def reorder(self, parents: Int64) -> None:
        self.moved |= parents.tolist() != sorted(parents.tolist())
        self.fed = [self.fed[parent] for parent in parents.tolist()]
        self._decoding.reorder(parents)

    def keep(self, sentences: Sequence[int]) -> None:
        width = self._decoding.width
        self.fed = [self.fed[sentence * width + row] for sentence in sentences for row in range(width)]
        self._kept = [self._kept[sentence] for sentence in sentences]
        self._decoding.keep(sentences)


class NotingModel:
    """A step model whose one decoding is kept."""

    def __init__(self, model: TorchStepModel) -> None:
        self._model = model
        self.limits = model.limits
        self.decoding: NotingDecoding

    def encode(self, sources: Sequence[Sequence[int]], width: int) -> Decoding:
        self.decoding = NotingDecoding(self._model.encode(sources, width), sources)
        return self.decoding


def collected(maps: dict[Any, tuple[Array, Array]], source: int, fed: Sequence[int]) -> tuple[Array, Array]:
    """Decoder and cross-attention ``[layer, head, query, key]`` of one hypothesis, from the steps that made it."""
    steps = [maps[source, tuple(fed[: length + 1])] for length in range(len(fed))]
    padded = [np.pad(own, ((0, 0), (0, 0), (0, len(fed) - own.shape[-1]))) for own, _ in steps]
    return np.stack(padded, axis=2), np.stack([cross for _, cross in steps], axis=2)


def check_maps(found: Explanation, decoder: Array, cross: Array) -> None:
    np.testing.assert_allclose(found.decoder, decoder, atol=1e-5, rtol=0)
    np.testing.assert_allclose(found.cross, cross, atol=1e-5, rtol=0)


def test_08_attention_of_cached_steps_is_that_of_the_teacher_forced_pass(
    explain_model: OnnxExplainModel, transformer: Transformer, limits: ModelLimits, pair: Pair
) -> None:
    source, target = pair
    fed = [limits.bos_id, *target[:-1]]
    decoding = NotingDecoding(TorchStepModel(transformer, limits).encode([source], 1), [source])
    for piece in fed:
        decoding.step(np.array([piece]), 1)
    check_maps(explain_model.explain_pair(source, target), *collected(decoding.maps, 0, fed))


BEAM = SearchOptions(4, 1.0, 3, 30)
TEXTS = ["Where is the train station?", "I am tired.", "My brother bought a new car last week, didn't he?"]


def whole(hypothesis: Hypothesis, limits: ModelLimits) -> list[int]:
    """The pieces that a search chose, the end of sentence with them."""
    return [*hypothesis.ids, *([limits.eos_id] if hypothesis.finish_reason == "eos" else [])]


def test_09_attention_along_every_hypothesis_of_a_beam_is_that_of_the_teacher_forced_pass(
    explain_model: OnnxExplainModel, transformer: Transformer, limits: ModelLimits, tokenizer: Tokenizer
) -> None:
    sources = [tokenizer.encode_source(text, "fr") for text in TEXTS]
    model = NotingModel(TorchStepModel(transformer, limits))
    found = search_batch(model, sources, BEAM)
    assert model.decoding.moved, "no row went on from another: nothing was tested"
    for index, hypotheses in enumerate(found):
        assert len(hypotheses) == 4
        for hypothesis in hypotheses:
            target = whole(hypothesis, limits)
            maps = collected(model.decoding.maps, index, [limits.bos_id, *target[:-1]])
            check_maps(explain_model.explain_pair(sources[index], target), *maps)


def test_09_every_hypothesis_of_a_beam_scores_as_it_is_explained(
    directory: ModelDirectory, explain_model: OnnxExplainModel, limits: ModelLimits, tokenizer: Tokenizer
) -> None:
    sources = [tokenizer.encode_source(text, "fr") for text in TEXTS]
    model = OnnxStepModel(directory, RuntimeOptions("cpu", "float32"))
    for source, hypotheses in zip(sources, search_batch(model, sources, BEAM), strict=True):
        for hypothesis in hypotheses:
            explanation = explain_model.explain_pair(source, whole(hypothesis, limits))
            assert float(explanation.log_probs.sum()) == pytest.approx(hypothesis.log_prob, abs=1e-4)


def test_18_every_map_is_the_softmax_of_its_queries_and_keys(
    explain_model: OnnxExplainModel, transformer: Transformer, limits: ModelLimits, pair: Pair
) -> None:
    noted: list[Attended] = []
    with noting("model.layers", noted):
        TorchExplainModel(transformer, limits.bos_id).explain_pair(*pair)
    found = explain_model.explain_pair(*pair)
    layers = len(found.encoder)
    parts = {"encoder": noted[:layers], "decoder": noted[layers::2], "cross": noted[layers + 1 :: 2]}
    for family, attended in parts.items():
        maps = getattr(found, family)
        assert len(attended) == len(maps)
        for (query, key, _), expected in zip(attended, maps, strict=True):
            scores = query[0].double().numpy() @ key[0].double().numpy().transpose(0, 2, 1)
            scores /= np.sqrt(query.shape[-1])
            if family == "decoder":
                scores[:, np.triu(np.ones(scores.shape[1:], bool), k=1)] = -np.inf
            powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
            np.testing.assert_allclose(expected, powers / powers.sum(axis=-1, keepdims=True), atol=1e-5, rtol=0)


def test_19_without_positions_encoder_maps_are_permuted_with_their_pieces(
    transformer: Transformer, limits: ModelLimits, pair: Pair
) -> None:
    source, target = pair
    order = np.random.default_rng(0).permutation(len(source))
    explain: Callable[..., Explanation] = TorchExplainModel(transformer, limits.bos_id).explain_pair
    placed = explain(source, target).encoder
    with pytest.MonkeyPatch.context() as patch:
        embedding = transformer.source_embedding
        patch.setitem(embedding._buffers, "positions", torch.zeros_like(embedding.positions))
        plain = explain(source, target).encoder
        permuted = explain([source[index] for index in order], target).encoder
    np.testing.assert_allclose(permuted, plain[..., order, :][..., order], atol=1e-5, rtol=0)
    assert np.abs(placed - plain).max() > 1e-2
