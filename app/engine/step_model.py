"""What search needs of a model: implemented by ONNX Runtime, by torch and by a scripted fake.

``rows = sentences * width``; the rows of one sentence stand together (sentence-major), so the encoder
keys and values of a sentence are stored once and shared by its ``width`` rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Candidates:
    """The likeliest next pieces of every row, best first.

    Attributes:
        ids: ``[rows, k]``.
        log_probs: ``[rows, k]``, natural logarithm, normalised over the whole vocabulary.
    """

    ids: Int64
    log_probs: Float32


@dataclass(frozen=True)
class ModelLimits:
    """Sizes that search must respect.

    Attributes:
        source_len: longest source in ids, tag and end of sentence included.
        target_len: most pieces that one hypothesis may have, end of sentence included.
        source_multiple: the encoder reads every source padded to a multiple of so many positions.
        whole_len: longest source that is best translated whole; None: ``source_len``.
    """

    vocab_size: int
    source_len: int
    target_len: int
    bos_id: int
    eos_id: int
    source_multiple: int = 1
    whole_len: int | None = None

    @property
    def longest_whole(self) -> int:
        """Most ids of a sentence that is not cut."""
        return self.source_len if self.whole_len is None else self.whole_len


class Decoding(Protocol):
    """Sentences on their way: caches and positions of ``sentences * width`` rows."""

    @property
    def sentences(self) -> int:
        """How many sentences it holds."""

    @property
    def width(self) -> int:
        """Rows per sentence."""

    @property
    def source_len(self) -> int:
        """Source positions that a step reads for every row, padding included."""

    def step(self, last_ids: Int64, k: int) -> Candidates:
        """Feeds ``last_ids [rows]``, one piece a row, and moves every row one position on.

        What it returns may be overwritten by the next step.
        """

    def reorder(self, parents: Int64) -> None:
        """Row ``r`` goes on from what row ``parents[r]`` was, ``parents [rows]`` staying within a sentence.

        Only self-attention caches move: all rows of a sentence share its encoder keys and values.
        """

    def keep(self, sentences: Sequence[int]) -> None:
        """Drops all sentences but these (indices in the wanted order)."""

    def join(self, other: "Decoding") -> None:
        """Appends the sentences of ``other``, of the same model and width, which must not be used again."""


class StepModel(Protocol):
    """A trained model, one step at a time."""

    @property
    def limits(self) -> ModelLimits:
        """Sizes and special ids."""

    def encode(self, sources: Sequence[Sequence[int]], width: int) -> Decoding:
        """Reads sentences (ids with tag and end of sentence) and stands before their first step."""


@dataclass(frozen=True)
class HeadMasks:
    """What each head's output is multiplied by, ``[layers, heads]`` per family: 1 leaves it, 0 mutes it."""

    encoder: Float32
    decoder: Float32
    cross: Float32


@dataclass(frozen=True)
class ReadSource:
    """A source that an explain model has read, for any number of targets; float32.

    Attributes:
        encoder: attention, ``[layer, head, query, key]`` over ``source_len x source_len``.
        cross_keys: what each decoder layer compares its queries with, ``[1, heads, head_dim, source_len]``.
        cross_values: what each decoder layer takes up, ``[1, heads, source_len, head_dim]``.
    """

    encoder: Float32
    cross_keys: tuple[Float32, ...]
    cross_values: tuple[Float32, ...]

    @property
    def source_len(self) -> int:
        """Ids of the source, tag and end of sentence included."""
        return int(self.encoder.shape[-1])


@dataclass(frozen=True)
class Explanation:
    """What one teacher-forced pass over (source, target) says; float32.

    ``source_len`` counts tag and end of sentence; ``target_len`` counts the fed pieces: beginning of
    sentence and every target piece but the last.

    Attributes:
        log_probs: ``[target_len]`` of each target piece given those before it.
        rival_ids: ``[target_len, k]``, the likeliest pieces of each step, best first.
        rival_log_probs: ``[target_len, k]``, theirs.
        entropy: ``[target_len]`` of the distribution of each step, in nats.
        encoder: ``[layer, head, query, key]`` over ``source_len x source_len``.
        decoder: ``[layer, head, query, key]`` over ``target_len x target_len``.
        cross: ``[layer, head, query, key]`` over ``target_len x source_len``.
    """

    log_probs: Float32
    rival_ids: Int64
    rival_log_probs: Float32
    entropy: Float32
    encoder: Float32
    decoder: Float32
    cross: Float32


class ExplainModel(Protocol):
    """The other path of a model, in float32: everything about a given pair, in one pass over each side."""

    def read(self, source_ids: Sequence[int], masks: HeadMasks | None = None) -> ReadSource:
        """The encoder's pass; ``source_ids`` with tag and end. May run before there is a target."""

    def explain(self, read: ReadSource, target_ids: Sequence[int], masks: HeadMasks | None = None) -> Explanation:
        """The decoder's pass, with the masks of reading; ``target_ids`` as generated, no beginning of sentence."""

    def step_model(self, masks: HeadMasks, check: Callable[[], None]) -> StepModel:
        """The same model with muted heads, one step at a time: slow, for one search at once.

        ``check`` is called before reading and before every step; what it raises ends the search.
        """
