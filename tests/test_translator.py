"""The whole path over a scripted model: what comes back."""

import asyncio
import dataclasses
from itertools import pairwise
from pathlib import Path

import pytest

from app.attention.selection import AttentionSelection, MapFormat
from app.errors import InvalidInput, NotReady, TooLarge
from app.explanation import ExplainedText, ExplainRequest, ExplanationRequest
from app.streaming import Progress
from app.text.tokenizer import Tokenizer
from app.translation import TranslateRequest
from tests.scripted_world import SETTINGS, World


def test_repeating_everything_gives_the_text_back(world: World) -> None:
    text = "\n The cat sleeps.  Where is it?\r\n\r\n - \nA house 🎉 and 中文.\n"
    translation = world.translate(text).translations[0]
    assert translation.text == text
    for segment in translation.segments:
        assert segment.source == segment.target
        start, end = segment.source.span
        assert text[start:end] == segment.source.text
    assert [segment.finish_reason for segment in translation.segments] == ["eos", "eos", "copied", "eos"]


def test_many_texts_keep_their_order(world: World) -> None:
    texts = [f"The cat {number}." for number in range(12)]
    assert [one.text for one in world.translate(*texts, beam_size=3).translations] == texts


def test_a_sentence_translated_to_nothing_is_copied(world: World) -> None:
    world.silent = True
    translation = world.translate("The cat sleeps. The dog too.").translations[0]
    assert translation.text == "The cat sleeps. The dog too."
    assert [segment.finish_reason for segment in translation.segments] == ["copied", "copied"]
    assert translation.segments[0].log_prob is None


def test_a_sentence_that_is_better_cut_is_translated_in_parts(world: World) -> None:
    text = "The cat sleeps on the old chair, the dog in the garden, and she reads a book every evening."
    whole = world.translate(text).translations[0]
    assert len(whole.segments) == 1
    whole_len = len(whole.segments[0].source.pieces) + 1
    world.model.limits = dataclasses.replace(world.model.limits, whole_len=whole_len)
    parts = world.translate(text).translations[0]
    cut = text.index(" and")
    assert [part.source.text for part in parts.segments] == [text[:cut], text[cut + 1 :]]
    assert parts.text == text


def test_capitals_translated_to_nothing_are_copied_as_they_are(world: World) -> None:
    told: list[Progress] = []
    request = TranslateRequest(("PLEASE CLOSE THE DOOR.",), "en", "fr", explain=ExplanationRequest(None, True))
    assert world.translate("PLEASE CLOSE THE DOOR.").translations[0].segments[0].recased
    world.silent = True
    (translation,) = asyncio.run(world.translator.translate(request, told.append)).translations
    assert translation.text == "PLEASE CLOSE THE DOOR."
    assert not translation.segments[0].recased
    assert translation.explained is not None
    assert not translation.explained.segments[0].recased
    assert [(one.target, one.recased) for one in told if one.target is not None] == [("PLEASE CLOSE THE DOOR.", False)]


@pytest.mark.parametrize(
    "texts", [("1\n2\nThe cat sleeps.\n123\nThe dog barks.\n-", "4", "A house."), ("1\n2", "3"), ("",)]
)
def test_copied_sentences_are_told_after_those_before_them(world: World, texts: tuple[str, ...]) -> None:
    told: list[Progress] = []
    request = TranslateRequest(texts, "en", "fr")
    translations = asyncio.run(world.translator.translate(request, told.append)).translations
    segments = [(i, j, one.target.text) for i, each in enumerate(translations) for j, one in enumerate(each.segments)]
    finished = [(one.text, one.segment, one.target) for one in told if one.target is not None]
    assert sorted(finished) == segments
    for before, one in pairwise(segments):
        if translations[one[0]].segments[one[1]].finish_reason == "copied":
            assert finished.index(one) == finished.index(before) + 1


def test_nothing_is_told_of_copied_sentences_where_the_others_are_refused(world: World) -> None:
    told: list[Progress] = []
    with pytest.raises(TooLarge):
        asyncio.run(world.translator.translate(TranslateRequest(("1\n" + "A cat.\n" * 31,), "en", "fr"), told.append))
    assert told == []


