import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.__main__ import main
from app.cores import usable_cores
from app.settings import Settings, UnknownSetting, settings_from_environment


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "65536"),
        ("port", "http"),
        ("precision", "int4"),
        ("provider", "tpu"),
        ("threads", "-1"),
        ("beam_size", "65"),
        ("max_beam_size", "0"),
        ("deadline_seconds", "0"),
        ("log_level", "loud"),
    ],
)
def test_bounds(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"VITRAIL_{name.upper()}", value)
    with pytest.raises(ValidationError, match=name):
        settings_from_environment()


def test_values_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VITRAIL_PORT", "9000")
    monkeypatch.setenv("VITRAIL_MODEL", "/models/en-de")
    settings = settings_from_environment()
    assert (settings.port, settings.model) == (9000, Path("/models/en-de"))


def test_unknown_name_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VITRAIL_BEAMSIZE", "4")
    with pytest.raises(UnknownSetting, match="VITRAIL_BEAMSIZE"):
        settings_from_environment()


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().port = 1  # type: ignore[misc]


@pytest.mark.parametrize("values", [{"max_batch_rows": 8}, {"beam_size": 17}])
def test_beams_must_fit(values: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match="above max_"):
        Settings.model_validate(values)


def test_every_setting_is_described() -> None:
    assert all(field.description for field in Settings.model_fields.values())


def test_every_setting_is_used() -> None:
    code = "".join(Path("app", name).read_text(encoding="utf-8") for name in ("main.py", "__main__.py"))
    used = set(re.findall(r"settings\.([a-z_]+)", code))
    assert set(Settings.model_fields) - used == set()


def test_wrong_setting_ends_the_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("VITRAIL_PORT", "x")
    assert main() == 2
    assert "VITRAIL_PORT: " in capsys.readouterr().err


def test_model_that_cannot_be_opened_ends_the_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("VITRAIL_MODEL", str(tmp_path / "none"))
    assert main() == 1
    told = capsys.readouterr().err.splitlines()
    assert told[0] == f"{tmp_path / 'none'} cannot be served:"
    assert len(told) > 1
    assert "Traceback" not in told


@pytest.mark.parametrize(("quota", "most"), [("100000 100000", 1), ("50000 100000", 1), ("max 100000", 10_000)])
def test_cores_of_a_container(quota: str, most: int, tmp_path: Path) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(quota)
    assert 1 <= usable_cores(file) <= most


def test_help_lists_every_setting_and_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    told = capsys.readouterr().out
    assert all(f"VITRAIL_{name.upper()}: " in told for name in Settings.model_fields)


def test_a_value_that_is_not_allowed_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VITRAIL_PORT", "99999")
    assert main() == 2
    assert "VITRAIL_PORT: " in (told := capsys.readouterr().err)
    assert "not '99999'" in told
