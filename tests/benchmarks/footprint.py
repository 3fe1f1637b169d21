"""Peak memory and time to import and open of one decoder, in a process of its own."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

TARGET_LEN = 100
BATCH, BEAM_SIZE = 32, 4


def footprint(name: str, model: Path, peer: Path, threads: int, sources: Sequence[Sequence[int]]) -> dict[str, float]:
    """Megabytes at the peak (VmHWM) of decoding ``sources``, and seconds to import and open."""
    command = [sys.executable, "-m", "tests.benchmarks.footprint", name, str(model), str(peer), str(threads)]
    done = subprocess.run(command, input=json.dumps(sources), capture_output=True, text=True, check=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def _measure(name: str, model: Path, peer: Path, threads: int) -> dict[str, float]:
    sources = json.load(sys.stdin)
    batches = [sources[start : start + BATCH] for start in range(0, len(sources), BATCH)]
    began = time.perf_counter()
    # Imported only now: the time counts, and neither decoder carries the other. Serving needs no torch.
    sys.modules["torch"] = None  # type: ignore[assignment]
    from app.text.tokenizer import TOKENIZER_FILE, Tokenizer

    tokenizer = Tokenizer(model / TOKENIZER_FILE)
    if name == "ours":
        from app.runtime.model_directory import open_model_directory
        from tests.benchmarks.our_decoder import OurDecoder

        decode = OurDecoder(open_model_directory(model), threads, 1).translate
    else:
        from tests.benchmarks.ctranslate2_peer import CTranslate2Peer

        decode = CTranslate2Peer(peer, tokenizer, threads, 1).translate
    seconds = time.perf_counter() - began
    for batch in batches:
        decode(batch, BEAM_SIZE, TARGET_LEN)
    status = Path("/proc/self/status").read_text(encoding="ascii")
    kilobytes = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
    return {"open_seconds": round(seconds, 2), "peak_mb": round(kilobytes / 1000, 1)}


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))))
