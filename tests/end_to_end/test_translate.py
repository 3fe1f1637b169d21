"""What a user gets from the bundled model over HTTP."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Json = dict[str, Any]

EVERYDAY = {
    "en": [
        "I am very tired today.",
        "Where is the train station?",
        "She doesn't like coffee.",
        "My brother bought a new car last week.",
        "We have to go now, it's late.",
        "Can you help me, please?",
    ],
    "fr": [
        "Je suis très fatigué aujourd'hui.",
        "Où est la gare ?",
        "Elle n'aime pas le café.",
        "Mon frère a acheté une nouvelle voiture la semaine dernière.",
        "Nous devons partir maintenant, il est tard.",
        "Pouvez-vous m'aider, s'il vous plaît ?",
    ],
}
WORDS = {
    "fr": ["fatigué", "gare", "café", "voiture", "tard", "aider"],
    "en": ["tired", "station", "coffee", "car", "late", "help"],
}
DIRECTIONS = [("en", "fr"), ("fr", "en")]


def translate(client: TestClient, **body: Any) -> Json:
    answer = client.post("/translate", json=body)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


@pytest.mark.parametrize(("source", "target"), DIRECTIONS)
def test_everyday_sentences_are_translated(client: TestClient, source: str, target: str) -> None:
    answer = translate(client, text=EVERYDAY[source], source=source, target=target)
    texts = [translation["text"].lower() for translation in answer["translations"]]
    found = [word in text for word, text in zip(WORDS[target], texts, strict=True)]
    assert sum(found) >= 5, texts


@pytest.mark.parametrize(("source", "target"), DIRECTIONS)
def test_spans_point_into_both_texts(client: TestClient, source: str, target: str) -> None:
    text = "\n  " + "  ".join(EVERYDAY[source][:3]) + "\r\n\r\n\t- \n" + EVERYDAY[source][3] + " 🎉\n\n"
    translation = translate(client, text=text, source=source, target=target)["translations"][0]
    assert len(translation["segments"]) >= 5
    for side, whole in (("source", text), ("target", translation["text"])):
        for segment in translation["segments"]:
            start, end = segment[side]["span"]
            assert whole[start:end] == segment[side]["text"]


def test_white_space_and_lines_survive(client: TestClient) -> None:
    text = "\n\n  Hello.\tHow are you?  \r\n\r\n\u2028 - \n12.5 %\n\n"
    translated = translate(client, text=text, source="en", target="fr")["translations"][0]["text"]
    assert translated.startswith("\n\n  ")
    assert translated.endswith("\u2028 - \n12.5 %\n\n")
    assert translated.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "-", "1.", "🎉", "https://example.org/a?b=c", "me@example.org", "\x00"]
)
def test_nothing_to_translate_comes_back_unchanged(client: TestClient, text: str) -> None:
    translation = translate(client, text=text, source="en", target="fr")["translations"][0]
    assert translation["text"] == text
    assert {segment["finish_reason"] for segment in translation["segments"]} <= {"copied"}


def test_a_sentence_longer_than_the_model_reads_is_not_truncated(client: TestClient) -> None:
    limit = client.get("/info").json()["model"]["limits"]["source_len"]
    text = " ".join(["the cat sleeps and the dog eats,"] * limit) + " and Zanzibar."
    translation = translate(client, text=text, source="en", target="fr", beam_size=1)["translations"][0]
    assert len(translation["segments"]) > 1
    covered = "".join(segment["source"]["text"] for segment in translation["segments"])
    assert "".join(covered.split()) == "".join(text.split())


@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_translation_does_not_depend_on_its_company(client: TestClient, beam_size: int) -> None:
    texts = EVERYDAY["en"]
    alone = [translate(client, text=text, source="en", target="fr", beam_size=beam_size) for text in texts]
    together = translate(client, text=texts, source="en", target="fr", beam_size=beam_size)
    assert together["translations"] == [answer["translations"][0] for answer in alone]


def test_requests_at_the_same_time_get_their_own_answers(client: TestClient) -> None:
    jobs = [(text, *direction) for direction in DIRECTIONS for text in EVERYDAY[direction[0]]] * 3

    def one(job: tuple[str, str, str]) -> Json:
        return translate(client, text=job[0], source=job[1], target=job[2])

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(one, jobs))
    alone = {job: one(job)["translations"] for job in set(jobs)}
    assert [answer["translations"] for answer in answers] == [alone[job] for job in jobs]


def test_alternatives_and_scores(client: TestClient) -> None:
    body = {
        "text": "I love you.",
        "source": "en",
        "target": "fr",
        "beam_size": 5,
        "alternatives": 4,
        "length_penalty": 0.6,
    }
    segment = translate(client, **body)["translations"][0]["segments"][0]
    scores = [segment["score"], *(other["score"] for other in segment["alternatives"])]
    assert len(segment["alternatives"]) == 4
    assert scores == sorted(scores, reverse=True)
    length = len(segment["target"]["pieces"]) + 1
    assert segment["score"] == pytest.approx(segment["log_prob"] / length**0.6, rel=1e-4)


def test_attention_is_the_same_in_company(client: TestClient) -> None:
    attention = {"families": ["cross"], "layers": [-1], "heads": [0, 3]}
    body = {"source": "fr", "target": "en", "attention": attention}
    alone = [translate(client, text=text, **body)["translations"][0] for text in EVERYDAY["fr"][:3]]
    assert translate(client, text=EVERYDAY["fr"][:3], **body)["translations"] == alone
    shape = alone[0]["attention"]["segments"][0]["attention"]["maps"]["cross"]["shape"]
    assert shape[:2] == [1, 2]


def test_usage_counts(client: TestClient) -> None:
    answer = translate(client, text=["I am here.", "-"], source="en", target="fr")
    segments = [segment for translation in answer["translations"] for segment in translation["segments"]]
    assert answer["usage"] == {
        "characters": 11,
        "source_pieces": sum(len(segment["source"]["pieces"]) for segment in segments),
        "target_pieces": sum(len(segment["target"]["pieces"]) for segment in segments),
    }


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_gets_an_answer_and_loses_no_line(client: TestClient, text: str) -> None:
    translation = translate(client, text=text, source="en", target="fr", beam_size=1)["translations"][0]
    assert len(translation["text"].splitlines()) == len(text.splitlines())
    position = 0
    for segment in translation["segments"]:
        start, end = segment["source"]["span"]
        assert text[position:start].strip() == ""
        position = end
    assert text[position:].strip() == ""
