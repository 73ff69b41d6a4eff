"""The functions of `time`, in the time of the trial in hand; put in place before any user code is imported.

The standard library's own waits that are real (subprocess, sockets ...) keep real time, since a deadline that never comes
nearer would never end. Those that `waits` has made virtual see virtual time, and their reads are none of the app's.
"""

from __future__ import annotations

import time
from sys import _getframe as frame_at
from types import FrameType

from invcheck.sandbox import clock

_REAL_WAITERS = frozenset({"subprocess", "selectors", "multiprocessing", "socketserver", "ssl", "socket"})
_OUR_WAITERS = frozenset({"threading", "queue", "concurrent"})

_real_monotonic_ns, _real_perf_counter, _real_perf_counter_ns = time.monotonic_ns, time.perf_counter, time.perf_counter_ns
_real_ctime, _real_asctime = time.ctime, time.asctime


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def _sleeps_for_real(frame: FrameType) -> bool:
    # threads and pools call a target that is time.sleep itself from their own frame: that sleep is the app's
    name = str(frame.f_globals.get("__name__"))
    return name == "subprocess" or (name.startswith("multiprocessing.") and name != "multiprocessing.process")


def _asked() -> int | None:
    """Give the monotonic nanoseconds of the virtual clock, or None where real time is due."""
    now = clock.virtual()
    if now is None:
        return None
    frame = frame_at(2)
    package = _package(frame)
    if package in _REAL_WAITERS:
        return None
    if package in _OUR_WAITERS:
        return None if now.stranger() else now.stood + now.passed
    return now.monotonic(frame)


def sleep(seconds: float, /) -> None:
    """`time.sleep`, in the time of the trial in hand."""
    now = clock.current()
    if now is None or _sleeps_for_real(frame_at(1)):
        clock.real_sleep(seconds)
    else:
        now.wait(seconds)


def monotonic() -> float:
    """`time.monotonic`, in the time of the trial in hand."""
    passed = _asked()
    return clock.real_monotonic() if passed is None else passed / clock.SECOND


def monotonic_ns() -> int:
    """`time.monotonic_ns`, in the time of the trial in hand."""
    passed = _asked()
    return _real_monotonic_ns() if passed is None else passed


def perf_counter() -> float:
    """`time.perf_counter`, in the time of the trial in hand."""
    passed = _asked()
    return _real_perf_counter() if passed is None else passed / clock.SECOND


def perf_counter_ns() -> int:
    """`time.perf_counter_ns`, in the time of the trial in hand."""
    passed = _asked()
    return _real_perf_counter_ns() if passed is None else passed


def ctime(seconds: float | None = None, /) -> str:
    """`time.ctime`, which time-machine leaves alone where it has no argument."""
    return _real_ctime(time.time() if seconds is None else seconds)


def asctime(*when: time.struct_time) -> str:
    """`time.asctime`, which time-machine leaves alone where it has no argument."""
    return _real_asctime(*(when or (time.localtime(),)))


_REPLACED = (sleep, monotonic, monotonic_ns, perf_counter, perf_counter_ns, ctime, asctime)
# clock_gettime stays a C function: time-machine patches it in place and would write into ours


def install() -> None:
    """Put our functions into `time`; outside of a trial they do what the real ones do."""
    for function in _REPLACED:
        function.__module__ = "time"  # so that they pickle by the name under which users know them
        setattr(time, function.__name__, function)
