"""The explain graphs take several pairs at once, padded."""

from pathlib import Path

import numpy as np

from app.runtime import names
from app.runtime.explain_model import OnnxExplainModel
from app.runtime.model_directory import open_model_directory
from app.runtime.providers import RuntimeOptions, open_session


def test_padding_gets_no_attention_and_changes_nothing(tiny_model_directory: Path) -> None:
    directory = open_model_directory(tiny_model_directory)
    options = RuntimeOptions("cpu", threads=1)
    source, target = [5, 9, 30, 2], [7, 8, 2]
    alone = OnnxExplainModel(directory, options).explain_pair(source, target)
    explain, source_mask = directory.config.explain, np.array([[True] * 4 + [False] * 2, [True] * 6])
    memory_names = [name for layer in range(2) for name in (names.cross_key(layer), names.cross_value(layer))]
    feeds = {
        names.SOURCE_IDS: np.array([[*source, 0, 0], [5, 6, 7, 8, 9, 2]]),
        names.SOURCE_MASK: source_mask,
        names.ENCODER_HEAD_MASK: np.ones((3, 4), np.float32),
    }
    encoder_graph = open_session(directory, explain.encoder, options)
    encoder, *memory = encoder_graph.run([names.ENCODER_ATTENTION, *memory_names], feeds)
    feeds = {
        **dict(zip(memory_names, memory, strict=True)),
        names.SOURCE_MASK: source_mask,
        names.TARGET_IDS: np.array([[1, *target[:-1], 0], [1, 4, 5, 6]]),
        names.NEXT_IDS: np.array([[*target, 0], [4, 5, 6, 2]]),
        names.K: np.array([5]),
        names.DECODER_HEAD_MASK: np.ones((2, 4), np.float32),
        names.CROSS_HEAD_MASK: np.ones((2, 4), np.float32),
    }
    log_probs, cross = open_session(directory, explain.decoder, options).run(
        [names.LOG_PROBS, names.CROSS_ATTENTION], feeds
    )
    assert (encoder[0, ..., 4:] == 0).all()
    assert (cross[0, ..., 4:] == 0).all()
    np.testing.assert_allclose(log_probs[0, :3], alone.log_probs, atol=1e-5)
    np.testing.assert_allclose(cross[0, :, :, :3, :4], alone.cross, atol=1e-5)
