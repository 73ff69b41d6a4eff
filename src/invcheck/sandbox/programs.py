"""The programs that an event loop has started: at work, at rest until somebody feeds them, or asleep for a time of their own.

The kernel says which (proc(5): status, stat and syscall), of a program and of all that it has started in turn. One whose every
thread waits without a limit, as a server on its standard input does, goes on only when it is given something.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from invcheck.sandbox import clock
from invcheck.sandbox.waiters import Hold

LIMIT = 10.0
"""Real seconds that a program at work keeps time from moving; a thread that computes is waited for as long."""

_SETTLES = 0.25  # real seconds in which nothing of it was scheduled
_COUNTED = ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")
_STATE = "State:\t"
_RUNS = ("R", "D")

_NONE, _MINUS = ("0x0",), ("0xffffffff", "0xffffffffffffffff")
_Limits = dict[str, tuple[int, tuple[str, ...]] | None]
_READS: dict[str, _Limits] = {
    # system calls by their numbers: None where they have no limit, else which of their arguments is one and how it looks without
    "x86_64": {
        "0": None,  # read
        "7": (2, _MINUS),  # poll
        "23": (4, _NONE),  # select
        "43": None,  # accept
        "45": None,  # recvfrom
        "47": None,  # recvmsg
        "61": None,  # wait4
        "202": (3, _NONE),  # futex
        "232": (3, _MINUS),  # epoll_wait
        "247": None,  # waitid
        "270": (4, _NONE),  # pselect6
        "271": (2, _NONE),  # ppoll
        "281": (3, _MINUS),  # epoll_pwait
        "288": None,  # accept4
    },
    "aarch64": {
        "22": (3, _MINUS),  # epoll_pwait
        "63": None,  # read
        "72": (4, _NONE),  # pselect6
        "73": (2, _NONE),  # ppoll
        "95": None,  # waitid
        "98": (3, _NONE),  # futex
        "202": None,  # accept
        "207": None,  # recvfrom
        "212": None,  # recvmsg
        "242": None,  # accept4
        "260": None,  # wait4
    },
}
_UNLIMITED: _Limits = _READS.get(os.uname().machine, {})

# held on to, since an app may replace them, as a fake file system does
_list, _open = os.listdir, open


class Programs:
    """The programs of one event loop that have not ended."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}

    def __bool__(self) -> bool:
        self._known = {pid: known for pid, known in self._known.items() if not known.over()}
        return bool(self._known)

    def add(self, pid: int, over: Callable[[], bool]) -> None:
        """Know a program, until ``over`` says that its end was seen."""
        self._known[pid] = _Known(over)

    def hold(self) -> Hold:
        """Say how they keep time from moving: what is at work more than what sleeps, and what waits to be fed not at all."""
        return max((known.hold(pid) for pid, known in self._known.items() if not known.over()), default=Hold.NOT)


class _Known:
    """What is known of one program from look to look."""

    __slots__ = ("_began", "_mark", "_since", "over")

    def __init__(self, over: Callable[[], bool]) -> None:
        self.over = over
        self._began = self._since = clock.real_monotonic()
        self._mark: tuple[str, ...] | None = None

    def hold(self, pid: int) -> Hold:
        now = clock.real_monotonic()
        tasks = list(_tasks(pid))
        mark = _mark(tasks)
        if mark is None or mark != self._mark:
            if self._mark is not None and now - self._since >= _SETTLES:
                self._began = now  # it has rested in between
            self._mark, self._since = mark, now
        if now - self._since < _SETTLES:
            return Hold.STILL if now - self._began < LIMIT else Hold.REAL
        return Hold.NOT if all(_fed(task) for task in tasks) else Hold.REAL


def _mark(tasks: list[str]) -> tuple[str, ...] | None:
    """Give what changes as soon as anything of a program goes on; None where something of it runs now, or it has ended."""
    marks: list[str] = []
    for task in tasks:
        told = _told(f"{task}/status").splitlines()
        if any(line.startswith(_STATE) and line[len(_STATE)] in _RUNS for line in told):
            return None
        marks += [task, *(line for line in told if line.startswith(_COUNTED))]
    return tuple(marks)


def _fed(task: str) -> bool:
    """Say whether a thread waits for something without a limit."""
    number, *arguments = _told(f"{task}/syscall").split() or [""]
    if number not in _UNLIMITED:
        return False
    limit = _UNLIMITED[number]
    return limit is None or arguments[limit[0]] in limit[1]


def _tasks(pid: int) -> Iterator[str]:
    """Give the threads of a program and of all that it has started in turn."""
    try:
        tasks = _list(f"/proc/{pid}/task")
    except OSError:  # it has ended
        return
    for task in tasks:
        yield f"/proc/{pid}/task/{task}"
        for child in _told(f"/proc/{pid}/task/{task}/children").split():
            yield from _tasks(int(child))


def _told(file: str) -> str:
    try:
        with _open(file, encoding="utf-8", errors="replace") as told:
            return told.read()
    except OSError:  # it has ended, or is another user's
        return ""