def test_a_translation_that_does_not_end_is_cut_and_says_so(world: World) -> None:
    world.endless = True
    segment = world.translate("The cat.").translations[0].segments[0]
    assert segment.finish_reason == "length"
    assert len(segment.target.pieces) == 2 * (len(segment.source.pieces) + 2) + 16


def explained(world: World, text: str, selection: AttentionSelection | None = None) -> ExplainedText:
    selection = selection or AttentionSelection(("encoder", "decoder", "cross"))
    wanted = ExplanationRequest(selection, alignment=True, path="")
    return world.explain(ExplainRequest(text, "en", "fr", None, wanted))


def test_maps_have_the_pieces_of_their_axes(world: World) -> None:
    selection = AttentionSelection(("encoder", "decoder", "cross"), (-1, 0), (2,))
    wanted = ExplanationRequest(selection, alignment=False)
    translation = world.translate("The cat sleeps.", explain=wanted).translations[0]
    segment = translation.segments[0]
    assert translation.explained is not None
    maps = translation.explained.segments[0].maps
    assert maps is not None
    source = (">>fr<<", *segment.source.pieces, "</s>")
    fed = ("<s>", *segment.target.pieces)
    axes = {family: (one.query and one.query.labels, one.key and one.key.labels) for family, one in maps.items()}
    assert axes == {"encoder": (source, source), "decoder": (fed, fed), "cross": (fed, source)}
    assert maps["encoder"].layers == (2, 0)
    assert maps["cross"].layers == (1, 0)
    assert maps["cross"].values.shape == (2, 1, len(fed), len(source))


def test_explaining_gives_the_segments_of_translating(world: World) -> None:
    text = "\n The cat sleeps.  Where is it?\r\n - \nA house 🎉 and 中文.\n"
    translation = world.translate(text, explain=ExplanationRequest(None, alignment=True)).translations[0]
    found = explained(world, text, AttentionSelection(layers=(0,), heads=(0,)))
    assert found.target_text == translation.text
    assert [one.finish_reason for one in found.segments] == [one.finish_reason for one in translation.segments]
    for one, segment in zip(found.segments, translation.segments, strict=True):
        assert one.target is not None
        assert (one.source.span, one.target.side.span) == (segment.source.span, segment.target.span)
        pieces = [token.piece for token in one.source.tokenised.tokens[1:-1]]
        assert pieces == list(segment.source.pieces)
        assert (one.maps is None) == (segment.finish_reason == "copied")


def test_a_cut_translation_is_explained_with_a_row_for_its_last_piece(world: World) -> None:
    world.endless = True
    (segment,) = explained(world, "The cat.").segments
    assert segment.finish_reason == "length"
    assert segment.target is not None
    tokens = segment.target.side.tokenised.tokens
    assert len(segment.target.fed) == len(tokens) == len(segment.target.predictions)
    assert segment.target.fed[1:] == tuple(token.piece for token in tokens[:-1])
    assert tokens[-1].special == "eos"


def test_a_given_translation_is_paired_sentence_by_sentence_or_as_one(world: World) -> None:
    wanted = ExplanationRequest(None, alignment=True)

    def spans(text: str, target_text: str) -> list[tuple[str, str]]:
        found = world.explain(ExplainRequest(text, "en", "fr", target_text, wanted))
        assert all(one.finish_reason == "forced" for one in found.segments)
        targets = [one.target.side.span for one in found.segments if one.target]
        sources = [one.source.span for one in found.segments]
        return [(text[slice(*one)], target_text[slice(*two)]) for one, two in zip(sources, targets, strict=True)]

    both = spans(" The cat. The dog.", "Le chat.\n  Le chien ! ")
    assert both == [("The cat.", "Le chat."), ("The dog.", "Le chien !")]
    assert spans(" The cat. ", "Le chat. Oui.") == [("The cat.", "Le chat. Oui.")]
    assert spans("The cat.", "") == [("The cat.", "")]
    with pytest.raises(InvalidInput) as caught:
        spans("The cat. " * 60, "Le chat.")
    assert (caught.value.field, caught.value.limit, caught.value.value) == ("target_text", 60, 1)
    with pytest.raises(InvalidInput, match="target_text"):
        spans("The cat.", "a" * 400)


