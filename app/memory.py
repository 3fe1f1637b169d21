"""Memory that is freed goes back to the operating system."""

import ctypes
import os

# From malloc.h.
_M_MMAP_THRESHOLD = -3
# Pages that come and go cost time: measured, none from 256 KiB up, some 8 % of decoding at 128 KiB.
_LARGE_BYTES = 512 * 1024


def return_freed_memory() -> bool:
    """Gives arrays of 512 KiB and more pages of their own, which go back when they are freed.

    glibc begins with 128 KiB, but raises that to the size of whatever was freed, up to 32 MiB: soon the engine's
    caches, which grow, shrink and move, lie in the heaps of its threads and leave holes there, half as large as all
    that is in use. Nothing changes without glibc, or where the environment sets this threshold.

    Returns:
        Whether anything was changed.
    """
    if "MALLOC_MMAP_THRESHOLD_" in os.environ or "mmap_threshold" in os.environ.get("GLIBC_TUNABLES", ""):
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES))
    except (OSError, AttributeError, TypeError):  # another C library, or none that can be asked
        return False
