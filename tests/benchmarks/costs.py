"""What starting, memory and attention cost: ``python -m tests.benchmarks.costs TEXTS.tsv``.

Start: seconds from the beginning of a fresh ``python -m app`` to the first ``/health/ready``. Memory: resident, after
that and after 1,000 translations, eight requests at a time. Padding: what part of the positions that the model was
given by those translations only filled, from ``/metrics``. Attention: ``POST /translate`` of one and of eight sentences
without attention, with the cross-attention of the layer that alignments read, and with every family and layer, taking
turns in every repetition; times of the median repetition, and medians of the ratios to the request without.
Results go to ``tests/benchmarks/results`` as JSON.
"""

import argparse
import contextlib
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx

from app.settings import Settings

RESULTS = Path(__file__).parent / "results" / "costs.json"
TRANSLATIONS = 1_000
AT_ONCE = 8
_WARM_UP = 3
_PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class Server:
    """A server that is ready; ``start_seconds`` from the beginning of its process."""

    address: str
    process: int
    start_seconds: float

    def resident_mb(self) -> float:
        """Memory of its process that is not swapped out, in megabytes."""
        status = Path(f"/proc/{self.process}/status").read_text(encoding="ascii")
        return round(int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))) / 1000, 1)


@dataclass(frozen=True)
class AttentionCost:
    """One kind of request; ``ratio`` to the same without attention."""

    sentences: int
    form: str
    milliseconds: float
    ratio: float
    kilobytes: float


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, help="sentences in the first column")
    parser.add_argument("--model", type=Path, default=Settings().model)
    parser.add_argument("--source", default="en")
    parser.add_argument("--target", default="fr")
    parser.add_argument("--starts", type=int, default=7)
    parser.add_argument("--repetitions", type=int, default=40)
    parser.add_argument("--beam-size", type=int, default=None, help="the server's own choice unless given")
    asked = parser.parse_args()
    lines = [line.split("\t")[0] for line in asked.texts.read_text(encoding="utf-8").splitlines() if line]
    body = {"source": asked.source, "target": asked.target, "beam_size": asked.beam_size}
    starts = []
    for _ in range(asked.starts - 1):
        with serving(asked.model) as server:
            starts.append(server.start_seconds)
    with serving(asked.model) as server, httpx.Client(base_url=server.address, timeout=_PATIENCE_SECONDS) as client:
        starts.append(server.start_seconds)
        started_mb = server.resident_mb()
        translate(client, lines, body)
        used_mb = server.resident_mb()
        found = {
            "model": client.get("/info").raise_for_status().json()["model"]["revision"],
            "start_seconds": {"median": statistics.median(starts), "each": starts},
            "resident_mb": {"started": started_mb, f"after {TRANSLATIONS:,} translations": used_mb},
            "padding": padding(client.get("/metrics").text),
        }
        costs = [cost for count in (1, 8) for cost in attention_costs(client, lines, body, count, asked.repetitions)]
    report(found, costs)


@contextlib.contextmanager
def serving(model: Path) -> Iterator[Server]:
    """``python -m app`` in a process of its own, ready; stopped afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {"VITRAIL_MODEL": str(model), "VITRAIL_PORT": str(port), "VITRAIL_LOG_LEVEL": "warning"}
    settings |= {"VITRAIL_MAX_ATTENTION_VALUES": "100000000", "ORT_DISABLE_TELEMETRY": "1"}
    began = time.perf_counter()
    with subprocess.Popen([sys.executable, "-m", "app"], env={**os.environ, **settings}) as process:
        try:
            await_ready(process, port)
            yield Server(f"http://127.0.0.1:{port}", process.pid, round(time.perf_counter() - began, 3))
        finally:
            process.send_signal(signal.SIGTERM)


def await_ready(process: "subprocess.Popen[bytes]", port: int) -> None:
    """Returns with the first ``/health/ready`` that says yes.

    Raises:
        RuntimeError: the server ended, or is not ready in time.
    """
    give_up = time.monotonic() + _PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < give_up:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(b"GET /health/ready HTTP/1.1\r\nHost: benchmark\r\nConnection: close\r\n\r\n")
            if connection.recv(64).startswith(b"HTTP/1.1 200"):
                return
        time.sleep(0.005)
    raise RuntimeError("the server does not get ready")


def translate(client: httpx.Client, lines: Sequence[str], body: dict[str, Any]) -> None:
    """1,000 lines, one a request, the same ones again if there are fewer."""
    texts = [lines[number % len(lines)] for number in range(TRANSLATIONS)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for answer in pool.map(lambda text: client.post("/translate", json={**body, "text": text}), texts):
            answer.raise_for_status()


def padding(metrics: str) -> dict[str, float]:
    """Part of all positions that only filled, by part of the model."""
    counts: dict[str, dict[str, int]] = {}
    for part, kind, count in re.findall(r'positions_total\{part="(\w+)",kind="(\w+)"\} (\d+)', metrics):
        counts.setdefault(part, {})[kind] = int(count)
    return {part: round(both["padding"] / max(1, sum(both.values())), 3) for part, both in counts.items()}


def attention_costs(
    client: httpx.Client, lines: Sequence[str], body: dict[str, Any], sentences: int, repetitions: int
) -> list[AttentionCost]:
    """Every form in every repetition, each with other lines than the repetition before and another form first."""
    layer = client.get("/info").json()["model"]["alignment_layer"]
    forms: dict[str, dict[str, Any]] = {
        "none": {},
        "alignment": {"alignment": {}},
        "cross, alignment layer": {"attention": {"families": ["cross"], "layers": [layer]}},
        "everything": {"attention": {"families": ["encoder", "decoder", "cross"]}, "alignment": {}},
    }
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    sizes: dict[str, list[int]] = {name: [] for name in forms}
    for repetition in range(_WARM_UP + repetitions):
        texts = [lines[(repetition * sentences + number) % len(lines)] for number in range(sentences)]
        first = repetition % len(forms)
        for name, form in [*forms.items()][first:] + [*forms.items()][:first]:
            began = time.perf_counter()
            answer = client.post("/translate", json={**body, "text": texts, **form})
            if repetition >= _WARM_UP:
                seconds[name].append(time.perf_counter() - began)
                sizes[name].append(len(answer.content))
            answer.raise_for_status()
    return [
        AttentionCost(
            sentences,
            name,
            milliseconds=round(1000 * statistics.median(seconds[name]), 1),
            ratio=round(statistics.median(map(_ratio, seconds[name], seconds["none"])), 2),
            kilobytes=round(statistics.median(sizes[name]) / 1000, 1),
        )
        for name in forms
    ]


def _ratio(one: float, other: float) -> float:
    return one / other


def report(found: dict[str, Any], costs: Sequence[AttentionCost]) -> None:
    """Prints the tables and keeps the raw results."""
    RESULTS.parent.mkdir(exist_ok=True)
    stored = {**found, "attention": [asdict(cost) for cost in costs]}
    RESULTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found))
    print("| sentences | attention | ms | ratio | kB |\n|--:|---|--:|--:|--:|")
    for cost in costs:
        print(f"| {cost.sentences} | {cost.form} | {cost.milliseconds} | {cost.ratio} | {cost.kilobytes} |")


if __name__ == "__main__":
    main()
