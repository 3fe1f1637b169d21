import re
from pathlib import Path

import annotated_types
from pydantic.fields import FieldInfo

from app.settings import ENVIRONMENT_PREFIX, Settings

README = Path(__file__).parent.parent / "README.md"


def settings_table() -> str:
    """The README's table of settings, made from the class: ``python -m tests.test_readme_settings`` prints it."""
    rows = ["| Variable | Default | Allowed | Meaning |", "|---|---|---|---|"]
    for name, field in Settings.model_fields.items():
        cells = (f"`{ENVIRONMENT_PREFIX}{name.upper()}`", default(name, field), allowed(field), field.description)
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


def default(name: str, field: FieldInfo) -> str:
    return "`model/pretrained/en-fr`" if name == "model" else f"`{field.default}`"


def allowed(field: FieldInfo) -> str:
    choices = getattr(field.annotation, "__args__", ())
    if choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    least = most = ""
    for bound in field.metadata:
        match bound:
            case annotated_types.Ge():
                least = f"{bound.ge} to "
            case annotated_types.Gt():
                least = f"above {bound.gt}, to "
            case annotated_types.Le():
                most = f"{bound.le:,}"
    return f"{least}{most}" if most else "any"


def test_readme_has_the_settings_of_the_class() -> None:
    found = re.search(r"^\| Variable \|.*?(?=\n\n|\Z)", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    assert found[0].strip() == settings_table()


if __name__ == "__main__":
    print(settings_table())
