"""Decoding with muted heads: the explain graph over the whole prefix at every step, no caches."""

from collections.abc import Callable, Sequence

import numpy as np

from app.engine.step_model import Candidates, Decoding, Float32, Int64, ModelLimits
from app.runtime.model_directory import ModelConfig
from app.runtime.onnx_step_model import model_limits

CandidatesAfter = Callable[[Int64, Int64, int], tuple[Int64, Float32]]
"""``(source_ids [rows, source_len], fed [rows, target_len], k)`` to ids and log-probabilities, both ``[rows, k]``."""


class MutedStepModel:
    """Implements ``app.engine.step_model.StepModel`` for one sentence at a time, in float32.

    Only the explain graph can mute heads, so that the fast graphs stay without the multiplication. A step costs
    a pass over source and prefix: time grows with the square of the length, and nothing is shared with others.
    """

    def __init__(self, config: ModelConfig, candidates: CandidatesAfter) -> None:
        self._limits = model_limits(config)
        self._candidates = candidates

    @property
    def limits(self) -> ModelLimits:
        """Sizes and special ids."""
        return self._limits

    def encode(self, sources: Sequence[Sequence[int]], width: int) -> "MutedDecoding":
        """Stands before the first step of one sentence.

        Raises:
            ValueError: not exactly one sentence.
        """
        if len(sources) != 1:
            raise ValueError(f"with muted heads one sentence is decoded at a time, not {len(sources)}")
        return MutedDecoding(self._candidates, np.array([list(sources[0])] * width, dtype=np.int64))


class MutedDecoding:
    """Implements ``app.engine.step_model.Decoding``; ``source_ids [width, source_len]``, all rows alike."""

    def __init__(self, candidates: CandidatesAfter, source_ids: Int64) -> None:
        self._candidates = candidates
        self._source_ids = source_ids
        self._fed: Int64 = np.empty((len(source_ids), 0), dtype=np.int64)
        self._width = len(source_ids)

    @property
    def sentences(self) -> int:
        """One, or none once it was dropped."""
        return len(self._fed) // self._width

    @property
    def width(self) -> int:
        """Rows of the sentence."""
        return self._width

    @property
    def source_len(self) -> int:
        """Source positions that a step reads for every row: there is no padding."""
        return int(self._source_ids.shape[1])

    def step(self, last_ids: Int64, k: int) -> Candidates:
        """Feeds ``last_ids [rows]`` and moves every row one position on."""
        self._fed = np.concatenate([self._fed, last_ids[:, None]], axis=1)
        return Candidates(*self._candidates(self._source_ids, self._fed, k))

    def reorder(self, parents: Int64) -> None:
        """Row ``r`` goes on from what row ``parents[r]`` was."""
        self._fed = self._fed[parents]

    def keep(self, sentences: Sequence[int]) -> None:
        """Keeps the sentence, or drops it where ``sentences`` is empty."""
        if not sentences:
            self._fed, self._source_ids = self._fed[:0], self._source_ids[:0]

    def join(self, other: Decoding) -> None:
        """Never possible.

        Raises:
            ValueError: always.
        """
        raise ValueError(f"with muted heads one sentence is decoded at a time, not {1 + other.sentences}")
