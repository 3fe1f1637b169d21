"""How many cores this process may use."""

import os
from pathlib import Path

_CGROUP_QUOTA = Path("/sys/fs/cgroup/cpu.max")


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
