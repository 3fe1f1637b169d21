"""The small arrays that the host and a decoder-step graph exchange at every step."""

from typing import Any

import numpy as np
import numpy.typing as npt

from app.engine.step_model import Candidates, Int64
from app.runtime import names
from app.runtime.source_memory import bind_array


class StepExchange:
    """What is fed and what comes back, of as many rows and candidates as do not change for a while.

    On the CPU the graph reads and writes these arrays where they lie, so they are bound once. For another device
    binding is what copies an input there, so inputs are bound anew at every step.

    Attributes:
        binding: of these arrays, and of all that its maker has bound to it.
        k: candidates per row.
    """

    def __init__(self, binding: Any, past_len: npt.NDArray[np.int32], order: Int64, k: int, on_host: bool) -> None:
        """``past_len [rows]``: positions fed so far; ``order [rows]``: where the caller's rows lie."""
        rows = len(past_len)
        self.binding = binding
        self.k = k
        self._past_len = past_len
        self._order = slice(None) if (order == np.arange(rows)).all() else order
        self._on_host = on_host
        self._last_ids = np.empty(rows, np.int64)
        self._total_len = np.zeros((), np.int32)
        self._k = np.array([k], np.int64)
        self._ids = np.empty((rows, k), np.int64)
        self._log_probs = np.empty((rows, k), np.float32)
        for name, array in ((names.CANDIDATE_IDS, self._ids), (names.CANDIDATE_LOG_PROBS, self._log_probs)):
            binding.bind_output(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
        self._bind_inputs()

    def feed(self, last_ids: Int64, total_len: int) -> None:
        """The next piece of every row; ``total_len``: positions of the longest row with it."""
        self._last_ids[self._order] = last_ids
        self._total_len[()] = total_len
        if not self._on_host:
            self._bind_inputs()

    def candidates(self) -> Candidates:
        """What came back; every row now stands one position further. The next step overwrites it."""
        self._past_len += 1
        return Candidates(self._ids[self._order], self._log_probs[self._order])

    def _bind_inputs(self) -> None:
        bind_array(self.binding, names.LAST_IDS, self._last_ids)
        bind_array(self.binding, names.PAST_LEN, self._past_len)
        bind_array(self.binding, names.TOTAL_LEN, self._total_len)
        bind_array(self.binding, names.K, self._k)
