"""Requests at random times against a real server: ``python -m tests.benchmarks.http_load TEXTS.tsv``.

Open loop: requests, one sentence each, leave at Poisson arrival times whether or not earlier ones are answered, as
those of many people do. The same arrivals meet a server that decodes batches and one that decodes one sentence at a
time. Results go to ``tests/benchmarks/results`` as JSON.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx

from app.settings import Settings

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, help="sentences in the first column")
    parser.add_argument("--model", type=Path, default=Settings().model)
    parser.add_argument("--source", default="en")
    parser.add_argument("--target", default="fr")
    parser.add_argument("--rate", type=float, default=20.0, help="requests per second, on average")
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--beam-size", type=int, default=4)
    asked = parser.parse_args()
    lines = [line.split("\t")[0] for line in asked.texts.read_text(encoding="utf-8").splitlines() if line]
    chance = random.Random(1)
    bodies = [
        {"text": text, "source": asked.source, "target": asked.target, "beam_size": asked.beam_size}
        for text in itertools.islice(itertools.cycle(chance.sample(lines, len(lines))), asked.requests)
    ]
    pauses = [chance.expovariate(asked.rate) for _ in bodies]
    together = {"VITRAIL_MODEL": str(asked.model)}
    alone = {
        **together,
        **{f"VITRAIL_{name}": str(asked.beam_size) for name in ("BEAM_SIZE", "MAX_BEAM_SIZE", "MAX_BATCH_ROWS")},
    }
    results = {}
    for name, environment in (("batches", together), ("one at a time", alone)):
        with serving(environment) as address:
            results[name] = asyncio.run(load(address, bodies, pauses))
    report({"rate": asked.rate, "requests": asked.requests, "beam_size": asked.beam_size}, results)


@contextlib.contextmanager
def serving(environment: dict[str, str]) -> Iterator[str]:
    """The address of ``python -m app`` in a process of its own, ready; stopped afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {**environment, "VITRAIL_PORT": str(port), "VITRAIL_LOG_LEVEL": "warning"}
    address = f"http://127.0.0.1:{port}"
    with subprocess.Popen([sys.executable, "-m", "app"], env={**os.environ, **settings}) as server:
        try:
            for _ in range(600):
                with contextlib.suppress(httpx.TransportError):
                    if httpx.get(f"{address}/health/ready").is_success:
                        break
                if server.poll() is not None:
                    raise RuntimeError("the server ended")
                time.sleep(0.1)
            yield address
        finally:
            server.send_signal(signal.SIGTERM)


async def load(address: str, bodies: Sequence[dict[str, object]], pauses: Sequence[float]) -> dict[str, float]:
    """Sends every body after its pause; speed in sentences per second, latencies in milliseconds."""

    async def one(body: dict[str, object]) -> float:
        started = time.perf_counter()
        (await client.post("/translate", json=body)).raise_for_status()
        return time.perf_counter() - started

    unlimited = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=address, timeout=300, limits=unlimited) as client:
        for body in bodies[:8]:  # warm-up
            await one(body)
        began = time.perf_counter()
        due, running = began, []
        for body, pause in zip(bodies, pauses, strict=True):
            due += pause  # so that late wake-ups do not add up
            await asyncio.sleep(due - time.perf_counter())
            running.append(asyncio.create_task(one(body)))
        latencies = await asyncio.gather(*running)
        seconds = time.perf_counter() - began
    cuts = statistics.quantiles(latencies, n=100, method="inclusive")
    percentiles = {f"p{number}_ms": round(1000 * cuts[number - 1], 1) for number in (50, 95, 99)}
    return {"sentences_per_second": round(len(bodies) / seconds, 1), **percentiles}


def report(about: dict[str, float], results: dict[str, dict[str, float]]) -> None:
    """Prints the table and keeps the raw results."""
    RESULTS.mkdir(exist_ok=True)
    stored = json.dumps({"about": about, "results": results}, indent=1)
    (RESULTS / "http_load.json").write_text(stored + "\n", encoding="utf-8")
    print("| server decodes | sentences/s | p50 ms | p95 ms | p99 ms |\n|---|--:|--:|--:|--:|")
    for name, numbers in results.items():
        print(f"| {name} | " + " | ".join(map(str, numbers.values())) + " |")


if __name__ == "__main__":
    main()
