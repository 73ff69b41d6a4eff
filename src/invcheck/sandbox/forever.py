"""A trial that waits for ever: told where it is sure, which is where every thread waits for another one that we can see.

It is sure where all threads of the process are in waits of ours without a limit that are not over, their event loops look at
nothing that could come from outside, and no signal is due. Everything else that never ends is left to the real-time cap.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Collection, Iterable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from invcheck import record
from invcheck.sandbox import ambient, clock, serving
from invcheck.vocabulary import Finding, Verdict

if TYPE_CHECKING:
    from invcheck.sandbox.waiters import Wait

_OURS = {"wait": "Condition.wait", "join": "Thread.join", "get": "SimpleQueue.get"}  # of `waits`, which stand for these
_SETTLES = 0.1  # real seconds for which it must be so
_HANDLED = ("SIGCHLD", "SIGALRM", "SIGUSR2", "SIGHUP")  # what may come from a timer or a child; SIGUSR1 is ours

# held on to, since an app may replace it, as a fake file system does
_list = os.listdir


class WaitsForEver(BaseException):
    """Raised where the app's own thread waits, in place of the wait that never ends; no `except Exception` keeps it."""


class Forever:
    """What is known of the trial's standing still, from look to look."""

    __slots__ = ("_since", "_waits")

    def __init__(self) -> None:
        self._waits: tuple[int, ...] = ()
        self._since = 0.0

    def sure(self, waits: Collection[tuple[int, Wait]], alive: Collection[int]) -> bool:
        """Say whether nobody will go on any more; ``waits`` are all there are, by the numbers of their threads."""
        if {ident for ident, _ in waits} != set(alive) or not all(_closed(wait) for _, wait in waits) or _outside(alive):
            self._waits = ()
            return False
        now, before = clock.real_monotonic(), self._waits
        self._waits = tuple(wait.number for _, wait in waits)
        if before != self._waits:
            self._since = now
        return now - self._since >= _SETTLES


def _closed(wait: Wait) -> bool:
    """Say whether only another thread of the app can end a wait."""
    if wait.deadline is not None or wait.calls:
        return False
    return wait.patient if wait.loop is None else wait.loop.closed()


def _outside(alive: Collection[int]) -> bool:
    """Say whether something else may come: from a thread that Python does not know, one of ours, or a signal."""
    if serving.loops or len(_list("/proc/self/task")) != len(alive):
        return True
    signals = sys.modules.get("signal")
    if signals is None:
        return False
    return any(callable(signals.getsignal(getattr(signals, name))) for name in _HANDLED)


def tell(waits: Iterable[tuple[int, Wait]]) -> WaitsForEver:
    """Latch that the trial waits for ever, naming who waits where, and give what ends it."""
    frames, named = sys._current_frames(), {thread.ident: thread for thread in threading.enumerate()}  # noqa: SLF001  # its documented use
    told = []
    for ident, wait in waits:
        tasks = wait.loop.coroutines() if wait.loop is not None else ()
        places = sorted(filter(None, map(_awaits, tasks))) or list(filter(None, [_waits(frames.get(ident))]))
        who = "the app's own thread" if named.get(ident) is threading.main_thread() else ambient.place(None, named.get(ident))
        told += [f"{who} in {place}" for place in places]
    message = f"the app waits for ever: {'; '.join(told) or 'no thread of it goes on'}"
    hint = "nothing that runs can end these waits: set a limit, or do what they wait for"
    held = record.current()
    if held is not None and not any(latched.code == "WAITS_FOR_EVER" for latched in held.latches):
        held.latch(Finding("WAITS_FOR_EVER", Verdict.ERRORED, message, expected="every wait ends", got="; ".join(told), hint=hint))
    return WaitsForEver(message)


def _waits(frame: FrameType | None) -> str | None:
    """Give where the project's code waits, and the function in which it does."""
    called = None
    while frame is not None:
        where = ambient.site(frame.f_code)
        if where:
            return f"{where} ({called})" if called else where
        if not ambient.own(frame.f_code.co_filename):
            called = frame.f_code.co_qualname
        elif called is None:
            called = _OURS.get(frame.f_code.co_name)
        frame = frame.f_back
    return None


def _awaits(one: Any) -> str | None:
    """Give where a task waits: the innermost project function that it is in."""
    sites = [ambient.site(frame.f_code) for frame in _frames(one)]
    return next((site for site in reversed(sites) if site), None)


def _frames(one: Any) -> Iterator[FrameType]:
    while one is not None:
        kind = next((kind for kind in ("cr", "ag", "gi") if hasattr(one, f"{kind}_frame")), None)
        frame = getattr(one, f"{kind}_frame", None)
        if frame is not None:
            yield frame
        one = getattr(one, "gi_yieldfrom" if kind == "gi" else f"{kind}_await", None)
