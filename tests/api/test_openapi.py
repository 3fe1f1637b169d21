from collections.abc import Iterator
from typing import Any

import pytest

from app.api.answers import TranslateAnswer
from app.api.attention_answers import AttentionAnswer
from app.api.attention_examples import ATTENTION_ANSWER
from app.api.attention_schemas import EXAMPLE_EXPLAIN, AttentionBody
from app.api.errors import ErrorAnswer
from app.api.schemas import EXAMPLE_REQUESTS, TranslateBody
from app.main import Running, create_app
from app.settings import Settings
from tests.api.scripted_service import ScriptedService


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    service = ScriptedService()
    schema: dict[str, Any] = create_app(Settings(), lambda _: Running(service, 4, service.stop)).openapi()
    return schema


def operations(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def test_every_route_is_documented(schema: dict[str, Any]) -> None:
    names = [name for name, _ in operations(schema)]
    assert names == [
        "post /translate",
        "post /translate/stream",
        "post /attention",
        "post /attention/render",
        "get /languages",
        "get /info",
        "get /health/live",
        "get /health/ready",
        "get /metrics",
    ]
    for name, operation in operations(schema):
        assert operation["summary"], name
        assert operation["description"], name
        assert operation["tags"], name


def test_every_answer_has_a_description_a_schema_and_an_example(schema: dict[str, Any]) -> None:
    for name, operation in operations(schema):
        for status, response in operation["responses"].items():
            if name == "post /translate/stream" and status == "200":
                assert set(response["content"]) == {"text/event-stream"}
                continue
            if name == "post /attention/render" and status == "200":
                assert set(response["content"]) == {"image/svg+xml", "text/html", "image/png"}
                continue
            if name == "get /metrics" and status == "200":
                assert set(response["content"]) == {"text/plain; version=0.0.4"}
                continue
            content = response["content"]["application/json"]
            assert response["description"], (name, status)
            assert content["schema"], (name, status)
            assert "example" in content, (name, status)


def test_every_error_has_the_one_shape(schema: dict[str, Any]) -> None:
    for name, operation in operations(schema):
        for status, response in operation["responses"].items():
            if status != "200":
                content = response["content"]["application/json"]
                assert content["schema"] == {"$ref": "#/components/schemas/ErrorAnswer"}, (name, status)
                ErrorAnswer.model_validate(content["example"])
    assert "HTTPValidationError" not in schema["components"]["schemas"]


def test_every_field_is_described(schema: dict[str, Any]) -> None:
    for name, component in schema["components"]["schemas"].items():
        assert component.get("description"), name
        for field, details in component.get("properties", {}).items():
            # A reference is described where it leads to, which the line above sees to.
            assert details.get("description") or "$ref" in details, f"{name}.{field}"


def test_translate_tells_all_its_errors(schema: dict[str, Any]) -> None:
    responses = schema["paths"]["/translate"]["post"]["responses"]
    assert sorted(responses) == ["200", "400", "413", "415", "422", "429", "500", "503", "504"]
    for status in ("429", "503"):
        assert "Retry-After" in responses[status]["headers"]


def test_examples_are_valid(schema: dict[str, Any]) -> None:
    for example in EXAMPLE_REQUESTS.values():
        TranslateBody.model_validate(example["value"])
    answer = schema["paths"]["/translate"]["post"]["responses"]["200"]["content"]["application/json"]["example"]
    assert TranslateAnswer.model_validate(answer).model_dump(mode="json") == answer
    for example in EXAMPLE_EXPLAIN.values():
        AttentionBody.model_validate(example["value"])
    answer = schema["paths"]["/attention"]["post"]["responses"]["200"]["content"]["application/json"]["example"]
    assert AttentionAnswer.model_validate(ATTENTION_ANSWER).model_dump(mode="json") == ATTENTION_ANSWER
    assert answer == ATTENTION_ANSWER
