"""Who may import what: the design's table, read from the source itself."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = ("app", "model", "export")
TRAINING_ONLY = {"torch", "model", "export", "sacrebleu", "onnx", "transformers", "ctranslate2"}

# Package (or module) to everything outside the standard library and itself that it may import.
ALLOWED = {
    "app.errors": set[str](),
    "app.cores": set[str](),
    "app.text": {"sentencepiece", "sentencex"},
    "app.engine": {"numpy", "app.errors"},
    "app.attention": {"numpy", "resvg_py", "app.errors", "app.engine.step_model"},
    "app.explanation": {"app.attention", "app.engine.hypotheses", "app.text"},
    "app.answer_room": {"app.attention", "app.errors", "app.explanation"},
    "app.explainer": {
        "numpy",
        "app.answer_room",
        "app.attention",
        "app.crew",
        "app.engine.step_model",
        "app.errors",
        "app.explanation",
        "app.reading_ahead",
        "app.text",
    },
    "app.places": {"app.errors"},
    "app.pairing": {"app.engine.step_model", "app.errors", "app.explainer", "app.explanation", "app.text"},
    "app.abandonable": set[str](),
    "app.crew": set[str](),
    "app.lanes": set[str](),
    "app.reading_ahead": {"app.crew", "app.engine.step_model"},
    "app.memory": set[str](),
    "app.metrics": {"app.engine.counts"},
    "app.muted_search": {"app.abandonable", "app.engine"},
    "app.runtime": {"numpy", "onnxruntime", "app.errors", "app.engine.step_model"},
    "app.translation": {"app.engine.hypotheses", "app.attention.alignment", "app.explanation", "app.text"},
    "app.translator": {
        "app.text",
        "app.engine",
        "app.abandonable",
        "app.attention",
        "app.errors",
        "app.explainer",
        "app.explanation",
        "app.lanes",
        "app.muted_search",
        "app.pairing",
        "app.places",
        "app.reading",
        "app.reading_ahead",
        "app.streaming",
        "app.translation",
        "app.writing",
    },
    "app.streaming": {"app.engine.hypotheses", "app.text"},
    "app.reading": {"app.text"},
    "app.writing": {"app.engine.hypotheses", "app.explainer", "app.reading", "app.text", "app.translation"},
}
FORBIDDEN = {
    "app": TRAINING_ONLY,
    "app.api": {"app.engine", "app.runtime", "app.text", "onnxruntime"},
    "app.web": {"app.engine", "app.runtime", "app.text", "app.translator", "app.attention"},
    "model": {"export", "onnx", "app.api", "app.translator", "app.main", "app.settings", "fastapi"},
    "export": {"app.api", "app.translator", "app.main", "app.settings", "fastapi"},
}


def modules() -> Iterator[tuple[str, Path]]:
    for package in OURS:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), path


def imports(source: str) -> set[str]:
    """Absolute names of everything that a module imports, wherever in the module it does so."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def within(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def faults(module: str, imported: set[str]) -> list[str]:
    outside = {name for name in imported if name.split(".")[0] not in sys.stdlib_module_names}
    found = []
    for package, allowed in ALLOWED.items():
        if within(module, {package}):
            found += [f"{module} imports {name}" for name in outside if not within(name, allowed | {package})]
    for package, forbidden in FORBIDDEN.items():
        if within(module, {package}):
            found += [f"{module} imports {name}" for name in outside if within(name, forbidden)]
    return sorted(found)


def test_nothing_is_imported_against_the_flow() -> None:
    found = [fault for module, path in modules() for fault in faults(module, imports(path.read_text(encoding="utf-8")))]
    assert found == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("app.engine.search", "import onnxruntime"),
        ("app.engine.search", "from app import text"),
        ("app.runtime.graphs", "def late():\n    from app.engine.search import start_search"),
        ("app.translator", "from app.api.schemas import Answer"),
        ("app.api.translate", "from app.engine.engine import Engine"),
        ("app.main", "import torch.nn"),
        ("app.settings", "from model.config import RunConfig"),
        ("model.train", "import export.graphs"),
    ],
)
def test_a_breach_of_the_table_is_found(module: str, source: str) -> None:
    assert faults(module, imports(source))
