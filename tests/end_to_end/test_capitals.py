"""Sentences in capitals through the bundled model, on every path: the same as in small letters, raised, and said so."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.engine.hypotheses import SearchOptions
from app.settings import Settings
from app.text.capitals import capitals
from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from model.evaluate import open_model, translate_lines
from model.scoring import Direction

Json = dict[str, Any]

SENTENCES = {
    "en": ["PLEASE CLOSE THE DOOR.", "WHERE IS THE TRAIN STATION?", "I DON'T KNOW IF I CAN HELP YOU, 😀 BUT I WILL."],
    "fr": ["FERMEZ LA PORTE, S'IL VOUS PLAÎT.", "OÙ EST LA GARE ?", "MA SŒUR N’A PAS MANGÉ  D'ŒUFS CET ÉTÉ."],
}
AS_READ = {
    "en": ["Please close the door.", "Where is the train station?", "I don't know if I can help you, 😀 but I will."],
    "fr": ["Fermez la porte, s'il vous plaît.", "Où est la gare ?", "Ma sœur n’a pas mangé  d'œufs cet été."],
}
SEARCHES: list[Json] = [{"beam_size": 1}, {"beam_size": 4, "alternatives": 2}, {"head_mask": {}, "beam_size": 2}]
MAPS = {"attention": {"families": ["cross"], "layers": [-1], "heads": [0]}, "alignment": {"pharaoh": True}}


def ask(client: TestClient, path: str, **body: Any) -> Json:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def translate(client: TestClient, source: str, text: str, **more: Any) -> Json:
    body = {"text": text, "source": source, "target": "en" if source == "fr" else "fr", **more}
    found: Json = ask(client, "/translate", **body)["translations"][0]
    return found


def raised(segment: Json) -> Json:
    """What is to come back for a sentence in capitals whose small form came back as ``segment``."""
    target = {**segment["target"], "text": capitals(segment["target"]["text"])}
    alternatives = [{**one, "text": capitals(one["text"])} for one in segment["alternatives"]]
    return {**segment, "target": target, "alternatives": alternatives, "recased": True}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("source", ["en", "fr"])
def test_the_translation_is_that_of_the_small_letters_raised(client: TestClient, source: str, search: Json) -> None:
    for text, small in zip(SENTENCES[source], AS_READ[source], strict=True):
        found, plain = (translate(client, source, one, **search) for one in (text, small))
        assert found["text"] == capitals(plain["text"]) != plain["text"]
        (segment,), (plain_segment,) = found["segments"], plain["segments"]
        assert not plain_segment["recased"]
        assert segment["source"].pop("text") == text
        plain_segment["source"].pop("text")
        assert segment == raised(plain_segment)


def test_a_heading_in_capitals_above_a_sentence(client: TestClient) -> None:
    text = "\n OPENING HOURS TODAY!\n\nThe museum opens at nine. PLEASE DO NOT SMOKE.  USA\n"
    found = translate(client, "en", text, offset_unit="utf16")
    assert [one["recased"] for one in found["segments"]] == [True, False, True, False]
    for side, whole in (("source", text), ("target", found["text"])):
        assert [whole[slice(*one[side]["span"])] for one in found["segments"]] == [
            one[side]["text"] for one in found["segments"]
        ]
    assert [one["target"]["text"].isupper() for one in found["segments"]] == [True, False, True, True]
    assert found["segments"][1] | {"source": None, "target": None} == {
        **translate(client, "en", "The museum opens at nine.")["segments"][0],
        "source": None,
        "target": None,
    }


@pytest.mark.parametrize("text", ["USA", "OK!", "Hello.", "The NATO summit was in the USA.", "1. 2.", "A4"])
def test_what_does_not_stand_in_capitals_is_read_as_it_is(client: TestClient, text: str) -> None:
    for segment in translate(client, "en", text)["segments"]:
        assert segment["recased"] is False
        spelt = "".join(segment["source"]["pieces"]).replace("▁", " ").strip()
        assert spelt == (segment["source"]["text"] if segment["finish_reason"] != "copied" else "")


@pytest.mark.parametrize("beam_size", [1, 3])
def test_a_stream_tells_of_capitals(client: TestClient, beam_size: int) -> None:
    body = {"text": "PLEASE CLOSE THE DOOR. Where is the station?", "source": "en", "target": "fr"}
    answer = client.post("/translate/stream", json={**body, "beam_size": beam_size})
    events = [block.split("\n") for block in answer.text.strip().split("\n\n")]
    told = [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in events]
    name, result = told.pop()
    assert (name, result) == ("result", ask(client, "/translate", **body, beam_size=beam_size))
    segments = result["translations"][0]["segments"]
    assert [one["recased"] for one in segments] == [True, False]
    for number, segment in enumerate(segments):
        mine = [(name, data) for name, data in told if data["segment"] == number]
        assert {data["recased"] for _, data in mine} == {segment["recased"]}
        assert [data["target"] for name, data in mine if name == "segment"] == [segment["target"]["text"]]
        pieces = [data["piece"] for name, data in mine if name == "piece"]
        assert pieces == (segment["target"]["pieces"] if beam_size == 1 else [])


def check_places(explained: Json, text: str) -> None:
    """Words and pieces have their places in what the reader sees; pieces are in small letters."""
    for side, whole, tokens in (("source", text, "tokens"), ("target", explained["target_text"], "predicted")):
        for segment in explained["segments"]:
            start, end = segment[side]["span"]
            assert whole[start:end] == segment[side]["text"]
            for word in segment[side]["words"]:
                assert whole[slice(*word["span"])] == word["text"]
                inside = [segment[side][tokens][index]["span"] for index in word["tokens"]]
                assert (inside[0][0], inside[-1][1]) == tuple(word["span"])
            plain = [one for one in segment[side][tokens] if one["special"] is None]
            for one in plain:
                seen = whole[slice(*one["span"])]
                spelt = one["piece"].removeprefix("▁")
                if segment["recased"] and not spelt.startswith("<0x"):
                    assert capitals(spelt) == seen.replace("’", "'")


@pytest.mark.parametrize("source", ["en", "fr"])
def test_an_explanation_has_places_in_both_texts(client: TestClient, source: str) -> None:
    text = "  " + "\n".join([*SENTENCES[source], AS_READ[source][0]])
    found = translate(client, source, text, **MAPS)
    check_places(found["attention"], text)
    assert found["attention"]["target_text"] == found["text"]
    for segment, explained in zip(found["segments"], found["attention"]["segments"], strict=True):
        assert segment["recased"] == explained["recased"]
        assert segment["source"]["pieces"] == [one["piece"] for one in explained["source"]["tokens"][1:-1]]
        assert segment["target"]["pieces"] == [one["piece"] for one in explained["target"]["predicted"][:-1]]
    assert [one["recased"] for one in found["segments"]] == [True, True, True, False]
    small = translate(client, source, "  " + "\n".join([*AS_READ[source], AS_READ[source][0]]), **MAPS)
    for one, plain in zip(found["attention"]["segments"], small["attention"]["segments"], strict=True):
        assert one["attention"] == plain["attention"]
        assert one["alignment"] == plain["alignment"]


@pytest.mark.parametrize("source", ["en", "fr"])
def test_a_pair_given_back_is_explained_like_the_servers_own(client: TestClient, source: str) -> None:
    text = "\n".join(SENTENCES[source])
    languages = {"source": source, "target": "en" if source == "fr" else "fr"}
    own = ask(client, "/attention", text=text, **languages, alignment={"soft": True})
    given = ask(client, "/attention", text=text, target_text=own["target_text"], **languages, alignment={"soft": True})
    assert given.pop("translated_by") is None
    own.pop("translated_by")
    for segment in (*own["segments"], *given["segments"]):
        assert segment["recased"]
        segment.pop("finish_reason")
    assert given == own


def test_the_source_alone_is_read_in_small_letters(client: TestClient) -> None:
    body = {"source": "en", "target": "fr", "families": ["encoder"]}
    found, plain = (ask(client, "/attention", text=of["en"][0], **body) for of in (SENTENCES, AS_READ))
    assert (found["segments"][0]["recased"], plain["segments"][0]["recased"]) == (True, False)
    assert found["segments"][0]["attention"] == plain["segments"][0]["attention"]


def test_a_small_translation_of_capitals_is_read_as_it_is(client: TestClient) -> None:
    body = {"text": "CLOSE THE DOOR.", "target_text": "Fermez la porte.", "source": "en", "target": "fr"}
    (segment,) = ask(client, "/attention", **body)["segments"]
    assert segment["recased"]
    assert segment["target"]["text"] == "Fermez la porte."
    assert segment["target"]["predicted"][0]["piece"] == "▁Fer"[: len(segment["target"]["predicted"][0]["piece"])]


def test_a_long_sentence_in_capitals_is_cut_by_what_the_model_reads(client: TestClient) -> None:
    limit = client.get("/info").json()["model"]["limits"]["whole_len"] - 2
    clause = "WE WALKED ALONG THE RIVER IN THE RAIN, AND THEN WE TALKED ABOUT THE WEATHER"
    tokenizer = Tokenizer(Settings().model / TOKENIZER_FILE)
    text = ", ".join([clause] * 2) + "."
    assert len(tokenizer.encode(text)) > limit
    (whole,) = translate(client, "en", text, beam_size=1)["segments"]
    assert len(whole["source"]["pieces"]) <= limit
    cut = translate(client, "en", ", ".join([clause] * 20) + ".", beam_size=1)["segments"]
    assert len(cut) > 1
    assert all(one["recased"] and limit / 3 < len(one["source"]["pieces"]) <= limit for one in cut[:-1])


def test_evaluation_recases_as_serving_does(client: TestClient) -> None:
    model, tokenizer = open_model(Settings().model, "int8")
    options = SearchOptions(1, 1.0, 0, model.limits.target_len)
    lines = [*SENTENCES["en"], "OPENING HOURS! The museum opens at nine.", "USA", "42"]
    found = translate_lines(model, tokenizer, lines, Direction("en", "fr"), options)
    assert found == [translate(client, "en", line, beam_size=1, length_penalty=1.0)["text"] for line in lines]
