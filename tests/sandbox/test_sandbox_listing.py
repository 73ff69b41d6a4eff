"""The order in which folders are listed, as an audit sets it."""
# ruff: noqa: PTH119, PTH207, PTH208  # every way to list is what is tested

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from invcheck.sandbox import listing

NAMES = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / name).write_text("", encoding="utf-8")
    return tmp_path


def scanned(folder: Path) -> list[str]:
    """By the iterator, as a context."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


LISTERS: dict[str, Callable[[Path], list[str]]] = {
    "os.listdir": lambda folder: os.listdir(folder),  # noqa: PLW0108  # looked up when it is called
    "scandir": scanned,
    "glob": lambda folder: [os.path.basename(name) for name in glob.glob(f"{folder}/*.txt")],
    "iterdir": lambda folder: [path.name for path in folder.iterdir()],
    "Path.glob": lambda folder: [path.name for path in folder.glob("*.txt")],
    "rglob": lambda folder: [path.name for path in folder.rglob("*.txt")],
    "walk": lambda folder: next(os.walk(folder))[2],
}


@pytest.mark.parametrize("lister", LISTERS)
def test_folders_are_listed_in_the_order_that_is_set(lister: str, folder: Path) -> None:
    """By name, backwards, or in an order that is neither; always the same one."""
    ask = LISTERS[lister]
    with listing.ordered(None):
        assert ask(folder) == NAMES
    with listing.ordered(0):
        assert ask(folder) == NAMES[::-1]
    with listing.ordered(1):
        third = ask(folder)
        assert ask(folder) == third
    assert sorted(third) == NAMES
    assert third not in (NAMES, NAMES[::-1])


def test_names_are_bytes_where_the_folder_is(folder: Path) -> None:
    """As `os.listdir` has it."""
    with listing.ordered(0):
        assert os.listdir(os.fsencode(folder)) == [os.fsencode(name) for name in NAMES[::-1]]


def test_what_lists_a_folder_works_as_before(folder: Path) -> None:
    """An iterator that is closed gives no more, a folder that is missing raises, and a tree can be removed."""
    with listing.ordered(0):
        entries: Any = os.scandir(folder)
        assert next(entries).name == "e.txt"
        entries.close()
        assert list(entries) == []
        with pytest.raises(FileNotFoundError):
            os.listdir(folder / "none")
        with pytest.raises(FileNotFoundError):
            os.scandir(folder / "none")
        shutil.rmtree(folder)
    assert not folder.exists()


def test_the_real_order_comes_back(folder: Path) -> None:
    """Also where `glob` had taken the function along."""
    real = os.listdir, os.scandir
    with listing.ordered(0):
        assert os.listdir is not real[0]
    assert (os.listdir, os.scandir) == real
    assert sorted(LISTERS["Path.glob"](folder)) == NAMES


def test_a_class_that_has_taken_the_function_along_lists_in_that_order(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of `glob` have from Python 3.13 on, whatever they are called."""
    kind: Any = type("Lister", (), {"scandir": staticmethod(os.scandir)})
    monkeypatch.setattr(glob, "_Lister", kind, raising=False)
    with listing.ordered(0):
        assert [entry.name for entry in kind.scandir(folder)] == NAMES[::-1]
    assert kind.scandir is os.scandir
