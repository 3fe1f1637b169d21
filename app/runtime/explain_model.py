"""Attention and log-probabilities of a given pair: the explain graph under ONNX Runtime."""

from collections.abc import Sequence

import numpy as np

from app.engine.step_model import Explanation
from app.runtime import names
from app.runtime.model_directory import ModelDirectory
from app.runtime.providers import RuntimeOptions, open_session

_OUTPUTS = (names.LOG_PROBS, names.ENCODER_ATTENTION, names.DECODER_ATTENTION, names.CROSS_ATTENTION)


class OnnxExplainModel:
    """Implements ``app.engine.step_model.ExplainModel`` in float32."""

    def __init__(self, directory: ModelDirectory, options: RuntimeOptions) -> None:
        """Opens the graph.

        Raises:
            ModelDirectoryError: ONNX Runtime refuses it.
        """
        self._config = directory.config
        self._session = open_session(directory, directory.config.explain, options)

    def explain(self, source_ids: Sequence[int], target_ids: Sequence[int]) -> Explanation:
        """``source_ids`` with tag and end; ``target_ids`` as generated, without beginning of sentence.

        Raises:
            ValueError: one of them is empty or longer than the model's limit.
        """
        limits = self._config.limits
        for what, ids, limit in (
            ("source", source_ids, limits.source_len),
            ("target", target_ids, limits.target_len),
        ):
            if not 1 <= len(ids) <= limit:
                raise ValueError(f"a {what} has 1 to {limit} ids, not {len(ids)}")
        feeds = {
            names.SOURCE_IDS: np.array([source_ids], dtype=np.int64),
            names.SOURCE_MASK: np.ones((1, len(source_ids)), dtype=np.bool_),
            names.TARGET_IDS: np.array([[self._config.special_ids.bos, *target_ids[:-1]]], dtype=np.int64),
            names.NEXT_IDS: np.array([target_ids], dtype=np.int64),
        }
        log_probs, encoder, decoder, cross = self._session.run(_OUTPUTS, feeds)
        return Explanation(log_probs[0], encoder[0], decoder[0], cross[0])
