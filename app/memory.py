"""Memory that is freed goes back to the operating system, and is not looked for in vain."""

import ctypes
import gc
import os

# From malloc.h.
_M_MMAP_THRESHOLD = -3
# Pages that come and go cost time: measured, none from 256 KiB up, some 8 % of decoding at 128 KiB.
_LARGE_BYTES = 512 * 1024
# Objects of a large answer are tens of thousands and hold no cycles: looking for some in them every 700 is in vain.
_NEW_OBJECTS = 50_000


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


def collect_seldom() -> None:
    """Makes the search for cycles cheap, once all that lives as long as the process is there.

    What exists now is never looked through again, and what is new only when there is much of it: one to three per
    cent of the CPU time of answers with attention.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
