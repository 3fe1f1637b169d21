"""Decoding with muted heads: the explain decoder over the whole prefix at every step, no caches."""

from collections.abc import Callable, Sequence

import numpy as np

from app.engine.step_model import Candidates, Decoding, Float32, Int64, ModelLimits, ReadSource
from app.runtime.model_directory import ModelConfig
from app.runtime.onnx_step_model import model_limits

Read = Callable[[Sequence[int]], ReadSource]
CandidatesAfter = Callable[[ReadSource, Int64, int], tuple[Int64, Float32]]
"""``(read, fed [rows, target_len], k)`` to ids and log-probabilities, both ``[rows, k]``."""


class MutedStepModel:
    """Implements ``app.engine.step_model.StepModel`` for one sentence at a time, in float32.

    Only the explain graphs can mute heads, so that the fast ones stay without the multiplication. The source is read
    once; a step costs a pass over the whole prefix, so time grows with the square of its length, and nothing is shared
    with others.
    """

    def __init__(self, config: ModelConfig, read: Read, candidates: CandidatesAfter) -> None:
        self._limits = model_limits(config)
        self._read = read
        self._candidates = candidates

    @property
    def limits(self) -> ModelLimits:
        """Sizes and special ids."""
        return self._limits

    def encode(self, sources: Sequence[Sequence[int]], width: int) -> "MutedDecoding":
        """Reads one sentence and stands before its first step.

        Raises:
            ValueError: not exactly one sentence.
        """
        if len(sources) != 1:
            raise ValueError(f"with muted heads one sentence is decoded at a time, not {len(sources)}")
        return MutedDecoding(self._candidates, self._read(sources[0]), width)


class MutedDecoding:
    """Implements ``app.engine.step_model.Decoding``; all rows share what was read."""

    def __init__(self, candidates: CandidatesAfter, read: ReadSource, width: int) -> None:
        self._candidates = candidates
        self._read = read
        self._fed: Int64 = np.empty((width, 0), dtype=np.int64)
        self._width = width

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
        return self._read.source_len

    def step(self, last_ids: Int64, k: int) -> Candidates:
        """Feeds ``last_ids [rows]`` and moves every row one position on."""
        self._fed = np.concatenate([self._fed, last_ids[:, None]], axis=1)
        return Candidates(*self._candidates(self._read, self._fed, k))

    def reorder(self, parents: Int64) -> None:
        """Row ``r`` goes on from what row ``parents[r]`` was."""
        self._fed = self._fed[parents]

    def keep(self, sentences: Sequence[int]) -> None:
        """Keeps the sentence, or drops it where ``sentences`` is empty."""
        if not sentences:
            self._fed = self._fed[:0]

    def join(self, other: Decoding) -> None:
        """Never possible.

        Raises:
            ValueError: always.
        """
        raise ValueError(f"with muted heads one sentence is decoded at a time, not {1 + other.sentences}")
