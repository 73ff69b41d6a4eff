"""The number of the process, as an app asks for it: set by an audit, since the kernel lets nobody choose it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from sys import _getframe as frame_at

_getpid, _getppid, _kill = os.getpid, os.getppid, os.kill
_NUMBERS = (4_200_117, 4_200_344, 4_200_813)
"""Above 4,194,304, which no process has (proc(5), pid_max): who sends a signal to one by another way hits nobody."""

_TRUE = frozenset({"asyncio", "concurrent", "invcheck", "multiprocessing", "psutil", "signal", "subprocess"})
"""Packages that need the real one, since they deal with processes."""


@contextmanager
def numbered(way: int | None) -> Iterator[None]:
    """Give this process, and its parent, made-up numbers until the block is left; ``way`` is None or one of two others.

    A child has its real numbers, and libraries that deal with processes are told the real ones.
    """
    process, number = _getpid(), _NUMBERS[0 if way is None else way + 1]

    def told(real: int, made_up: int) -> int:
        package = str(frame_at(2).f_globals.get("__name__")).partition(".")[0]
        return real if _getpid() != process or package in _TRUE else made_up

    def getpid() -> int:
        return told(_getpid(), number)

    def getppid() -> int:
        return told(_getppid(), number - 1)

    def kill(pid: int, signal: int, /) -> None:
        _kill(process if pid == number else pid, signal)

    _put(getpid, getppid, kill)
    try:
        yield
    finally:
        _put(_getpid, _getppid, _kill)


def _put(getpid: object, getppid: object, kill: object) -> None:
    for name, function in (("getpid", getpid), ("getppid", getppid), ("kill", kill)):
        setattr(os, name, function)
