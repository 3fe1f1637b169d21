"""How many cores this process may use."""

import os
from pathlib import Path

_CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")
# The Python part of a step runs in one thread at a time: more threads than this would wait for each other.
_MOST_ENGINE_THREADS = 4


def usable_cores(cgroup_quota: Path = _CGROUP_QUOTA) -> int:
    """Cores that the scheduler grants: the smaller of CPU affinity and the container's quota, at least 1.

    More threads than the quota allows would all be stopped together as soon as it is used up.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = cgroup_quota.read_text(encoding="ascii").split()
        return max(1, min(cores, int(quota) // int(period)))
    except (OSError, ValueError):  # no such control group, or "max": no quota
        return cores


def engine_threads(cores: int) -> int:
    """How many batches are best stepped at the same time: steps of a small model do not gain from sharing one."""
    return min(cores, _MOST_ENGINE_THREADS)
