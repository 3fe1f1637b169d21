"""Size and time of attention over HTTP: ``python -m tests.benchmarks.attention_cost``.

One sentence of about 30, 100 and 200 pieces on each side (as far as the model reads), explained by ``POST /attention``
with every family and head in every encoding, and as the smallest useful answer: one layer's cross-attention, mean of
heads. Medians of several requests to the application in this process, without a network.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import json
import statistics
import time
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings

RESULTS = Path(__file__).parent / "results" / "attention_cost.json"
_LENGTHS = ((28, 28), (95, 95), (95, 195))
_REPEATS = 7
_EVERYTHING = {"families": ["encoder", "decoder", "cross"]}
_FORMS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "all, JSON": (_EVERYTHING, {}),
    "all, base64 float16": ({**_EVERYTHING, "encoding": "base64", "dtype": "float16"}, {}),
    "all, base64 uint8_sqrt": ({**_EVERYTHING, "encoding": "base64", "dtype": "uint8_sqrt"}, {}),
    "all, npz": (_EVERYTHING, {"Accept": "application/x-npz"}),
    "cross, last layer, mean of heads, JSON": ({"layers": [-1], "aggregate": {"heads": "mean"}}, {}),
}


def measure(client: TestClient, source_words: int, target_words: int) -> list[dict[str, Any]]:
    """One record for each form of the answer."""
    pair = {"text": "a " * source_words, "target_text": "à " * target_words, "source": "en", "target": "fr"}
    records = []
    for name, (selection, headers) in _FORMS.items():
        seconds = []
        for _ in range(_REPEATS):
            started = time.perf_counter()
            answer = client.post("/attention", json={**pair, **selection}, headers={"Accept-Encoding": "", **headers})
            seconds.append(time.perf_counter() - started)
            answer.raise_for_status()
        milliseconds = round(1000 * statistics.median(seconds), 1)
        record = {"source_words": source_words, "target_words": target_words, "form": name}
        records.append({**record, "bytes": len(answer.content), "milliseconds": milliseconds})
    return records


def main() -> None:
    """Prints a table and writes the results."""
    with TestClient(create_app(Settings(max_attention_values=10_000_000))) as client:
        records = [record for words in _LENGTHS for record in measure(client, *words)]
        model = client.get("/info").json()["model"]
    found = {"model": model["id"], "revision": model["revision"], "records": records}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("| words | form | kB | ms |\n|---|---|--:|--:|")
    for record in records:
        words = f"{record['source_words']} x {record['target_words']}"
        print(f"| {words} | {record['form']} | {record['bytes'] / 1000:,.0f} | {record['milliseconds']} |")


if __name__ == "__main__":
    main()
