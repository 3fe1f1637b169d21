"""The service with the bundled model, and the parts that it is made of."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.runtime.explain_model import OnnxExplainModel
from app.runtime.model_directory import ModelDirectory, open_model_directory
from app.runtime.providers import RuntimeOptions
from app.settings import Settings
from app.text.tokenizer import Tokenizer
from export.restore import restore_checkpoint
from model.transformer import Transformer


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(Settings())) as client:
        yield client


@pytest.fixture(scope="module")
def directory() -> ModelDirectory:
    return open_model_directory(Settings().model)


@pytest.fixture(scope="module")
def explain_model(directory: ModelDirectory) -> OnnxExplainModel:
    return OnnxExplainModel(directory, RuntimeOptions("cpu"))


@pytest.fixture(scope="module")
def transformer(directory: ModelDirectory) -> Transformer:
    """The torch model with the weights of the graphs."""
    return restore_checkpoint(directory).transformer()


@pytest.fixture(scope="module")
def tokenizer(directory: ModelDirectory) -> Tokenizer:
    return Tokenizer(directory.tokenizer_path)
