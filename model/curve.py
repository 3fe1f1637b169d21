"""The training curve as SVG."""

from pathlib import Path


def draw_curve(log: Path, output: Path) -> None:
    """Not yet."""
