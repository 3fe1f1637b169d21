"""The count of parts that do not stay as they are, on models whose answers are known."""

from pathlib import Path

import pytest

from app.engine.step_model import StepModel
from app.text.tokenizer import Tokenizer
from model import parts
from model.parts import KINDS, changed_parts, fault_of, sentences, table
from model.scoring import Direction
from tests.scripted_world import World


@pytest.mark.parametrize(
    ("translation", "fault"),
    [
        ("Le {a} et le {b} dorment.", None),
        ("Le {b} et le {a} dorment.", "swapped"),
        ("Le {a} et le { b} dorment.", "changed"),
        ("Le {a} dort. {b}", "misplaced"),
        ("{a} dort {b}.", "misplaced"),
    ],
)
def test_faults(translation: str, fault: str | None) -> None:
    assert fault_of(translation, ("{a}", "{b}")) == fault


def test_no_frame_is_faulty_by_itself() -> None:
    for kind in KINDS:
        for language in (0, 1):
            drawn = sentences(kind, language, 60)
            assert {fault_of(text, found) for text, found in drawn} == {None}
            assert {found for _, found in drawn} == set(kind.parts)


def test_a_model_that_repeats_its_source_changes_nothing(world: World, tiny_tokenizer: Path) -> None:
    model: StepModel = world.model
    found = changed_parts(model, Tokenizer(tiny_tokenizer), Direction("en", "fr"))
    assert [one.kind for one in found] == [kind.name for kind in KINDS]
    assert not any(one.faults or one.examples for one in found)


def test_a_silent_model_leaves_the_sentence_and_a_forgetful_one_is_found_out(
    world: World, tiny_tokenizer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "translate_lines", lambda *_: ["Rien."] * 120)
    found = changed_parts(world.model, Tokenizer(tiny_tokenizer), Direction("en", "fr"))
    assert all(one.faults == {"changed": 120} for one in found)
    written = table([found], [Direction("en", "fr")])
    assert "| placeholders | 120 | 120, 0, 0 |" in written
    assert "`Rien.`" in written
