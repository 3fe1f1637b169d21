"""What stands in for the package that draws PNG, in this process and in those that it starts."""

import asyncio
import os
from pathlib import Path

import pytest

from app.attention.drawing import Drawing

_STUB = """
import os, time
def svg_to_bytes(svg_string, style_sheet, log_information):
    os.write(1, {told!r}.encode())
    {then}
    return b"\\x89PNG\\r\\n\\x1a\\n" + svg_string[:4].encode()
"""
PICTURE = b"\x89PNG\r\n\x1a\n<svg"
PLAIN = Drawing("", 40, 20, ())


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, told: str = "", then: str = "pass") -> None:
    """From now on drawing a PNG tells ``told``, does ``then`` and gives ``PICTURE``."""
    (folder / "resvg_py.py").write_text(_STUB.format(told=told, then=then))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.syspath_prepend(str(folder))


def hang(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """From now on drawing a PNG does not end; returns the folder with a file for each process, named by its id."""
    begun = folder / "begun"
    begun.mkdir(exist_ok=True)
    stand_in(folder, monkeypatch, then=f"open({str(begun)!r} + f'/{{os.getpid()}}', 'w').close(); time.sleep(60)")
    return begun


async def processes(begun: Path, count: int) -> list[int]:
    """Their ids once there are ``count``."""
    async with asyncio.timeout(30):
        while len(found := [int(path.name) for path in begun.iterdir()]) < count:
            await asyncio.sleep(0.01)
    return found


def is_running(process: int) -> bool:
    """Whether there is one of this id, be it dead and not reaped."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def ended(process: int) -> None:
    """Returns once there is none of this id, which must be soon."""
    async with asyncio.timeout(5):
        while is_running(process):
            await asyncio.sleep(0.01)
