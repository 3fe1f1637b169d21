import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.runtime.onnx_step_model import OnnxStepModel
from app.settings import Settings


def test_failed_model_is_not_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("secret")

    with TestClient(create_app(Settings())) as client:
        assert client.get("/health/live").status_code == 200
        monkeypatch.setattr(OnnxStepModel, "encode", fails)
        answer = client.post("/translate", json={"text": "Good morning.", "source": "en", "target": "fr"})
        monkeypatch.undo()
        live, ready = client.get("/health/live"), client.get("/health/ready")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "engine_failed")
    assert (live.status_code, live.json()["error"]["code"]) == (500, "engine_failed")
    assert (ready.status_code, ready.json()["error"]["code"]) == (503, "not_ready")
    assert "secret" not in answer.text + live.text
