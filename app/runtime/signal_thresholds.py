"""When a model gives hints: the thresholds that ``python -m model.calibrate`` measured and wrote beside it."""

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Any

from app.errors import ModelDirectoryError
from app.runtime.model_directory import SIGNALS_FILE, ModelDirectory


@dataclass(frozen=True)
class MeasuredThresholds:
    """Of one direction, by the name of the signal that each is for."""

    ignored_source: float
    unsourced_target: float
    low_logprob: float


_NAMES = tuple(field.name for field in dataclasses.fields(MeasuredThresholds))


def read_signal_thresholds(directory: ModelDirectory) -> dict[tuple[str, str], MeasuredThresholds]:
    """Thresholds of every direction that was measured; empty where there is no such file.

    Raises:
        ModelDirectoryError: the file is not as ``model.calibrate`` writes it, with every fault.
    """
    path = directory.file(SIGNALS_FILE)
    if not path.is_file():
        return {}
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelDirectoryError(directory.path, [f"{SIGNALS_FILE} is not JSON: {error}"]) from None
    if not isinstance(stored, dict):
        raise ModelDirectoryError(directory.path, [f"{SIGNALS_FILE} is not an object"])
    directions = {f"{source}-{target}": (source, target) for source, target in directory.config.directions}
    faults = [f"{SIGNALS_FILE}: the model has no direction {name}" for name in stored if name not in directions]
    found = {name: _thresholds(name, stored[name], faults) for name in directions if name in stored}
    if faults:
        raise ModelDirectoryError(directory.path, [*faults, f"write {SIGNALS_FILE} anew with model.calibrate"])
    return {directions[name]: MeasuredThresholds(**thresholds) for name, thresholds in found.items()}


def _thresholds(direction: str, report: Any, faults: list[str]) -> dict[str, float]:
    """By name; where one cannot be read the fault is added."""
    found: dict[str, float] = {}
    for name in _NAMES:
        value = _inner(report, "signals", name, "threshold")
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            found[name] = float(value)
        else:
            told = "is missing" if value is None else f"is no number but {value!r}"
            faults.append(f"{SIGNALS_FILE}: {direction}.signals.{name}.threshold {told}")
    return found


def _inner(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
