"""Freed arrays leave the process; each case in a process of its own."""

import os
import platform
import subprocess
import sys

import pytest

# A large array that comes and goes teaches glibc to keep large ones; then every second of many is freed.
PROGRAM = """
import numpy as np
from pathlib import Path
from app.memory import return_freed_memory

def resident_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

changed = return_freed_memory()
large = np.ones(3_000_000)
del large
before = resident_mb()
arrays = [np.ones(200_000) for _ in range(100)]
del arrays[::2]
print(int(changed), resident_mb() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has the setting")
@pytest.mark.parametrize("own_choice", [False, True])
def test_freed_arrays_leave_the_process(own_choice: bool) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    if own_choice:
        environment["MALLOC_MMAP_THRESHOLD_"] = str(32 << 20)
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    changed, kept_mb = done.stdout.split()
    assert bool(int(changed)) is not own_choice
    # Fifty arrays of 1.6 MB stay, fifty are gone: with heaps their pages remain.
    assert (float(kept_mb) < 100) is not own_choice


def test_what_lives_as_long_as_the_process_is_not_looked_through_again() -> None:
    program = (
        "import gc; from app.memory import collect_seldom; kept = [[] for _ in range(9_000)]; collect_seldom(); "
        "print(gc.get_freeze_count(), len(gc.get_objects()), gc.isenabled(), gc.get_threshold()[0])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    frozen, looked_through, enabled, threshold = done.stdout.split()
    assert int(frozen) > 9_000
    assert int(looked_through) < 1_000
    assert enabled == "True"
    assert int(threshold) > 10_000
