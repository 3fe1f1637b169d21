"""Attention and log-probabilities of a given pair: the explain graph under ONNX Runtime."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from app.engine.step_model import Explanation, Float32, HeadMasks, Int64
from app.runtime import names
from app.runtime.model_directory import ModelConfig, ModelDirectory
from app.runtime.muted_step_model import MutedStepModel
from app.runtime.providers import RuntimeOptions, open_session

RIVALS = 5
"""How many of the likeliest pieces of each step an explanation names."""

_OUTPUTS = (
    names.LOG_PROBS,
    names.RIVAL_IDS,
    names.RIVAL_LOG_PROBS,
    names.ENTROPY,
    names.ENCODER_ATTENTION,
    names.DECODER_ATTENTION,
    names.CROSS_ATTENTION,
)


class OnnxExplainModel:
    """Implements ``app.engine.step_model.ExplainModel`` in float32."""

    def __init__(self, directory: ModelDirectory, options: RuntimeOptions) -> None:
        """Opens the graph.

        Raises:
            ModelDirectoryError: ONNX Runtime refuses it.
        """
        self._config = directory.config
        self._session = open_session(directory, directory.config.explain, options)
        self._no_masks = no_head_masks(directory.config)
        self._only_needed = onnxruntime.RunOptions()
        self._only_needed.only_execute_path_to_fetches = True

    def explain(
        self, source_ids: Sequence[int], target_ids: Sequence[int], masks: HeadMasks | None = None
    ) -> Explanation:
        """``source_ids`` with tag and end; ``target_ids`` as generated, without beginning of sentence.

        Raises:
            ValueError: one of them is empty or longer than the model's limit.
        """
        limits = self._config.limits
        _check_length("source", source_ids, limits.source_len)
        _check_length("target", target_ids, limits.target_len)
        fed = np.array([[self._config.special_ids.bos, *target_ids[:-1]]], dtype=np.int64)
        feeds = self._feeds(np.array([source_ids], dtype=np.int64), fed, masks)
        feeds[names.NEXT_IDS] = np.array([target_ids], dtype=np.int64)
        found = self._session.run(_OUTPUTS, feeds)
        return Explanation(*(array[0] for array in found))

    def explain_source(self, source_ids: Sequence[int], masks: HeadMasks | None = None) -> Float32:
        """Attention of the encoder alone, ``[layer, head, query, key]``; the decoder is not run.

        Raises:
            ValueError: the source is empty or longer than the model's limit.
        """
        _check_length("source", source_ids, self._config.limits.source_len)
        fed = np.array([[self._config.special_ids.bos]], dtype=np.int64)
        feeds = self._feeds(np.array([source_ids], dtype=np.int64), fed, masks)
        (encoder,) = self._session.run([names.ENCODER_ATTENTION], feeds, self._only_needed)
        weights: Float32 = encoder[0]
        return weights

    def step_model(self, masks: HeadMasks, check: Callable[[], None]) -> MutedStepModel:
        """See ``app.engine.step_model.ExplainModel``."""

        def candidates(source_ids: Int64, fed: Int64, k: int) -> tuple[Int64, Float32]:
            check()
            feeds = self._feeds(source_ids, fed, masks)
            feeds[names.K] = np.array([k], dtype=np.int64)
            ids, log_probs = self._session.run([names.RIVAL_IDS, names.RIVAL_LOG_PROBS], feeds, self._only_needed)
            return ids[:, -1], log_probs[:, -1]

        return MutedStepModel(self._config, candidates)

    def _feeds(self, source_ids: Int64, fed: Int64, masks: HeadMasks | None) -> dict[str, npt.NDArray[Any]]:
        """All inputs for ``source_ids [rows, source_len]`` without padding and ``fed [rows, target_len]``."""
        masks = masks or self._no_masks
        return {
            names.SOURCE_IDS: source_ids,
            names.SOURCE_MASK: np.ones(source_ids.shape, dtype=np.bool_),
            names.TARGET_IDS: fed,
            names.NEXT_IDS: fed,
            names.K: np.array([min(RIVALS, self._config.architecture.vocab_size)], dtype=np.int64),
            names.ENCODER_HEAD_MASK: masks.encoder,
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
