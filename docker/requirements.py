"""Prints what pyproject.toml requires, for pip: ``python docker/requirements.py cpu dev``.

Vitrail runs from its folder and is not itself installed; pip cannot yet install only the dependencies of a
project.
"""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
for requirement in project["dependencies"]:
    print(requirement)
for extra in sys.argv[1:]:
    for requirement in project["optional-dependencies"][extra]:
        print(requirement)
