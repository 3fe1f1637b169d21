"""What a client may send: types are strict, unknown fields are errors."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from app.attention.maps import AttentionSelection, Family
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
        "summary": "Cross-attention of the last layer, all heads",
        "value": {**EXAMPLE_REQUEST, "attention": {"families": ["cross"], "layers": [-1], "heads": "all"}},
    },
}


def _branch(value: object) -> str:
    # In angle brackets, so that the branch of a union is not mistaken for a field in the path of a fault.
    return "<list>" if isinstance(value, list) else "<single>"


def _without_lone_surrogates(text: str) -> str:
    # JSON can escape them, but they are no characters and no answer could repeat them.
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise PydanticCustomError("lone_surrogate", "Input should not hold a lone surrogate, which is no character")
    return text


_Text = Annotated[
    str,
    AfterValidator(_without_lone_surrogates),
    Field(description="A text, as long as `/info` allows; line breaks and white space are kept."),
]
_Indices = Annotated[
    list[Annotated[int, Field(ge=-1_000, le=1_000)]],
    Field(min_length=1, max_length=1_000, description="Some, by index."),
]
_All = Annotated[Literal["all"], Field(description="Every one.")]
OneOrMoreTexts = Annotated[
    Annotated[_Text, Tag("<single>")]
    | Annotated[list[_Text], Field(min_length=1, description="Several texts."), Tag("<list>")],
    Discriminator(_branch),
]
AllOrSome = Annotated[
    Annotated[_All, Tag("<single>")] | Annotated[_Indices, Tag("<list>")],
    Discriminator(_branch),
]


class AttentionOptions(BaseModel):
    """Which attention maps to return."""

    model_config = ConfigDict(strict=True, extra="forbid")

    families: list[Family] = Field(
        default=["cross"],
        min_length=1,
        max_length=3,
        description="`encoder`: source on source; `decoder`: target on target; `cross`: target on source.",
    )
    layers: AllOrSome = Field(default="all", description="Layers, counted from 0; -1 is the last.")
    heads: AllOrSome = Field(default="all", description="Heads, counted from 0; -1 is the last.")

    def to_domain(self) -> AttentionSelection:
        """The same in the words of the translator."""
        return AttentionSelection(tuple(dict.fromkeys(self.families)), _indices(self.layers), _indices(self.heads))


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
        description="`score` is `log_prob` divided by the length to this power: the higher, the longer the text.",
    )
    alternatives: int = Field(
        default=0, ge=0, description="How many other hypotheses to return for every sentence; below `beam_size`."
    )
    attention: AttentionOptions | None = Field(
        default=None, description="Which attention maps to return; null for none."
    )

    def to_domain(self) -> TranslateRequest:
        """The same in the words of the translator."""
        return TranslateRequest(
            texts=(self.text,) if isinstance(self.text, str) else tuple(self.text),
            source=self.source,
            target=self.target,
            beam_size=self.beam_size,
            length_penalty=self.length_penalty,
            alternatives=self.alternatives,
            attention=self.attention.to_domain() if self.attention else None,
        )


def _indices(choice: str | list[int]) -> tuple[int, ...] | None:
    return None if isinstance(choice, str) else tuple(choice)
