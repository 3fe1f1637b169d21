"""Whether memory stays flat: ``python -m tests.benchmarks.soak TEXTS.tsv``.

Sentences of random lengths (a random part of a random line, in words) go through the engine as the server runs it,
a few hundred at a time, some greedy, some with a beam. Resident memory is noted after the first 1,000 and at every
tenth of the way; growth compares the last note with the first. What part of the positions that the model was given
only filled is told by part of the model. Results go to ``tests/benchmarks/results`` as JSON.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

from app.engine.counts import EngineCounts, Positions
from app.memory import return_freed_memory
from app.runtime.model_directory import open_model_directory
from app.settings import Settings
from app.text.normalise import normalise
from app.text.tokenizer import Tokenizer
from tests.benchmarks.our_decoder import OurDecoder

RESULTS = Path(__file__).parent / "results"
WARM_UP = 1_000
AT_ONCE = 250
TARGET_LEN = 100
BEAM_SIZES = (1, 1, 4)


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, help="sentences in the first column")
    parser.add_argument("--model", type=Path, default=Settings().model)
    parser.add_argument("--target", default="fr")
    parser.add_argument("--translations", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    return_freed_memory()
    directory = open_model_directory(asked.model)
    tokenizer = Tokenizer(directory.tokenizer_path)
    decoder = OurDecoder(directory, asked.threads, 1, batch_rows=64)
    lines = [line.split("\t")[0].split() for line in asked.texts.read_text(encoding="utf-8").splitlines() if line]
    chance = random.Random(1)
    longest = directory.config.limits.source_len
    began = time.monotonic()
    notes: list[dict[str, float]] = []
    next_note, done = WARM_UP, 0
    while done < max(asked.translations, WARM_UP):
        parts = [some_words(chance.choice(lines), chance) for _ in range(AT_ONCE)]
        sources = [tokenizer.encode_source(normalise(part), asked.target)[:longest] for part in parts]
        done += len(decoder.translate(sources, chance.choice(BEAM_SIZES), TARGET_LEN))
        if done >= min(next_note, asked.translations):
            notes.append(
                {"translations": done, "resident_mb": resident_mb(), "seconds": round(time.monotonic() - began)}
            )
            print(notes[-1], flush=True)
            next_note = done + asked.translations // 10
    decoder.close()
    report(directory.config.id, notes, decoder.counts())


def report(model: str, notes: Sequence[dict[str, float]], counts: EngineCounts) -> None:
    """Prints what came of it and keeps the raw results."""
    padding = {part: _padding(positions) for part, positions in counts.positions.items()}
    growth = round(100 * (notes[-1]["resident_mb"] / notes[0]["resident_mb"] - 1), 1)
    done = notes[-1]["translations"]
    print(f"after {done:,} translations {growth} % more than after the first {WARM_UP:,}; padding {padding}")
    RESULTS.mkdir(exist_ok=True)
    stored = {
        "model": model,
        "translations": done,
        "growth_percent": growth,
        "padding": padding,
        "shared": counts.shared,
        "notes": notes,
    }
    (RESULTS / "soak.json").write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def _padding(positions: Positions) -> float:
    """What part of them only filled."""
    return round(positions.padding / max(1, positions.real + positions.padding), 3)


def some_words(words: list[str], chance: random.Random) -> str:
    """The first few of ``words``, at least one."""
    return " ".join(words[: chance.randint(1, len(words))])


def resident_mb() -> float:
    """Memory of this process that is not swapped out, in megabytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return round(int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))) / 1000, 1)


if __name__ == "__main__":
    main()
