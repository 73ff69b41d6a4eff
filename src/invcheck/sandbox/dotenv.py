"""Files of variables, such as ``.env``: who opens one in a trial, or while the app is imported, brings this machine's settings in."""

from __future__ import annotations

import os
from sys import _getframe as frame_at
from types import FrameType

from invcheck.record import Record, current
from invcheck.sandbox import ambient, network

_imported: set[tuple[str, str]] = set()


def install() -> None:
    """Judge what is opened, beside what the gate judges: it is noted, and never refused."""
    network.JUDGES["open"] = opened


def opened(path: object, _mode: object, flags: int) -> None:
    """Note that a file of variables is opened to be read; called from the audit hook, for every file that is opened.

    A read while something is imported is every trial's from then on, since all of them run with what it left.
    """
    if (".env" in path) if path.__class__ is str else not isinstance(path, int):
        file = os.fsdecode(path)  # type: ignore[arg-type]  # whatever was opened is a path
        if named(file) and flags & os.O_ACCMODE != os.O_WRONLY and network.holds():
            _note(os.path.abspath(file), frame_at(1))  # noqa: PTH100  # pathlib is not loaded for this


def named(file: str) -> bool:
    """Say whether a path is called as files of variables are.

    >>> named("app/.env"), named(".env.local"), named("prod.env"), named(".env/bin/python"), named(".envrc")
    (True, True, True, False, False)
    """
    name = file.rpartition("/")[2]
    return name.endswith(".env") or name.startswith(".env.")


def begin(record: Record) -> None:
    """Enter what was read while the app was imported into the record of a trial that begins."""
    for source, where in sorted(_imported):
        record.read(source, where)


def _note(file: str, frame: FrameType) -> None:
    found, held = ambient.nearest(frame), current()
    if found is None:
        return  # a library's own, which nothing of the project asked for
    read = f"dotenv:{ambient.relative(file) or file.rpartition('/')[2]}", found[0]
    if ambient.importing(frame):
        _imported.add(read)
    if held is not None:
        held.read(*read)
