"""Threads that are in no wait of ours: at work, or stuck in something that cannot be seen (a lock, a socket, C code).

The kernel says which: a thread that is asleep and was not scheduled once in a while stays where it is. One that works for
two real seconds without a wait counts as stuck as well, since some daemons never wait.
"""

from __future__ import annotations

import sys
import threading
from types import FrameType

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

    def works(self, ident: int, frame: FrameType) -> bool:
        """Say whether a thread is to be waited for."""
        now = clock.real_monotonic()
        if now - self._began.setdefault(ident, now) >= PATIENCE:
            return False
        mark = _mark(ident, frame)
        before, since = self._marks.get(ident, (None, now))
        if mark is None or mark != before:
            self._marks[ident] = mark, now
            return True
        return now - since < max(_SETTLES, _INTERVALS * sys.getswitchinterval())


def _native(ident: int) -> int | None:
    """Give the kernel's number of a thread, None where it is no thread of Python's own."""
    thread = threading._active.get(ident)  # type: ignore[attr-defined]  # noqa: SLF001  # nothing public finds it
    return None if thread is None else thread.native_id


def _mark(ident: int, frame: FrameType) -> _Mark | None:
    """Give what changes as soon as a thread goes on, or None where it is running now."""
    spot = (frame.f_code, frame.f_lasti)
    try:
        with open(f"/proc/self/task/{_native(ident)}/status", encoding="utf-8") as file:  # noqa: PTH123  # pathlib is not loaded for this
            lines = file.readlines()
    except OSError:  # nobody knows: the place alone says it
        return spot
    if not any(line.startswith(_ASLEEP) for line in lines):
        return None
    return (*spot, *(line for line in lines if line.startswith(_SWITCHES)))
