"""Memory that is freed goes back to the operating system."""

import ctypes
import os

# From malloc.h. Setting it also ends glibc's habit of raising it to the size of whatever was freed last.
_M_MMAP_THRESHOLD = -3
_LARGE_BYTES = 1 << 20


def return_freed_memory() -> bool:
    """Gives arrays of a mebibyte and more pages of their own, which go back when they are freed.

    By itself glibc soon keeps arrays of up to 32 MiB in the heaps of its threads: caches that grow, shrink and move
    leave holes there, half as large as all that is in use. Nothing changes without glibc, or where
    ``MALLOC_MMAP_THRESHOLD_`` is set.

    Returns:
        Whether anything was changed.
    """
    if "MALLOC_MMAP_THRESHOLD_" in os.environ:
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES))
    except (OSError, AttributeError, TypeError):  # another C library, or none that can be asked
        return False
