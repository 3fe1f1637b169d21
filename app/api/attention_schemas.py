"""What a client may ask about attention: the same selection for every route."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.api.fields import AllOrSome, Text, indices
from app.attention.selection import (
    AttentionSelection,
    DType,
    Family,
    HeadReduction,
    LayerReduction,
    MapFormat,
    SpecialTokens,
    Unit,
)
from app.explanation import ExplainRequest, ExplanationRequest, HeadMask

OffsetUnit = Literal["codepoint", "utf16", "utf8"]
View = Literal["head", "lines", "grid", "alignment"]

_Gate = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_Gates = Annotated[list[Annotated[list[_Gate], Field(max_length=256)]], Field(max_length=256)]


class AggregateOptions(BaseModel):
    """What becomes of the layer and head axes; a reduced axis stays, with length 1."""

    model_config = ConfigDict(strict=True, extra="forbid")

    heads: HeadReduction = Field(
        default="none", description="`mean` of the heads, or `max`, whose rows do not sum to 1 unless renormalised."
    )
    layers: LayerReduction = Field(
        default="none",
        description="`mean` of the layers; `rollout` (family `encoder` alone, heads `mean`) multiplies them, "
        "each averaged with the identity.",
    )


class AttentionOptions(BaseModel):
    """Which attention maps to return, and how they are reduced and written."""

    model_config = ConfigDict(strict=True, extra="forbid")

    families: list[Family] = Field(
        default=["cross"],
        min_length=1,
        max_length=3,
        description="`encoder`: source on source; `decoder`: target on target; `cross`: target on source.",
    )
    layers: AllOrSome = Field(
        default="all", description="Layers of each family, counted from 0; -1 is the last of each family."
    )
    heads: AllOrSome = Field(default="all", description="Heads, counted from 0; -1 is the last.")
    aggregate: AggregateOptions = Field(default=AggregateOptions(), description="Reduction of heads and layers.")
    unit: Unit = Field(
        default="token",
        description="`word` sums over the pieces of a key and averages over those of a query: rows still sum to 1.",
    )
    special_tokens: SpecialTokens = Field(
        default="keep",
        description="What becomes of keys that carry no text (tag, beginning and end of sentence). With `drop` and "
        "`drop_renormalize` `hidden_mass` says what lay on them. Queries always stay.",
    )
    resolution: int | None = Field(
        default=None,
        ge=4,
        le=1_024,
        description="Thumbnails: longest query and key axis; what is longer is max-pooled. null for full size.",
    )
    encoding: Literal["json", "base64"] = Field(
        default="json", description="How weights are written: nested lists, or base64 of an array in C order."
    )
    dtype: DType = Field(
        default="float16",
        description="Numbers in base64 and npz, little-endian; `uint8_sqrt` is round(255 * sqrt(p)).",
    )
    decimals: int = Field(default=4, ge=1, le=7, description="Decimals in JSON.")

    def selection(self, npz: bool = False) -> AttentionSelection:
        """The same in the words of the translator; ``npz`` where the answer is an archive."""
        return AttentionSelection(
            families=tuple(dict.fromkeys(self.families)),
            layers=indices(self.layers),
            heads=indices(self.heads),
            reduce_heads=self.aggregate.heads,
            reduce_layers=self.aggregate.layers,
            unit=self.unit,
            special_tokens=self.special_tokens,
            resolution=self.resolution,
            format=MapFormat("npz" if npz else self.encoding, self.dtype, self.decimals),
        )


class AlignmentOptions(BaseModel):
    """Which forms of the word alignment to return beside `links`."""

    model_config = ConfigDict(strict=True, extra="forbid")

    pharaoh: bool = Field(default=True, description="`source-target` pairs, counted from 0.")
    azure: bool = Field(default=False, description="`start:end-start:end` pairs, ends inclusive, in `offset_unit`.")
    soft: bool = Field(default=False, description="The weights between all words.")
    marian: bool = Field(
        default=False,
        description="Marian's `--alignment soft`: for each predicted piece, the end of sentence with them, its weights "
        "on all source pieces, separated by commas; pieces are separated by spaces.",
    )


class HeadMaskOptions(BaseModel):
    """What the output of each head is multiplied by, `[layers][heads]`: 1 leaves it, 0 mutes it."""

    model_config = ConfigDict(strict=True, extra="forbid")

    encoder: _Gates | None = Field(default=None, description="Encoder self-attention; null leaves all heads.")
    decoder: _Gates | None = Field(default=None, description="Decoder self-attention; null leaves all heads.")
    cross: _Gates | None = Field(default=None, description="Attention to the source; null leaves all heads.")

    def to_domain(self) -> HeadMask:
        """The same in the words of the translator."""
        families: tuple[Family, ...] = ("encoder", "decoder", "cross")
        rows = {family: getattr(self, family) for family in families}
        return {family: tuple(map(tuple, mask)) for family, mask in rows.items() if mask is not None}


HEAD_MASK_DESCRIPTION = (
    "Heads to mute. The text is then translated one sentence at a time in float32: expect two to three times the time."
)


class AttentionBody(AttentionOptions):
    """A text to explain: alone, with the model's translation, or with any other."""

    text: Text = Field(description="The text.")
    source: str = Field(description="Language of the text, such as `en`; see `/languages`.")
    target: str = Field(description="Language of the translation, such as `fr`; see `/languages`.")
    target_text: Text | None = Field(
        default=None,
        description="Any translation, which is scored as it stands. With as many sentences as `text` they are paired "
        "in order, else lines are, with as many of those, else both texts are one pair. null: the model translates "
        'first, unless `families` is `["encoder"]` and `alignment` null: then the text is explained alone and `target` '
        "is null.",
    )
    alignment: AlignmentOptions | None = Field(default=None, description="Align words; null for no alignment.")
    head_mask: HeadMaskOptions | None = Field(default=None, description=HEAD_MASK_DESCRIPTION)
    offset_unit: OffsetUnit = Field(
        default="codepoint", description="What all spans count; JavaScript strings count `utf16`."
    )

    def to_domain(self, npz: bool = False) -> ExplainRequest:
        """The same in the words of the translator."""
        forms = self.alignment or AlignmentOptions()
        return ExplainRequest(
            self.text,
            self.source,
            self.target,
            self.target_text,
            ExplanationRequest(
                self.selection(npz),
                self.alignment is not None,
                self.offset_unit,
                path="",
                soft=forms.soft,
                marian=forms.marian,
            ),
            self.head_mask.to_domain() if self.head_mask else None,
        )


