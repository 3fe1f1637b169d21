"""The real application with the bundled model, as `make serve` runs it, without a socket."""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings


@pytest.fixture(scope="session")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(Settings())) as client:
        yield client
