"""What the gate is made of stands still: exact versions of tools and dependencies, and the Pythons that are supported."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LINES = (ROOT / ".ci" / "constraints.txt").read_text(encoding="utf-8").splitlines()
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
PYTHONS = ["3.11", "3.12", "3.13"]


def test_a_pin_is_a_name_and_a_version() -> None:
    """Versions only: no address, no range, no option, each name once, in order."""
    names = [re.fullmatch(r"([a-z0-9-]+)==[0-9][0-9.]*(\.?post[0-9]+)?", line) for line in LINES]
    assert all(names)
    assert [name[1] for name in names if name] == sorted({name[1] for name in names if name})


@pytest.mark.parametrize("text", [*PROJECT["dependencies"], *(each for extra in EXTRAS.values() for each in extra)])
def test_every_requirement_is_pinned_to_a_version_that_it_allows(text: str) -> None:
    """A new release of a tool or of a dependency turns the gate red only in the commit that takes it."""
    requirement = Requirement(text)
    pins = dict(line.split("==") for line in LINES)
    assert pins[canonicalize_name(requirement.name)] in requirement.specifier


def test_the_gate_uses_the_pins() -> None:
    """The README's command for our own tests, the gate around it, and the environments of other Pythons."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert ".venv/bin/pip install -q -c .ci/constraints.txt -e '.[test]'" in readme
    assert "export PIP_CONSTRAINT=.ci/constraints.txt" in (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert "-c .ci/constraints.txt '.[checks]'" in (ROOT / ".ci/same-bytes").read_text(encoding="utf-8")


def test_a_python_that_is_not_there_is_told() -> None:
    """The comparison of bytes says which of the promised Pythons it could not try."""
    text = (ROOT / ".ci/same-bytes").read_text(encoding="utf-8")
    loop = "tried" + text.partition("\ntried")[2].replace(
        '"$HOME"/.pyenv/versions/3.1[1-3].*/bin/python $(command -v python3.11 python3.12 python3.13 || true)', ""
    )
    done = subprocess.run(["bash", "-euc", loop.replace('tried=""', 'tried=" 3.12"')], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        f"SKIPPED: there is no Python {version} here, its bytes were not compared" for version in ("3.11", "3.13")
    ]


def test_the_pythons_that_are_promised_are_those_that_are_tested() -> None:
    """Metadata, gate and README name the same versions; the next one is refused until it was tried."""
    listed = [name.rpartition(" ")[2] for name in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d", name)]
    matrix = re.search(r"python: (\[.*\])", (ROOT / ".github/workflows/gate.yml").read_text(encoding="utf-8"))
    assert matrix is not None
    assert listed == tomllib.loads(f"python = {matrix[1]}")["python"] == PYTHONS
    assert PROJECT["requires-python"] == ">=3.11,<3.14"
    for name in ("README.md", ".github/CONTRIBUTING.md"):
        assert "Python 3.11, 3.12 or 3.13" in " ".join((ROOT / name).read_text(encoding="utf-8").split())
