"""The turns of those who want PNG: a few are drawn at once, a few more wait, the others are refused."""

import asyncio
import contextlib
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence

from app.attention.drawing import Drawing
from app.attention.png import COMMAND, SECONDS, not_started, picture_input, picture_of
from app.errors import DeadlineExceeded, QueueFull

AT_ONCE = 2
WAITING = 16
"""Most who wait; each holds what it wants drawn."""


class PngQueue:
    """Draws at most ``AT_ONCE`` pictures at once, in a process each; the processes of those who leave are killed."""

    def __init__(self, seconds: float = SECONDS, waiting: int = WAITING) -> None:
        """An empty queue.

        Args:
            seconds: longest time for drawing one picture; with the wait before it twice that.
            waiting: most who wait.
        """
        self._seconds = seconds
        self._most_waiting = waiting
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._inside = 0

    def check_room(self) -> None:
        """Passes where one more may wait.

        Raises:
            QueueFull: too many wait.
        """
        if self._inside >= AT_ONCE + self._most_waiting:
            raise QueueFull(self._inside - AT_ONCE, self._most_waiting, "pictures")

    async def draw(self, drawings: Callable[[], Sequence[Drawing]]) -> bytes:
        """What ``drawings`` returns as PNG; it is called in a thread when it is their turn.

        Raises:
            QueueFull: too many wait.
            TooLarge: it has too many pixels.
            PngUnavailable: every font, or one for some character, is not installed.
            DeadlineExceeded: it, or others before it, took too long.
            PngFailed: it could not be drawn.
        """
        self.check_room()
        self._inside += 1
        try:
            async with asyncio.timeout(2 * self._seconds), self._turns:
                svg = await asyncio.to_thread(lambda: picture_input(drawings()))
                return await self._in_process(svg)
        except TimeoutError:
            raise DeadlineExceeded(2 * self._seconds) from None
        finally:
            self._inside -= 1

    async def _in_process(self, svg: bytes) -> bytes:
        try:
            process = await asyncio.create_subprocess_exec(*COMMAND, stdin=PIPE, stdout=PIPE, stderr=PIPE)
        except OSError as error:
            raise not_started(error) from error
        try:
            async with asyncio.timeout(self._seconds):
                output, told = await process.communicate(svg)
        except TimeoutError:
            raise DeadlineExceeded(self._seconds) from None
        finally:
            await _end(process)
        assert process.returncode is not None
        return picture_of(process.returncode, output, told)


async def _end(process: Process) -> None:
    """Kills it where it still runs, and returns when it is no more."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    # Not ``wait``: that also waits for the ends of its pipes, which come only to those who read them.
    await process.communicate()
