"""Another folder that holds what the project holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from invcheck.audits import mirror
from invcheck.audits.mirror import mirrored


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    for name in ("app/data", ".venv/bin", "app/__pycache__"):
        (root / name).mkdir(parents=True)
    for name in ("app/qa.py", "app/data/a.txt", ".venv/bin/python", "app/__pycache__/qa.pyc", "pyproject.toml"):
        (root / name).write_text(name, encoding="utf-8")
    (tmp_path / "beside.txt").write_text("beside", encoding="utf-8")
    return root


def files(folder: Path) -> dict[str, str]:
    """Every file below a folder as `os.walk` finds it, with its text."""
    found = [Path(above, name) for above, _, names in os.walk(folder) for name in names]
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in found}


def test_it_holds_what_the_project_holds(project: Path) -> None:
    """Folders are folders, files are the project's own; what Python has compiled is left out."""
    with mirrored(project) as folder:
        assert files(folder) == {name: name for name in ("app/qa.py", "app/data/a.txt", "pyproject.toml")}
        assert Path(os.path.realpath(folder)) != project
        (folder / "app/data/a.txt").write_text("new", encoding="utf-8")
    assert (project / "app/data/a.txt").read_text(encoding="utf-8") == "new"
    assert not folder.exists()


def test_folders_of_tools_are_links(project: Path) -> None:
    """What is in them is there, and is not made anew."""
    with mirrored(project) as folder:
        assert (folder / ".venv").is_symlink()
        assert (folder / ".venv/bin/python").read_text(encoding="utf-8") == ".venv/bin/python"


def test_what_stands_beside_stands_beside(project: Path) -> None:
    """A path that leads out of the project and back in leads to the same."""
    with mirrored(project) as folder:
        assert (folder / "../beside.txt").read_text(encoding="utf-8") == "beside"


def test_a_neighbour_of_its_name_gives_way(project: Path) -> None:
    """It is the project that must be there."""
    (project.parent / mirror.NAME).mkdir()
    with mirrored(project) as folder:
        assert (folder / "pyproject.toml").is_file()


def test_a_very_large_project_ends_in_links(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many entries a folder is one."""
    monkeypatch.setattr(mirror, "_MOST", 2)
    with mirrored(project) as folder:
        assert (folder / "app/data").is_symlink()
        assert (folder / "app/data/a.txt").read_text(encoding="utf-8") == "app/data/a.txt"


def test_a_crowd_beside_the_project_is_left_out(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a folder for temporary files."""
    monkeypatch.setattr(mirror, "_BESIDE", 0)
    with mirrored(project) as folder:
        assert [path.name for path in folder.parent.iterdir()] == [mirror.NAME]
