"""What a client gets back about attention: schema "attention/1", the same from every route."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from app.api.attention_schemas import OffsetUnit
from app.attention.alignment import RuleName
from app.attention.selection import DType, Family, HeadReduction, LayerReduction, SpecialTokens, Unit
from app.attention.signals import SignalKind
from app.explanation import ExplainedFinish

Span = tuple[int, int]

RECASED = (
    "Whether the sentence stands in capitals and the model read it in small letters: what it wrote was raised to "
    "capitals. Texts and words are in capitals then, pieces as the model read and wrote them."
)


KEPT = (
    "Parts of the sentence that a translation must contain as they are, at most eight: addresses, placeholders, tags, "
    "code, long numbers, letters and symbols that the model does not know. The model did not read them: each was one "
    "piece to it, which it had to put in the right place. One that it leaves out stands at the end of its translation."
)


class LayersAnswer(BaseModel):
    """Depths, which need not be equal."""

    encoder: int = Field(description="Layers of the encoder.")
    decoder: int = Field(description="Layers of the decoder.")


class ExplainingModelAnswer(BaseModel):
    """The model, as far as maps need it."""

    id: str = Field(description="Name of the model.")
    revision: str = Field(description="Changes whenever the model's files do.")
    layers: LayersAnswer = Field(description="Depths.")
    heads: int = Field(description="Heads of each layer.")
    norm: str = Field(description="`pre` or `post`: where layer normalisation stands.")
    position: str = Field(description="How positions are encoded.")
    layer_kind: Literal["layer"] = Field(description="What an index of the layer axis stands for.")


class SourceTokenAnswer(BaseModel):
    """One piece that the encoder reads."""

    piece: str = Field(description="The subword; `▁` begins a word.")
    id: int = Field(description="Its number in the vocabulary.")
    span: Span | None = Field(
        description="Half-open place in the text, in `offset_unit`, without the space before; null for special pieces. "
        "Empty for a piece without a character of its own, such as all but the last byte of an emoji."
    )
    word: int | None = Field(description="Index of its word; null for special pieces.")
    special: Literal["tag", "bos", "eos"] | None = Field(description="What a piece without text stands for.")


class RivalAnswer(BaseModel):
    """A piece that the model considered for a place."""

    piece: str = Field(description="The subword.")
    id: int = Field(description="Its number in the vocabulary.")
    logprob: float = Field(description="Natural logarithm of its probability.")


class PredictedTokenAnswer(SourceTokenAnswer):
    """One piece of the translation, and what the model thought of it."""

    logprob: float = Field(description="Natural logarithm of its probability, given all pieces before it.")
    rivals: list[RivalAnswer] = Field(description="The five likeliest pieces for this place, best first.")
    entropy: float = Field(description="Of the distribution over all pieces, in nats: how undecided the model was.")


class WordAnswer(BaseModel):
    """One word by our own segmentation, see `word_rule`."""

    text: str = Field(description="The word as it stands in the text.")
    span: Span = Field(description="Its half-open place in the text, in `offset_unit`.")
    tokens: list[int] = Field(description="Indices of its pieces.")


class ExplainedSourceAnswer(BaseModel):
    """The source side of a sentence."""

    text: str = Field(description="The sentence.")
    span: Span = Field(description="Its half-open place in the whole text, in `offset_unit`.")
    tokens: list[SourceTokenAnswer] = Field(description="What the encoder reads: tag, pieces, end of sentence.")
    words: list[WordAnswer] = Field(description="Its words.")


class ExplainedTargetAnswer(BaseModel):
    """The target side of a sentence. `fed` and `predicted` have the same length."""

    text: str = Field(description="The sentence.")
    span: Span = Field(description="Its half-open place in the whole translation, in `offset_unit`.")
    fed: list[str] = Field(description="`fed[t]` is the piece that row t of a map is computed from.")
    predicted: list[PredictedTokenAnswer] = Field(
        description="`predicted[t]` is what row t produced, or was asked about where the text was given. The last "
        "is the end of sentence, also where the search was cut before it."
    )
    words: list[WordAnswer] = Field(description="Its words; their `tokens` index `predicted`.")


class MapAnswer(BaseModel):
    """The weights of one family: how much each query looks at each key."""

    axes: tuple[Literal["layer"], Literal["head"], Literal["query"], Literal["key"]] = Field(
        description="What the four axes stand for; the layer or head axis has length 1 where it was aggregated."
    )
    query: Literal["source.tokens", "target.fed"] = Field(description="The list that queries come from.")
    key: Literal["source.tokens", "target.fed"] = Field(description="The list that keys come from.")
    query_units: list[list[int]] | None = Field(
        description="For each index of the query axis its indices in the list `query`; null for a thumbnail."
    )
    key_units: list[list[int]] | None = Field(description="The same for the key axis.")
    query_labels: list[str] | None = Field(description="For each index of the query axis its piece or word.")
    key_labels: list[str] | None = Field(description="For each index of the key axis its piece or word.")
    shape: tuple[int, int, int, int] = Field(description="Length of each axis.")
    layers: list[int] = Field(description="Layers in the order of the first axis, or those that were aggregated.")
    heads: list[int] = Field(description="Heads in the order of the second axis, or those that were aggregated.")
    causal: bool = Field(description="Whether a query sees only keys up to its own position.")
    normalized: bool = Field(description="Whether every row sums to 1, rows that are null aside.")
    encoding: Literal["json", "base64", "npz"] = Field(description="How `data` and `hidden_mass` are written.")
    dtype: DType | None = Field(description="Numbers in base64 and npz; null for JSON.")
    byte_order: Literal["little"] | None = Field(description="Of base64 and npz; null for JSON.")
    order: Literal["C"] | None = Field(description="The last axis runs fastest; null for JSON.")
    data: Any = Field(
        description="Nested lists, base64 text, or the name of the array in the archive. Under `drop_renormalize` "
        "a row with no mass on text is null in JSON, NaN in floats, zeros in `uint8_sqrt`."
    )
    hidden_mass: Any = Field(
        description="`[layer][head][query]`, written as `data`: what lay on dropped keys; null if none were dropped."
    )


class AttentionMapsAnswer(BaseModel):
    """The maps of one sentence and what was done to them."""

    computed: Literal["teacher_forced"] = Field(description="One pass over the finished translation.")
    graph: Literal["float32"] = Field(description="Number format of the graph that computed everything here.")
    unit: Unit = Field(description="As asked for.")
    special_tokens: SpecialTokens = Field(description="As asked for.")
    aggregate: dict[Literal["heads", "layers"], HeadReduction | LayerReduction] = Field(description="As asked for.")
    maps: dict[Family, MapAnswer] = Field(description="By family.")


class LinkAnswer(BaseModel):
    """Two words that go together."""

    source: int = Field(description="Index in `source.words`.")
    target: int = Field(description="Index in `target.words`.")
    score: float = Field(description="Weight that the target word puts on the source word.")


class AlignmentAnswer(BaseModel):
    """Which word goes with which."""

    method: RuleName = Field(
        description="Which row of cross-attention a piece is aligned by (Chen et al. 2020): `predicted`, the one that "
        "writes it; `shifted` (shift-att), the next one, which is fed it. Measured for each model, see `/info`."
    )
    layer: int = Field(description="Decoder layer, counted from 0; see `/info`.")
    heads: Literal["mean"] = Field(description="How heads were reduced.")
    unit: Literal["word"] = Field(description="What is linked.")
    links: list[LinkAnswer] = Field(description="By source word, then target word.")
    pharaoh: str | None = Field(description="`source-target` pairs, counted from 0; null if not asked for.")
    marian: str | None = Field(
        description="Marian's soft alignments of `target.predicted` with `source.tokens`; null likewise."
    )
    azure: str | None = Field(description="Azure's `proj`: `start:end-start:end`, ends inclusive; null likewise.")
    soft: list[list[float]] | None = Field(
        description="`[target word][source word]`; what a row lacks to 1 lay on special pieces; null likewise."
    )


class SignalAnswer(BaseModel):
    """A place that deserves a second look."""

    kind: SignalKind = Field(
        description="`ignored_source`: little weight went there; `unsourced_target`: it looks at no source word; "
        "`repetition`; `copy_through`: left as in the source; `changed_number`: a number of two digits or more that "
        "does not stand on the other side; `changed_code`: an address, placeholder, tag or piece of code that does "
        "not; `low_logprob`: unlikely to the model."
    )
    side: Literal["source", "target"] = Field(description="Where it is.")
    words: tuple[int, int] = Field(description="First and last word, by index.")
    span: Span = Field(description="Its half-open place in the whole text of the side, in `offset_unit`.")
    value: float = Field(description="The number that gave the signal.")
    threshold: float = Field(
        description="What that number is held against: for the first two kinds and the last as measured for the model "
        "and direction, see `/info`."
    )


class SignalsAnswer(BaseModel):
    """Hints, with the plain log-probability beside them."""

    mean_logprob: float = Field(description="Mean over all predicted pieces: the plainest sign of trouble.")
    source_mass: list[float] = Field(description="For each source word the weight that all target words put on it.")
    ignored_source_words: list[int] = Field(description="Source words of the signals `ignored_source`, by index.")
    eos_mass: float = Field(description="Mean weight on the source's end of sentence.")
    found: list[SignalAnswer] = Field(description="All signals.")


class ExplainedSegmentAnswer(BaseModel):
    """One sentence, explained. Maps are always of one sentence."""

    id: str = Field(description="`s0`, `s1`, …: names arrays of an archive.")
    finish_reason: ExplainedFinish | None = Field(
        description="`eos`, `length` (cut), `forced` (the target was given), `copied` (not explained); null: no target."
    )
    source: ExplainedSourceAnswer = Field(description="The source side.")
    target: ExplainedTargetAnswer | None = Field(description="The target side; null for a source alone.")
    attention: AttentionMapsAnswer | None = Field(description="The maps asked for; null if none or copied.")
    alignment: AlignmentAnswer | None = Field(description="Null if not asked for, copied, or there is no target.")
    signals: SignalsAnswer | None = Field(description="Null if copied or there is no target.")
    recased: bool = Field(description=f"{RECASED} A target that was given in capitals is read likewise.")
    kept: list[str] = Field(description=KEPT)


class AttentionAnswer(BaseModel):
    """Everything about a text, sentence by sentence."""

    model_config = {"populate_by_name": True, "serialize_by_alias": True}

    schema_: Literal["attention/1"] = Field(alias="schema", description="Name and version of this shape.")
    model: ExplainingModelAnswer = Field(description="The model.")
    graph: Literal["float32"] = Field(description="Number format of the graph that explained.")
    translated_by: str | None = Field(
        description="Precision of the graphs that translated: `float32` with muted heads; null for a given target. "
        "Those of other precisions may score a piece a few hundredths otherwise than `logprob` says."
    )
    offset_unit: OffsetUnit = Field(description="What all spans here count.")
    word_rule: str = Field(description="Name and version of the segmentation into words.")
    caption: str = Field(description="What attention is not; to be shown beside signals and maps.")
    target_text: str | None = Field(description="The translation that spans of the target side point into.")
    segments: list[ExplainedSegmentAnswer] = Field(description="The sentences, in order.")
