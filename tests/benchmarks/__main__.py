"""Decoding speed against CTranslate2 on the same weights: ``python -m tests.benchmarks TEXTS.tsv``.

TEXTS has two columns, source and reference; the model is the bundled one unless --model names another, such as one
with random weights (``tests.benchmarks.random_model``), which always goes on to --target-len.
Both decode the same ids with the same search options, int8, taking turns within each repetition. The peer runs
both with as many batches at a time as there are threads and with one batch on all threads; each case counts the
faster. The table gives medians of the ratios. Peak memory and the time to import and open are those of a process for
each. Results go to ``tests/benchmarks/results`` as JSON.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import argparse
import dataclasses
import json
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from app.runtime.model_directory import open_model_directory
from app.settings import Settings
from app.text.normalise import normalise
from app.text.tokenizer import Tokenizer
from export.restore import restore_checkpoint
from model.corpus import read_lines
from model.scoring import score
from tests.benchmarks.ctranslate2_convert import convert
from tests.benchmarks.ctranslate2_peer import CTranslate2Peer
from tests.benchmarks.footprint import TARGET_LEN, footprint
from tests.benchmarks.our_decoder import OurDecoder

Decode = Callable[[Sequence[Sequence[int]], int], list[list[int]]]

CASES = ((1, 1), (8, 1), (32, 1), (64, 1), (1, 4), (8, 4), (32, 4))
RESULTS = Path(__file__).parent / "results"


@dataclasses.dataclass(frozen=True)
class Measurement:
    """One case; speeds in sentences per second, medians over the repetitions; threads as batches x threads of each."""

    sentences_per_batch: int
    beam_size: int
    ours: float
    peer: float
    ratio: float
    our_bleu: float
    peer_bleu: float
    peer_threads: str


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--model", type=Path, default=Settings().model)
    parser.add_argument("--target", default="fr")
    parser.add_argument("--sentences", type=int, default=320)
    parser.add_argument("--target-len", type=int, default=TARGET_LEN)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    directory = open_model_directory(arguments.model)
    tokenizer = Tokenizer(directory.tokenizer_path)
    ours = OurDecoder(directory, arguments.threads, 1)
    sources, references = [], []
    for line in read_lines(arguments.texts):
        text, reference = line.split("\t")
        ids = tokenizer.encode_source(normalise(text), arguments.target)
        if len(ids) <= ours.limits.source_len and len(sources) < arguments.sentences:
            sources.append(ids)
            references.append(reference)

    with tempfile.TemporaryDirectory() as folder:
        peer_folder = Path(folder) / "peer"
        convert(restore_checkpoint(directory), tokenizer.pieces(range(tokenizer.vocab_size)), peer_folder)
        footprints = {
            name: footprint(name, arguments.model, peer_folder, arguments.threads, sources) for name in ("ours", "peer")
        }
        many = CTranslate2Peer(peer_folder, tokenizer, arguments.threads, 1)
        one = CTranslate2Peer(peer_folder, tokenizer, 1, arguments.threads)
        decoders: dict[str, Decode] = {
            "ours": lambda batch, size: ours.translate(batch, size, arguments.target_len),
            f"{arguments.threads} x 1": lambda batch, size: many.translate(batch, size, arguments.target_len),
            f"1 x {arguments.threads}": lambda batch, size: one.translate(batch, size, arguments.target_len),
        }
        measurements = [
            measure(decoders, sources, references, tokenizer, case, arguments.repetitions) for case in CASES
        ]
    about = {"model": directory.config.id, "threads": arguments.threads, "target_len": arguments.target_len}
    report(measurements, footprints, about)


def measure(
    decoders: dict[str, Decode],
    sources: Sequence[Sequence[int]],
    references: Sequence[str],
    tokenizer: Tokenizer,
    case: tuple[int, int],
    repetitions: int,
) -> Measurement:
    """All decoders take turns over all batches; single sentences use a tenth of the set."""
    batch_size, beam_size = case
    count = len(sources) // 10 if batch_size == 1 else len(sources)
    batches = [sources[start : start + batch_size] for start in range(0, count, batch_size)]
    seconds: dict[str, list[float]] = {name: [] for name in decoders}
    bleu: dict[str, float] = {}
    for repetition in range(repetitions + 1):
        for name, decode in decoders.items():
            started = time.perf_counter()
            found = [ids for batch in batches for ids in decode(batch, beam_size)]
            if repetition == 0:  # warm-up, and the check that both do the same work
                bleu[name] = score([tokenizer.decode(ids) for ids in found], references[:count]).bleu
            else:
                seconds[name].append(time.perf_counter() - started)
    best = min((name for name in decoders if name != "ours"), key=lambda name: statistics.median(seconds[name]))
    ratios = [peer / ours for ours, peer in zip(seconds["ours"], seconds[best], strict=True)]
    return Measurement(
        batch_size,
        beam_size,
        *(round(count / statistics.median(seconds[name]), 1) for name in ("ours", best)),
        ratio=round(statistics.median(ratios), 2),
        our_bleu=round(bleu["ours"], 2),
        peer_bleu=round(bleu[best], 2),
        peer_threads=best,
    )


def report(
    measurements: Sequence[Measurement], footprints: dict[str, dict[str, float]], asked: dict[str, str | int]
) -> None:
    """Prints the table and keeps the raw results."""
    about = {
        **asked,
        "processor": processor(),
        "python": platform.python_version(),
        **{package: version(package) for package in ("onnxruntime", "ctranslate2")},
    }
    RESULTS.mkdir(exist_ok=True)
    stored = {
        "about": about,
        "footprints": footprints,
        "cases": [dataclasses.asdict(measurement) for measurement in measurements],
    }
    (RESULTS / f"decoding.{asked['model']}.json").write_text(json.dumps(stored, indent=1) + "\n")
    print(json.dumps(about))
    for name, measured in footprints.items():
        print(f"{name}: opens in {measured['open_seconds']} s, peak memory {measured['peak_mb']} MB")
    print("| sentences | beam | Vitrail/s | CTranslate2/s | ratio | BLEU | its BLEU | its threads |")
    print("|--:|--:|--:|--:|--:|--:|--:|---|")
    for one in measurements:
        cells = dataclasses.astuple(one)
        print("| " + " | ".join(map(str, cells)) + " |")


def processor() -> str:
    """The processor's name, where the system tells."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


if __name__ == "__main__":
    main()
