"""The data of an explanation: what is asked for and what is answered, the same for every route."""

from dataclasses import dataclass
from typing import Literal

from app.attention.alignment import Alignment
from app.attention.maps import AttentionMap
from app.attention.selection import AttentionSelection, Family
from app.attention.signals import Signals
from app.engine.hypotheses import FinishReason
from app.text.capitals import stands_in_capitals
from app.text.offsets import OffsetUnit
from app.text.tokens import TokenisedText
from app.text.words import WORD_RULE

ExplainedFinish = FinishReason | Literal["copied", "forced"]
HeadMask = dict[Family, tuple[tuple[float, ...], ...]]
"""For each family named ``[layer][head]``: what the head's output is multiplied by; families left out stay whole."""


@dataclass(frozen=True)
class ExplanationRequest:
    """What to say about each sentence.

    Attributes:
        attention: which maps; None for none.
        alignment: whether to align words.
        soft: whether to return the weights between all words as well, and ``marian`` those between all pieces.
        offset_unit: what spans count.
        path: what stands before the fields of ``attention`` in the request, for messages.
    """

    attention: AttentionSelection | None
    alignment: bool
    offset_unit: OffsetUnit = "codepoint"
    path: str = "attention."
    soft: bool = False
    marian: bool = False


@dataclass(frozen=True)
class ExplainRequest:
    """A text to explain, alone, with the model's translation, or with ``target_text``.

    Attributes:
        target_text: any translation, scored as it stands; None lets the model translate, unless only the encoder
            is asked about: then there is no target.
        head_mask: heads to mute; None for none.
    """

    text: str
    source: str
    target: str
    target_text: str | None
    wanted: ExplanationRequest
    head_mask: HeadMask | None = None


@dataclass(frozen=True)
class Rival:
    """A piece that could have stood in a place, and its log-probability there."""

    piece: str
    id: int
    log_prob: float


@dataclass(frozen=True)
class Prediction:
    """What the model thought of one predicted piece: all natural logarithms, entropy in nats."""

    log_prob: float
    rivals: tuple[Rival, ...]
    entropy: float


@dataclass(frozen=True)
class ExplainedSide:
    """One side of a sentence; all spans are in the unit asked for, into the whole text of the side."""

    span: tuple[int, int]
    tokenised: TokenisedText


@dataclass(frozen=True)
class ExplainedTarget:
    """The translation side; ``predictions`` go with the tokens, and ``fed[t]`` is what token ``t`` followed."""

    side: ExplainedSide
    fed: tuple[str, ...]
    predictions: tuple[Prediction, ...]


@dataclass(frozen=True)
class ExplainedSegment:
    """One sentence, explained.

    Attributes:
        finish_reason: of the search; ``forced`` where the target was given; None for a source alone; ``copied``
            where there was nothing to translate: then there are no tokens and nothing is explained.
        target: None for a source alone.
        maps: by family; None if not asked for or copied. ``alignment`` and ``signals`` need a target.
    """

    finish_reason: ExplainedFinish | None
    source: ExplainedSide
    target: ExplainedTarget | None
    maps: dict[Family, AttentionMap] | None
    alignment: Alignment | None
    signals: Signals | None

    @property
    def recased(self) -> bool:
        """Whether the model read a sentence in capitals in small letters, see ``source_tokens``."""
        return bool(self.source.tokenised.tokens) and stands_in_capitals(self.source.tokenised.text)


@dataclass(frozen=True)
class ExplainedText:
    """All sentences of one text, in order.

    Attributes:
        text: what the spans of the source side point into; ``target_text`` likewise, None for a source alone.
        muted: whether heads were muted.
        word_rule: how words were found.
    """

    text: str
    target_text: str | None
    segments: tuple[ExplainedSegment, ...]
    wanted: ExplanationRequest
    muted: bool
    word_rule: str = WORD_RULE
