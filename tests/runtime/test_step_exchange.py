"""What host and graph exchange, with a binding that takes inputs as one for another device does."""

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from app.runtime import names
from app.runtime.step_exchange import StepExchange


class CopyingBinding:
    """Copies inputs when they are bound."""

    def __init__(self) -> None:
        self.inputs: dict[str, npt.NDArray[Any]] = {}

    def bind_input(self, *bound: Any) -> None:
        name, _, _, dtype, shape, pointer = bound
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        self.inputs[name] = np.frombuffer(ctypes.string_at(pointer, size), dtype).reshape(shape)

    def bind_output(self, *bound: Any) -> None:
        """Outputs are written when the session runs, which no test does."""


def test_what_is_fed_reaches_another_device_at_every_step() -> None:
    binding = CopyingBinding()
    exchange = StepExchange(binding, np.array([3, 0], np.int32), np.array([1, 0]), 1, on_host=False)
    for step, fed in enumerate(([7, 8], [9, 10])):
        exchange.feed(np.array(fed), 4 + step)
        assert binding.inputs[names.LAST_IDS].tolist() == fed[::-1]
        assert binding.inputs[names.PAST_LEN].tolist() == [3 + step, step]
        assert binding.inputs[names.TOTAL_LEN] == 4 + step
        exchange.candidates()
