"""What stands between the supervisor and a program: it takes in all that the program leaves behind, and ends it.

Where the program gets process numbers of its own, the keeper is the first process among them: with its end the kernel ends
all the others, wherever they went. Elsewhere orphans come back to it (PR_SET_CHILD_SUBREAPER, prctl(2)).
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from select import poll
from typing import NoReturn

from invcheck.gate import confinement, orphans

_PDEATHSIG, _SUBREAPER = 1, 36  # prctl(2)
_DEAF = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE, signal.SIGUSR1, signal.SIGUSR2)


def part(kept: int, ended: int, *, own_pids: bool, leads: bool) -> None:
    """Go on as a child that is to become the program; this process itself stays behind as its keeper, and never returns.

    When the other end of the pipe ``kept`` is closed everything is ended. How the program ended is written to ``ended`` as
    its wait status. ``own_pids`` says that the next child is the first of a new process namespace. What orphans come to a
    program that ``leads`` a session are its own.
    """
    if own_pids:
        known = confinement.descriptors()  # the program's own /proc, in which whoever stands by is not, may be there at any moment
        first = os.fork()
        if first:
            _stand_by(first, known)
    else:
        _ask(_SUBREAPER)
    keeper = os.getpid()
    program = os.fork()
    if program:
        _keep(program, kept, ended, own_pids=own_pids, leads=leads)
    _ask(_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != keeper:
        os._exit(0)  # it was gone before we asked
    if leads:
        _ask(_SUBREAPER)
        _first_to_go()
    os.close(kept)
    os.close(ended)


def _ask(option: int, value: int = 1) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _first_to_go() -> None:
    """Have the kernel, where memory runs out, end this process and what comes of it before anything else (proc(5))."""
    with suppress(OSError):
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        try:
            os.write(descriptor, b"1000")
        finally:
            os.close(descriptor)


def _alone(*keep: int, among: Iterable[int] | None = None) -> None:
    """Leave the session, the terminal and everything that is open to others."""
    for number in _DEAF:
        signal.signal(number, signal.SIG_IGN)
    with suppress(PermissionError):  # who leads one already
        os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    confinement.close_others(keep, among)


def _stand_by(first: int, known: Iterable[int]) -> NoReturn:
    """Wait for the first process of a namespace, which is over when all in it are."""
    try:
        _alone(among=known)
        os.waitpid(first, 0)
    finally:
        os._exit(0)


def _keep(program: int, kept: int, ended: int, *, own_pids: bool, leads: bool) -> NoReturn:
    try:
        _alone(kept, ended)
        heard, wakes = os.pipe()
        os.set_blocking(wakes, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        poller = poll()
        poller.register(kept)
        poller.register(heard)
        closed = False
        while not closed:
            for pid, status in _reaped(stopped=leads):
                if pid == program:
                    os.write(ended, status.to_bytes(4, sys.byteorder))
            ready = [descriptor for descriptor, _ in poller.poll()]
            closed = kept in ready
            if heard in ready:
                os.read(heard, 4096)
        if not own_pids:
            orphans.end()
    finally:
        os._exit(0)


def _reaped(*, stopped: bool) -> Iterator[tuple[int, int]]:
    """Give the processes that have ended, and those that somebody has ``stopped`` where that is asked for."""
    with suppress(ChildProcessError):
        while (reaped := os.waitpid(-1, os.WNOHANG | (os.WUNTRACED if stopped else 0)))[0]:
            yield reaped
