"""Python work on texts in threads: long ones in one lane, short ones in another, which never waits for the first."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

_SHORT_CHARACTERS = 2_000


def is_long(characters: int) -> bool:
    """Whether work on so many characters goes into the lane of long texts."""
    return characters > _SHORT_CHARACTERS


class Lanes:
    """One thread for each lane: the interpreter runs one at a time anyway, and shares its time out among them."""

    def __init__(self) -> None:
        self._short = ThreadPoolExecutor(1, "short-texts")
        self._long = ThreadPoolExecutor(1, "long-texts")

    async def run(self, characters: int, work: Callable[[], T]) -> T:
        """What ``work`` on so many characters returns. Cancelled before its turn, it is never done."""
        lane = self._long if is_long(characters) else self._short
        return await asyncio.get_running_loop().run_in_executor(lane, work)
