import subprocess
import sys

BLOCKED = ("torch", "model", "export", "onnx", "sacrebleu", "transformers", "ctranslate2")
SERVE = f"""
import sys
sys.modules.update(dict.fromkeys({BLOCKED!r}))
import app.__main__
from fastapi.testclient import TestClient
from app.main import create_app
from app.settings import Settings
with TestClient(create_app(Settings())) as client:
    body = {{"text": "Good morning.", "source": "en", "target": "fr", "attention": {{}}}}
    answer = client.post("/translate", json=body).json()
print(answer["translations"][0]["segments"][0]["finish_reason"])
"""


def test_serving_runs_with_torch_absent() -> None:
    done = subprocess.run([sys.executable, "-c", SERVE], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "eos\n", done.stderr
