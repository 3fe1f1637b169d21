"""The rules of search, each a small pure function."""

import numpy as np
import numpy.typing as npt

from app.engine.step_model import Float32, Int64

Float64 = npt.NDArray[np.float64]


def length_normalised(log_prob: float, length: int, length_penalty: float) -> float:
    """Score of a hypothesis: ``log_prob / length ** length_penalty``; 0 compares raw log-probabilities."""
    score: float = log_prob / float(length) ** length_penalty
    return score


def extend(log_probs: Float64, candidate_log_probs: Float32) -> Float64:
    """Log-probability of every continuation.

    ``[sentences, width]`` and ``[sentences * width, k]`` to ``[sentences, width * k]``.
    """
    sentences, width = log_probs.shape
    total: Float64 = log_probs[:, :, None] + candidate_log_probs.reshape(sentences, width, -1)
    return total.reshape(sentences, -1)


def best_first(total: Float64, count: int) -> Int64:
    """Places of the ``count`` largest in every row of ``total``, best first; ties keep their order."""
    return np.argsort(-total, axis=1, kind="stable")[:, :count]
