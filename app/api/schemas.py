"""What a client may send: types are strict, unknown fields are errors."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.api.attention_schemas import (
    HEAD_MASK_DESCRIPTION,
    AlignmentOptions,
    AttentionOptions,
    HeadMaskOptions,
    OffsetUnit,
)
from app.api.fields import OneOrMoreTexts
from app.explanation import ExplanationRequest
from app.translation import TranslateRequest

EXAMPLE_REQUEST: dict[str, Any] = {"text": "The cat sleeps.", "source": "en", "target": "fr"}
EXAMPLE_REQUESTS: dict[str, Any] = {
    "one text": {"summary": "One text", "value": EXAMPLE_REQUEST},
    "several texts": {
        "summary": "Several texts, each with one alternative",
        "value": {
            "text": ["Bonjour !", "Le chat dort."],
            "source": "fr",
            "target": "en",
            "beam_size": 4,
            "length_penalty": 1.0,
            "alternatives": 1,
        },
    },
    "attention": {
        "summary": "Cross-attention of the last layer, all heads, with the word alignment",
        "value": {**EXAMPLE_REQUEST, "attention": {"families": ["cross"], "layers": [-1]}, "alignment": {}},
    },
}


class TranslateBody(BaseModel):
    """Texts to translate."""

    model_config = ConfigDict(strict=True, extra="forbid")

    text: OneOrMoreTexts = Field(description="One text or a list of texts.")
    source: str = Field(description="Language of the texts, such as `en`; see `/languages`.")
    target: str = Field(description="Language to translate into, such as `fr`; see `/languages`.")
    beam_size: int | None = Field(
        default=None,
        ge=1,
        description="Hypotheses kept per sentence; 1 is greedy search. Default and upper bound: see `/info`.",
    )
    length_penalty: float | None = Field(
        default=None,
        ge=0,
        le=10,
        allow_inf_nan=False,
        description="`score` is `log_prob` divided by the length to this power: the higher, the longer the text. The "
        "length counts the pieces and the end of sentence. Default: see `/info`.",
    )
    alternatives: int = Field(
        default=0, ge=0, description="How many other hypotheses to return for every sentence; below `beam_size`."
    )
    offset_unit: OffsetUnit = Field(
        default="codepoint", description="What all spans count; JavaScript strings count `utf16`."
    )
    attention: AttentionOptions | None = Field(
        default=None, description="Which attention maps to return; null for none."
    )
    alignment: AlignmentOptions | None = Field(default=None, description="Align words; null for no alignment.")
    head_mask: HeadMaskOptions | None = Field(default=None, description=HEAD_MASK_DESCRIPTION)

    def to_domain(self) -> TranslateRequest:
        """The same in the words of the translator."""
        explain = None
        if self.attention or self.alignment:
            selection = self.attention.selection() if self.attention else None
            forms = self.alignment or AlignmentOptions()
            explain = ExplanationRequest(
                selection, self.alignment is not None, self.offset_unit, soft=forms.soft, marian=forms.marian
            )
        return TranslateRequest(
            texts=(self.text,) if isinstance(self.text, str) else tuple(self.text),
            source=self.source,
            target=self.target,
            beam_size=self.beam_size,
            length_penalty=self.length_penalty,
            alternatives=self.alternatives,
            offset_unit=self.offset_unit,
            explain=explain,
            head_mask=self.head_mask.to_domain() if self.head_mask else None,
        )
