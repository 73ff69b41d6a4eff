"""Threads that are in no wait of ours: at work, or stuck in something that cannot be seen (a lock, a socket, C code).

The kernel says which (proc(5), status and syscall): a thread that is asleep and was not scheduled once in a while stays where
it is. One that sleeps with a limit may be about to get the interpreter's lock, for which threads wait like that, so it takes
longer to be sure. One that only looks round counts as stuck after two real seconds without a wait, and after ten one that
computes, since some daemons never wait.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from invcheck.sandbox import clock

PATIENCE = 2.0
"""Real seconds that a thread which takes little processor time is waited for."""

LIMIT = 10.0
"""Real seconds that a thread which computes is waited for."""

_SETTLES, _SETTLES_LIMITED = 0.02, 0.25  # real seconds
_ROUNDS = 5  # ticks of processor time for each real second, which a thread that looks round takes and one that computes exceeds
_FUTEX = ("202", "98")  # the number of the system call on x86-64, and where numbers are the generic ones (futex(2))
_ASLEEP = "State:\tS"  # and not D, in which a thread waits for memory or a disk, and goes on
_SWITCHES = ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")

_Since = tuple[float, int | None]
_Mark = tuple[object, ...]


class Unseen:
    """What is known of the threads in no wait of ours, from look to look."""

    __slots__ = ("_began", "_marks", "_told", "_windows")

    def __init__(self) -> None:
        self._began: dict[int, float] = {}
        self._windows: dict[int, _Since] = {}
        self._told: set[int] = set()
        self._marks: dict[int, tuple[_Mark | None, float]] = {}

    def forget(self, ident: int) -> None:
        """Know nothing of a thread any more: it has come to a wait of ours."""
        if self._began.pop(ident, None) is not None:
            self._marks.pop(ident, None)
            self._windows.pop(ident, None)
            self._told.discard(ident)

    def untold(self, idents: Iterable[int]) -> list[int]:
        """Give those of the threads that were not given since they were last in a wait of ours."""
        new = [ident for ident in idents if ident not in self._told]
        self._told.update(new)
        return new

    def works(self, ident: int, native: int | None) -> bool:
        """Say whether a thread is to be waited for; ``native`` is the kernel's number of it."""
        now = clock.real_monotonic()
        if not self._patient(ident, native, now):
            return False
        mark = _mark(ident, native)
        before, since = self._marks.get(ident, (None, now))
        if mark is None or mark != before:
            self._marks[ident] = mark, now
            return True
        return now - since < (_SETTLES_LIMITED if mark[0] else _SETTLES)

    def _patient(self, ident: int, native: int | None, now: float) -> bool:
        """Say whether a thread has not used up its time: it computes, or has begun just now."""
        began = self._began.setdefault(ident, now)
        since, before = self._windows.get(ident) or self._windows.setdefault(ident, (now, _ticks(native)))
        if now - since < PATIENCE:
            return now - began < LIMIT
        ticks = _ticks(native)
        if before is None or ticks is None or ticks - before <= _ROUNDS * (now - since):
            return False
        self._windows[ident] = now, ticks
        return now - began < LIMIT


def _mark(ident: int, native: int | None) -> _Mark | None:
    """Give what changes as soon as a thread goes on, first whether it sleeps with a limit; None where it is running now."""
    try:
        status = _told(native, "status").splitlines()
        call = _told(native, "syscall").split()
    except OSError:  # the kernel does not say: the place alone does
        frame = sys._current_frames().get(ident)  # noqa: SLF001  # its documented use
        return (True,) if frame is None else (True, frame.f_code, frame.f_lasti)
    if not any(line.startswith(_ASLEEP) for line in status):
        return None
    limited = call[0] in _FUTEX and call[4] != "0x0"
    return (limited, *(line for line in status if line.startswith(_SWITCHES)))


def spent(native: int | None) -> int:
    """Give the processor time of a thread, in the kernel's ticks (proc(5), utime and stime); OSError where it has ended."""
    fields = _told(native, "stat").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _ticks(native: int | None) -> int | None:
    try:
        return spent(native)
    except OSError:
        return None


def _told(native: int | None, what: str) -> str:
    with open(f"/proc/self/task/{native}/{what}", encoding="utf-8") as file:  # noqa: PTH123  # pathlib is not loaded for this
        return file.read()
