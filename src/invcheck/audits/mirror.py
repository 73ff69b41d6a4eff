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
    10,000 entries, are links themselves, into which `os.walk` does not go. So is a folder that may not be listed; where that is
    the one around the project, nothing stands beside it.
    """
    from tempfile import TemporaryDirectory  # noqa: PLC0415  # only an audit makes one

    with TemporaryDirectory(prefix="invcheck-") as folder:
        above = Path(folder)
        beside = [entry for entry in _listed(root.parent) or () if entry.path != str(root)]
        for entry in beside if len(beside) <= _BESIDE else ():
            (above / entry.name).symlink_to(entry.path)
        inside = above / NAME
        if inside.is_symlink():
            inside.unlink()
        _put(root, inside, iter(range(_MOST)))
        yield inside


def _put(real: Path, made: Path, left: Iterator[int]) -> None:
    """Make a folder of links, or a link where the real one may not be listed."""
    entries = _listed(real)
    if entries is None:
        made.symlink_to(real)
        return
    made.mkdir()
    for entry in entries:
        if entry.name == _NEVER:
            continue
        target = made / entry.name
        small = next(left, None) is not None
        if small and entry.is_dir(follow_symlinks=False) and entry.name not in _WHOLE:
            _put(Path(entry.path), target, left)
        else:
            target.symlink_to(entry.path)


def _listed(folder: Path) -> list[os.DirEntry[str]] | None:
    """What stands in a folder by its names, None where it may not be listed: an app that runs there cannot list it either."""
    try:
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return None
