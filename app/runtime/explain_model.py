"""Attention and log-probabilities of a given pair: the two explain graphs under ONNX Runtime."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from app.engine.step_model import Explanation, Float32, HeadMasks, Int64, ReadSource
from app.runtime import names
from app.runtime.model_directory import ModelConfig, ModelDirectory
from app.runtime.muted_step_model import MutedStepModel
from app.runtime.providers import RuntimeOptions, open_session

RIVALS = 5
"""How many of the likeliest pieces of each step an explanation names."""

_Feeds = dict[str, npt.NDArray[Any]]

_DECODER_OUTPUTS = (
    names.LOG_PROBS,
    names.RIVAL_IDS,
    names.RIVAL_LOG_PROBS,
    names.ENTROPY,
    names.DECODER_ATTENTION,
    names.CROSS_ATTENTION,
)


class OnnxExplainModel:
    """Implements ``app.engine.step_model.ExplainModel`` in float32: one graph reads, another explains."""

    def __init__(self, directory: ModelDirectory, options: RuntimeOptions) -> None:
        """Opens both graphs.

        Raises:
            ModelDirectoryError: ONNX Runtime refuses one of them.
        """
        self._config = directory.config
        self._encoder = open_session(directory, directory.config.explain.encoder, options)
        self._decoder = open_session(directory, directory.config.explain.decoder, options)
        layers = range(directory.config.architecture.decoder_layers)
        self._keys = [names.cross_key(layer) for layer in layers]
        self._values = [names.cross_value(layer) for layer in layers]
        self._no_masks = no_head_masks(directory.config)

    def read(self, source_ids: Sequence[int], masks: HeadMasks | None = None) -> ReadSource:
        """See ``app.engine.step_model.ExplainModel``.

        Raises:
            ValueError: the source is empty or longer than the model's limit.
        """
        _check_length("source", source_ids, self._config.limits.source_len)
        feeds: _Feeds = {
            names.SOURCE_IDS: np.array([source_ids], dtype=np.int64),
            names.SOURCE_MASK: np.ones((1, len(source_ids)), dtype=np.bool_),
            names.ENCODER_HEAD_MASK: (masks or self._no_masks).encoder,
        }
        attention, *memory = self._encoder.run([names.ENCODER_ATTENTION, *self._keys, *self._values], feeds)
        layers = len(self._keys)
        return ReadSource(attention[0], tuple(memory[:layers]), tuple(memory[layers:]))

    def explain(self, read: ReadSource, target_ids: Sequence[int], masks: HeadMasks | None = None) -> Explanation:
        """See ``app.engine.step_model.ExplainModel``.

        Raises:
            ValueError: the target is empty or longer than the model's limit.
        """
        _check_length("target", target_ids, self._config.limits.target_len)
        fed = np.array([[self._config.special_ids.bos, *target_ids[:-1]]], dtype=np.int64)
        feeds = self._decoder_feeds(read, fed, masks)
        feeds[names.NEXT_IDS] = np.array([target_ids], dtype=np.int64)
        found = (array[0] for array in self._decoder.run(_DECODER_OUTPUTS, feeds))
        log_probs, rival_ids, rival_log_probs, entropy, decoder, cross = found
        return Explanation(log_probs, rival_ids, rival_log_probs, entropy, read.encoder, decoder, cross)

    def explain_pair(
        self, source_ids: Sequence[int], target_ids: Sequence[int], masks: HeadMasks | None = None
    ) -> Explanation:
        """``read`` and ``explain`` at one go.

        Raises:
            ValueError: as they do.
        """
        return self.explain(self.read(source_ids, masks), target_ids, masks)

    def step_model(self, masks: HeadMasks, check: Callable[[], None]) -> MutedStepModel:
        """See ``app.engine.step_model.ExplainModel``."""

        def read(source_ids: Sequence[int]) -> ReadSource:
            check()
            return self.read(source_ids, masks)

        def candidates(read: ReadSource, fed: Int64, k: int) -> tuple[Int64, Float32]:
            check()
            feeds = self._decoder_feeds(read, fed, masks)
            feeds[names.K] = np.array([k], dtype=np.int64)
            ids, log_probs = self._decoder.run([names.RIVAL_IDS, names.RIVAL_LOG_PROBS], feeds)
            return ids[:, -1], log_probs[:, -1]

        return MutedStepModel(self._config, read, candidates)

    def _decoder_feeds(self, read: ReadSource, fed: Int64, masks: HeadMasks | None) -> _Feeds:
        """All inputs for ``fed [rows, target_len]``, whose rows share one source."""
        masks = masks or self._no_masks
        return {
            **dict(zip(self._keys, read.cross_keys, strict=True)),
            **dict(zip(self._values, read.cross_values, strict=True)),
            names.SOURCE_MASK: np.ones((1, read.source_len), dtype=np.bool_),
            names.TARGET_IDS: fed,
            names.NEXT_IDS: fed,
            names.K: np.array([min(RIVALS, self._config.architecture.vocab_size)], dtype=np.int64),
            names.DECODER_HEAD_MASK: masks.decoder,
            names.CROSS_HEAD_MASK: masks.cross,
        }


def no_head_masks(config: ModelConfig) -> HeadMasks:
    """Masks that leave every head as it is."""
    architecture = config.architecture
    encoder = np.ones((architecture.encoder_layers, architecture.heads), dtype=np.float32)
    decoder = np.ones((architecture.decoder_layers, architecture.heads), dtype=np.float32)
    return HeadMasks(encoder, decoder, decoder)


def _check_length(what: str, ids: Sequence[int], limit: int) -> None:
    if not 1 <= len(ids) <= limit:
        raise ValueError(f"a {what} has 1 to {limit} ids, not {len(ids)}")
