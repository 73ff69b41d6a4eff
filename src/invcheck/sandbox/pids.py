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

_process = _number = 0


@contextmanager
def numbered(way: int | None) -> Iterator[None]:
    """Give this process, and its parent, made-up numbers until the block is left; ``way`` is None or one of two others.

    A child has its real numbers, and libraries that deal with processes are told the real ones.
    """
    global _process, _number  # one audit per process
    before = _process, _number, os.getpid, os.getppid, os.kill
    _process, _number = _getpid(), _NUMBERS[0 if way is None else way + 1]
    _put(getpid, getppid, kill)
    try:
        yield
    finally:
        _process, _number = before[:2]
        _put(*before[2:])


def getpid() -> int:
    """`os.getpid`, with the number that is set; who took it along while a module was imported has the one that is set now."""
    return _told(_getpid(), _number)


def getppid() -> int:
    """`os.getppid`, likewise."""
    return _told(_getppid(), _number - 1)


def kill(pid: int, signal: int, /) -> None:
    """`os.kill`, which knows the process by its made-up number as well."""
    _kill(_process if _process and pid == _number else pid, signal)


def _told(real: int, made_up: int) -> int:
    package = str(frame_at(2).f_globals.get("__name__")).partition(".")[0]
    return real if _getpid() != _process or package in _TRUE else made_up


def _put(*functions: object) -> None:
    for name, function in zip(("getpid", "getppid", "kill"), functions, strict=True):
        setattr(os, name, function)
