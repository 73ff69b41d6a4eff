"""Threads that are in no wait of ours: at work, or stuck in something that cannot be seen (a lock, a socket, C code).

The kernel says which (proc(5), status and syscall): a thread that is asleep and was not scheduled once in a while stays where
it is. One that sleeps with a limit may be about to get the interpreter's lock, for which threads wait like that, so it takes
longer to be sure. One that works for two real seconds without a wait counts as stuck as well, since some daemons never wait.
"""

from __future__ import annotations

import sys

from invcheck.sandbox import clock

PATIENCE = 2.0
"""Real seconds that a thread at work is waited for."""

_SETTLES, _SETTLES_LIMITED = 0.02, 0.25  # real seconds
_FUTEX = ("202", "98")  # the number of the system call on x86-64, and where numbers are the generic ones (futex(2))
_ASLEEP = "State:\tS"  # and not D, in which a thread waits for memory or a disk, and goes on
_SWITCHES = ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")

_Mark = tuple[object, ...]


class Unseen:
    """What is known of the threads in no wait of ours, from look to look."""

    __slots__ = ("_began", "_marks")

    def __init__(self) -> None:
        self._began: dict[int, float] = {}
        self._marks: dict[int, tuple[_Mark | None, float]] = {}

    def forget(self, ident: int) -> None:
        """Know nothing of a thread any more: it has come to a wait of ours."""
        if self._began.pop(ident, None) is not None:
            self._marks.pop(ident, None)

    def works(self, ident: int, native: int | None) -> bool:
        """Say whether a thread is to be waited for; ``native`` is the kernel's number of it."""
        now = clock.real_monotonic()
        if now - self._began.setdefault(ident, now) >= PATIENCE:
            return False
        mark = _mark(ident, native)
        before, since = self._marks.get(ident, (None, now))
        if mark is None or mark != before:
            self._marks[ident] = mark, now
            return True
        return now - since < (_SETTLES_LIMITED if mark[0] else _SETTLES)


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


def _told(native: int | None, what: str) -> str:
    with open(f"/proc/self/task/{native}/{what}", encoding="utf-8") as file:  # noqa: PTH123  # pathlib is not loaded for this
        return file.read()
