"""The progress bar of a training run."""

import sys
import time

import torch
from torch import Tensor

_REFRESH_SECONDS = 2.0


class Progress:
    """Tokens per second, loss and time left, one line on a terminal; losses are read only when shown."""

    def __init__(self, total_steps: int, first_step: int) -> None:
        self._total = total_steps
        self._first = self._step = first_step
        self._started = self._shown = time.monotonic()
        self._window_started = self._started
        self._window_pieces = 0
        self._window_nll: list[Tensor] = []

    def advance(self, step: int, pieces: int, nll: Tensor) -> None:
        """Counts one step; ``nll`` may still be on its way on a device."""
        self._step = step
        self._window_pieces += pieces
        self._window_nll.append(nll)
        if sys.stderr.isatty() and time.monotonic() - self._shown > _REFRESH_SECONDS:
            self._shown = time.monotonic()
            print(f"\r{self._line()}", end="", file=sys.stderr, flush=True)

    def mean_nll(self) -> float:
        """Mean training loss since the last ``note``, nats per piece."""
        return torch.stack(self._window_nll).mean().item() if self._window_nll else float("nan")

    def pieces_per_second(self) -> float:
        """Target pieces per second since the last ``note``."""
        return self._window_pieces / max(time.monotonic() - self._window_started, 1e-9)

    def note(self, text: str) -> None:
        """Prints a lasting line and starts a new window."""
        print(f"\r{text}", flush=True)
        self._window_started = time.monotonic()
        self._window_pieces = 0
        self._window_nll = []

    def close(self) -> None:
        """Leaves the bar's line."""
        if sys.stderr.isatty():
            print(file=sys.stderr)

    def _line(self) -> str:
        done = self._step - self._first
        left = (time.monotonic() - self._started) / max(done, 1) * (self._total - self._step)
        filled = round(20 * self._step / self._total)
        bar = "#" * filled + "." * (20 - filled)
        return (
            f"[{bar}] step {self._step:,}/{self._total:,}  nll {self.mean_nll():.3f}  "
            f"{self.pieces_per_second():,.0f} pieces/s  {left / 3600:.1f} h left "
        )
