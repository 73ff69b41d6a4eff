"""Another folder that holds what the project holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from invcheck.audits import mirror
from invcheck.audits.mirror import mirrored


def refuse(monkeypatch: pytest.MonkeyPatch, *shut: Path) -> None:
    """Let folders be listed as their owner has shut them; who runs as root lists them all the same, so the system's answer is played."""
    real = os.scandir

    def scandir(folder: Path | int) -> object:  # `shutil.rmtree` lists descriptors
        if folder in shut:
            raise PermissionError(13, "Permission denied", str(folder))
        return real(folder)

    monkeypatch.setattr(os, "scandir", scandir)


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


def test_a_folder_that_may_not_be_listed_is_a_link(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one of another user with mode 700: it is there, what else the project holds is there, and nothing is raised."""
    refuse(monkeypatch, project / "app/data")
    with mirrored(project) as folder:
        assert (folder / "app/data").readlink() == project / "app/data"
        assert (folder / "app/qa.py").read_text(encoding="utf-8") == "app/qa.py"
        assert not (folder / "app").is_symlink()


def test_nothing_stands_beside_where_the_folder_around_may_not_be_listed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The project itself is copied all the same."""
    refuse(monkeypatch, project.parent)
    with mirrored(project) as folder:
        assert [path.name for path in folder.parent.iterdir()] == [mirror.NAME]
        assert (folder / "app/data/a.txt").read_text(encoding="utf-8") == "app/data/a.txt"
