"""Another folder that holds what the project holds, so that an app can be run where it does not stand."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = "elsewhere"
_MOST = 10_000
_BESIDE = 500
_WHOLE = frozenset({".git", ".hg", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox", ".venv", "node_modules", "venv"})
_NEVER = "__pycache__"


@contextmanager
def mirrored(root: Path) -> Iterator[Path]:
    """Give a folder of folders with links to the project's files, gone with the block; what stands beside the project stands beside it.

    A link of a file is that file, to who reads or writes it. Folders of tools, and all of a very large project after its first
    10,000 entries, are links themselves, into which `os.walk` does not go.
    """
    from tempfile import TemporaryDirectory  # noqa: PLC0415  # only an audit makes one

    with TemporaryDirectory(prefix="invcheck-") as folder:
        above = Path(folder)
        beside = [entry for entry in os.scandir(root.parent) if entry.path != str(root)]
        for entry in beside if len(beside) <= _BESIDE else ():
            (above / entry.name).symlink_to(entry.path)
        inside = above / NAME
        if inside.is_symlink():
            inside.unlink()
        inside.mkdir()
        _fill(root, inside, iter(range(_MOST)))
        yield inside


def _fill(real: Path, made: Path, left: Iterator[int]) -> None:
    for entry in sorted(os.scandir(real), key=lambda entry: entry.name):
        if entry.name == _NEVER:
            continue
        target = made / entry.name
        if entry.is_dir(follow_symlinks=False) and entry.name not in _WHOLE and next(left, None) is not None:
            target.mkdir()
            _fill(Path(entry.path), target, left)
        else:
            next(left, None)
            target.symlink_to(entry.path)