class RenderBody(AttentionBody):
    """What to explain and how to draw it."""

    view: View = Field(
        default="head",
        description="`head`: one heat map, the mean over the chosen layers and heads; `lines`: the same as lines "
        "between words; `grid`: a small map for each layer and head; `alignment`: which word goes with which.",
    )


_TEXT: dict[str, Any] = {"text": "The cat sleeps.", "source": "en", "target": "fr"}
EXAMPLE_EXPLAIN: dict[str, Any] = {
    "own translation": {
        "summary": "Cross-attention of the last layer, by words, with the alignment",
        "value": {**_TEXT, "layers": [-1], "aggregate": {"heads": "mean"}, "unit": "word", "alignment": {}},
    },
    "your translation": {
        "summary": "How likely is this translation, and what would the model have written?",
        "value": {**_TEXT, "target_text": "Le chien dort.", "layers": [-1], "heads": [0]},
    },
    "source alone": {
        "summary": "Encoder maps as base64, 32 cells wide",
        "value": {**_TEXT, "families": ["encoder"], "resolution": 32, "encoding": "base64", "dtype": "uint8_sqrt"},
    },
}
EXAMPLE_RENDER: dict[str, Any] = {
    "alignment": {"summary": "Which word goes with which", "value": {**_TEXT, "view": "alignment"}}
}
