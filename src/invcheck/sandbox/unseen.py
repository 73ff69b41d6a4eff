"""Threads that are in no wait of ours: at work, or stuck in something that cannot be seen (a lock, a socket, C code).

The kernel says which: a thread that is asleep and was not scheduled once in a while stays where it is. One that works for
two real seconds without a wait counts as stuck as well, since some daemons never wait.
"""

from __future__ import annotations

import sys

from invcheck.sandbox import clock

PATIENCE = 2.0
"""Real seconds that a thread at work is waited for."""

_SETTLES = 0.012  # real seconds; who waits for the interpreter's lock wakes after each switch interval, 5 ms by default
_INTERVALS = 2.5
_ASLEEP = ("State:\tS", "State:\tD")
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
        return now - since < max(_SETTLES, _INTERVALS * sys.getswitchinterval())


def _mark(ident: int, native: int | None) -> _Mark | None:
    """Give what changes as soon as a thread goes on, or None where it is running now."""
    try:
        with open(f"/proc/self/task/{native}/status", encoding="utf-8") as file:  # noqa: PTH123  # pathlib is not loaded for this
            lines = file.readlines()
    except OSError:  # the kernel does not say: the place alone does
        frame = sys._current_frames().get(ident)  # noqa: SLF001  # its documented use
        return () if frame is None else (frame.f_code, frame.f_lasti)
    if not any(line.startswith(_ASLEEP) for line in lines):
        return None
    return tuple(line for line in lines if line.startswith(_SWITCHES))
