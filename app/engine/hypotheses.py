"""What goes into a search and what comes out."""

from dataclasses import dataclass
from typing import Literal

FinishReason = Literal["eos", "length"]


@dataclass(frozen=True)
class SearchOptions:
    """How one sentence is searched.

    Attributes:
        beam_size: hypotheses kept per step; 1 is greedy search.
        length_penalty: a hypothesis' score is ``log_prob / len ** length_penalty``.
        alternatives: how many hypotheses to return beyond the best, below ``beam_size``.
        target_len: most pieces to produce, end of sentence included.
    """

    beam_size: int
    length_penalty: float
    alternatives: int
    target_len: int


@dataclass(frozen=True)
class Hypothesis:
    """One finished translation of one sentence.

    Attributes:
        ids: the pieces produced, without beginning and end of sentence.
        log_prob: sum over the pieces produced, end of sentence included.
        score: ``log_prob / len ** length_penalty``, ``len`` counting the end of sentence where there is one.
        finish_reason: ``length`` where the limit cut it before an end of sentence.
    """

    ids: tuple[int, ...]
    log_prob: float
    score: float
    finish_reason: FinishReason


def finished_hypothesis(ids: list[int], log_prob: float, score: float, eos_id: int) -> Hypothesis:
    """Ends a list of produced ids: the end of sentence is no piece of the text."""
    ended = ids[-1] == eos_id
    reason: FinishReason = "eos" if ended else "length"
    return Hypothesis(tuple(ids[:-1] if ended else ids), log_prob, score, reason)


def target_room(source_len: int, limit: int) -> int:
    """Most pieces that a translation of ``source_len`` ids may have, at most the model's ``limit``.

    Twice the source and some to spare is more than any pair of languages needs; a search that runs on is
    repeating itself, and is cut there instead of costing everybody time.
    """
    return min(2 * source_len + 16, limit)
