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
    """Log-probability of every continuation: ``[width]`` and ``[width, k]`` to ``[width, k]``."""
    total: Float64 = log_probs[:, None] + candidate_log_probs
    return total


def best_first(total: Float64, count: int) -> tuple[Int64, Int64]:
    """Row and column of the ``count`` largest of ``total [width, k]``, best first; ties keep their order."""
    order = np.argsort(-total, axis=None, kind="stable")[:count]
    rows, columns = np.divmod(order, total.shape[1])
    return rows, columns