def test_the_source_alone_needs_no_translation(world: World) -> None:
    wanted = ExplanationRequest(AttentionSelection(("encoder",)), alignment=False)
    found = world.explain(ExplainRequest("The cat. 12.", "en", "fr", None, wanted))
    first, second = found.segments
    assert found.target_text is first.target is second.target is None
    assert first.maps is not None
    assert list(first.maps) == ["encoder"]
    assert (first.finish_reason, second.finish_reason, second.maps) == (None, "copied", None)


def test_spans_in_utf16_count_what_javascript_counts(world: World) -> None:
    text = "😀 The cat. 😀 The dog."
    translation = world.translate(text, offset_unit="utf16").translations[0]
    assert [segment.source.span for segment in translation.segments][-1][1] == len(text) + 2


def test_muted_heads_take_the_slow_path(world: World) -> None:
    assert world.translate("The cat. The dog.", head_mask={}).translations[0].text == "The cat. The dog."
    with pytest.raises(InvalidInput) as caught:
        world.translate("The cat.", head_mask={"cross": ((1.0,) * 4,)})
    assert (caught.value.field, caught.value.limit) == ("head_mask.cross", [2, 4])


@pytest.mark.parametrize("form", ["soft", "marian"])
def test_weights_of_an_alignment_count_against_the_limit(form: str, tiny_tokenizer: Path) -> None:
    world = World(Tokenizer(tiny_tokenizer), dataclasses.replace(SETTINGS, max_attention_values=5))
    wanted = ExplanationRequest(None, alignment=True, **{form: True})
    with pytest.raises(TooLarge) as caught:
        world.translate("The cat sleeps.", explain=wanted)
    pieces = world.translate("The cat sleeps.").usage
    values = {"soft": 16, "marian": (pieces.source_pieces + 2) * (pieces.target_pieces + 1)}
    assert (caught.value.field, caught.value.limit, caught.value.value) == (f"alignment.{form}", 5, values[form])
    links = world.translate("The cat sleeps.", explain=dataclasses.replace(wanted, **{form: False}))
    assert links.translations[0].explained is not None
    world.engine.stop(5)


def test_what_does_not_need_the_engine_stops_with_it(world: World) -> None:
    world.engine.stop(5)
    wanted = ExplanationRequest(AttentionSelection(("encoder",)), alignment=False)
    with pytest.raises(NotReady, match="stopped"):
        world.explain(ExplainRequest("The cat.", "en", "fr", "Le chat.", wanted))
    with pytest.raises(NotReady, match="stopped"):
        world.translate("The cat.", head_mask={})


def test_layers_are_those_of_each_family(world: World) -> None:
    selection = AttentionSelection(("encoder", "cross"), (2,), None)
    with pytest.raises(InvalidInput) as caught:
        world.translate("The cat.", explain=ExplanationRequest(selection, alignment=False))
    assert (caught.value.field, caught.value.value) == ("attention.layers", 2)
    with pytest.raises(InvalidInput) as caught:
        explained(world, "The cat.", selection)
    assert caught.value.field == "layers"


def test_too_much_attention_is_refused_with_the_numbers(world: World) -> None:
    with pytest.raises(TooLarge) as caught:
        explained(world, "The cat sleeps on the old chair. " * 20)
    assert caught.value.field == "families"
    assert caught.value.limit == 10_000
    assert isinstance(caught.value.value, int)
    assert caught.value.value > 10_000
    for encoding in ("json", "base64 float32", "base64 float16", "base64 uint8_sqrt", "npz"):
        assert encoding in str(caught.value)
    form = MapFormat("base64")
    assert explained(world, "The cat sleeps on the old chair. " * 20, AttentionSelection(format=form)).segments
    with pytest.raises(TooLarge, match=r"a picture holds 10,000: [^;]*$"):
        explained(world, "The cat sleeps on the old chair. " * 20, AttentionSelection(format=MapFormat("picture")))
    wanted = ExplanationRequest(AttentionSelection(), alignment=False)
    with pytest.raises(TooLarge) as caught:
        world.translate("The cat sleeps on the old chair. " * 20, explain=wanted)
    assert caught.value.field == "attention"
