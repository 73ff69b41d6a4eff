"""Threads and tasks of a trial take turns, and its time moves only when all of them wait.

Whoever comes to a wait of ours (a sleep, a condition, a queue, a join, an event loop with nothing to do, a call of a double)
hands its turn on. Once every thread that can be seen waits, exactly one goes on: the one that waited longest of those whose
wait is over; else the first call; else who sleeps for nothing; else time moves to the earliest deadline, ties in the order in
which the waits began. So the order of what threads do is the same each time. A thread that is stuck in something that cannot
be seen is left out after a while (`unseen`): sleeps then pass as if it were not there, which is noted, and timeouts take real
time.
"""

from __future__ import annotations

import os
import sys
import threading
from _thread import RLock, get_ident
from _thread import _count as other_threads

from invcheck.sandbox import ambient, clock, serving
from invcheck.sandbox.forever import Forever, tell
from invcheck.sandbox.unseen import LIMIT, Unseen
from invcheck.sandbox.waiters import Hold, Wait, chosen

_FIRST, _TIMED, _UNTIMED, _NO_TRIAL = 0.0002, 0.002, 0.02, 0.1  # real seconds between two looks round of who waits

_waits: dict[int, Wait] = {}  # of all trials: a pool that an app keeps waits from one to the next
_mutex = RLock()
_arriving: set[int] = set()
_choosing = False
_held: Scheduler | None = None


class _Choice:
    """Held by who comes to a wait or chooses who goes on; who waits for it is at work, and about to come."""

    __slots__ = ()

    def __enter__(self) -> None:
        ident = get_ident()
        _arriving.add(ident)
        try:
            _mutex.acquire()
        except BaseException:  # a signal's handler has raised
            _arriving.discard(ident)
            raise

    def __exit__(self, *_exc: object) -> None:
        _mutex.release()
        _arriving.discard(get_ident())


class Scheduler:
    """Who may go on in one trial, whose ``clock`` it moves."""

    def __init__(self, clock: clock.VirtualClock) -> None:
        self._clock = clock
        self._unseen, self._forever, self._home = Unseen(), Forever(), get_ident()
        self._strangers: set[int] = set()
        if other_threads():
            self._strangers |= _alive().keys() - _waits.keys() - {get_ident()}
        self.older = set(sys._current_frames()) - _waits.keys() - {get_ident()} if other_threads() else set()  # noqa: SLF001  # as below
        """Threads that were at something else when the trial began, also such as Python does not know, and are none of it."""
        self._leaving: set[threading.Thread] = set()

    def knows(self, ident: int) -> bool:
        """Say whether a thread takes turns: those that are older than the trial and in no wait of ours do not."""
        return ident not in self._strangers and ident not in serving.threads

    def leave_out(self, ident: int) -> None:
        """Let a thread be as if it were not there."""
        self._strangers.add(ident)

    def enter(self, ident: int, gate: Wait | None) -> None:
        """Begin a thread: at its gate, or as if it were not there where it has none."""
        self.older.discard(ident)  # numbers of threads come again
        if gate is None:
            self._strangers.add(ident)
        else:
            self._strangers.discard(ident)
            self.stay(gate)

    def take_in(self, ident: int) -> None:
        """Let a thread that was left out take turns again."""
        self._strangers.discard(ident)

    def leaving(self, thread: threading.Thread) -> None:
        """Say that a thread has nothing left to do but to end."""
        self._leaving.add(thread)
        turn()

    def left(self, thread: threading.Thread) -> bool:
        """Say whether a thread has ended, or does nothing else."""
        return thread in self._leaving or _gone(thread)

    def sleep(self, nanoseconds: int) -> None:
        """Stay until that much time has passed; who sleeps for nothing goes on before time moves, after all who could go on now."""
        self.stay(Wait(last=nanoseconds == 0), nanoseconds)

    def stay(self, wait: Wait, nanoseconds: int | None = None) -> bool:
        """Stay in a wait until it is this thread's turn; give whether what it waits for has come, rather than its deadline."""
        if nanoseconds is not None:
            wait.deadline = self._clock.passed + nanoseconds
            now = clock.real_monotonic()
            wait.expires = now + nanoseconds / clock.SECOND
            wait.frees = max(wait.expires, now + LIMIT)
        return rest(wait)

    def arrived(self, ident: int, wait: Wait) -> None:
        """Hear that a thread is in a wait now."""
        self._unseen.forget(ident)
        if wait.deadline is None:
            self.take_in(ident)  # if it is older than the trial, which began on the way here

    def choose(self) -> tuple[int, Wait] | None:
        """Choose who goes on, if all wait."""
        stuck = self._stuck()
        return None if stuck is None else self._next(stuck)

    def _stuck(self) -> list[int] | None:
        """Give the threads that are stuck where they cannot be seen; None where one is at work."""
        if threading._limbo or serving.busy():  # type: ignore[attr-defined]  # noqa: SLF001  # the first: threads that do not run yet
            return None
        alive, stuck = _alive(), []
        self._strangers &= alive.keys()  # numbers of threads come again
        for ident, thread in alive.items():
            if ident in _waits or thread in self._leaving or not self.knows(ident):
                continue
            if ident in _arriving or self._unseen.works(ident, thread.native_id):
                return None
            stuck.append(ident)
        if any(wait.thread and wait.thread.ident not in alive and not _gone(wait.thread) for wait in _waits.copy().values()):
            return None  # it is about to end, and who joins it to go on
        return stuck

    def _next(self, stuck: list[int]) -> tuple[int, Wait] | None:
        """Choose who goes on, and move time where nobody could otherwise."""
        waits = sorted(((ident, wait) for ident, wait in _waits.copy().items() if self.knows(ident)), key=lambda each: each[1].number)
        held = {wait: wait.held(bool(stuck)) for _, wait in waits}  # asked before who is over: a job wakes its loop, and is done after
        for one in waits:
            wait = one[1]
            wait.late = wait.deadline is not None and wait.deadline <= self._clock.passed
            if (wait.late and not wait.last) or wait.over():
                return one
        called = chosen([call for _, wait in waits for call in wait.calls])
        if called is not None:
            return next(one for one in waits if called in one[1].calls)
        timed = [(wait.deadline, ident, wait) for ident, wait in waits if wait.deadline is not None]
        if not timed:
            return self._ended(stuck)
        deadline, ident, wait = min(timed, key=lambda each: each[0])
        slow = wait.patient and (stuck or self._clock.returned)  # what the app left is not hurried
        until = max(wait.expires if slow else 0.0, wait.frees if held[wait] is Hold.REAL else 0.0)
        if held[wait] is Hold.STILL or (until and clock.real_monotonic() < until):
            return None
        self._pass(stuck)
        self._clock.reach(deadline)
        wait.late = True
        return ident, wait

    def _ended(self, stuck: list[int]) -> tuple[int, Wait] | None:
        """Let the app's own thread go on to its end where all wait for ever."""
        own = _waits.get(self._home)
        if own is None or stuck or self._clock.returned or not self._forever.sure(list(_waits.items()), _alive().keys()):
            return None
        own.ends = tell(sorted(_waits.items(), key=lambda each: each[1].number))
        return self._home, own

    def _pass(self, stuck: list[int]) -> None:
        """Note the threads that time, or who sleeps for nothing, does not wait for."""
        untold = self._unseen.untold(stuck)
        if untold:
            alive, frames = _alive(), sys._current_frames()  # noqa: SLF001  # its documented use
            for ident in untold:
                self._clock.past(ambient.place(frames.get(ident), alive.get(ident)))


def _alive() -> dict[int, threading.Thread]:
    """Give the threads by their numbers; frames of other threads would show more, and are not safe to hold while those run."""
    alive: dict[int, threading.Thread] = threading._active.copy()  # type: ignore[attr-defined]  # noqa: SLF001  # nothing public is as cheap
    return alive


def _gone(thread: threading.Thread) -> bool:
    """Say whether a thread has ended; before Python 3.13 `is_alive` takes a lock for it, which only one may at a time."""
    if sys.version_info >= (3, 13):
        return not thread.is_alive()
    lock = thread._tstate_lock  # type: ignore[attr-defined]  # noqa: SLF001  # as above
    return lock is None or not lock.locked()


def rest(wait: Wait) -> bool:
    """Stay in a wait, in a trial or outside of one; see `Scheduler.stay`."""
    ident = get_ident()
    outer = _waits.get(ident)  # a signal's handler may wait within a wait
    try:
        with _Choice():
            if _held is not None:
                _held.arrived(ident, wait)
            _waits[ident] = wait
            turn()
        pause, most = _FIRST, _UNTIMED if wait.deadline is None and not wait.calls else _TIMED
        while not wait.lock.acquire(timeout=pause if _held else _NO_TRIAL):
            turn()
            pause = min(2 * pause, most)
    finally:
        with _Choice():
            if not wait.granted:
                _waits.pop(ident, None)  # a child by fork has none
            if outer is not None:
                _waits[ident] = outer
    if wait.ends is not None:
        raise wait.ends
    return not wait.late or wait.over()


def older() -> set[int]:
    """Give the threads that were at something else when the trial in hand began, and are none of it."""
    return set() if _held is None else _held.older


def current() -> Scheduler | None:
    """Give the scheduler of the trial in hand where the thread that asks takes turns, else None."""
    held = _held
    return held if held is not None and held.knows(get_ident()) else None


def taken_in() -> Scheduler | None:
    """Give the scheduler of the trial in hand to a thread that asks a pool for work: whatever it did before, it takes turns now."""
    held = _held
    if held is not None:
        held.take_in(get_ident())
    return current()


def in_hand() -> Scheduler | None:
    """Give the scheduler of the trial in hand, whoever asks."""
    return _held


def waiting(ident: int) -> Wait | None:
    """Give the wait of ours in which a thread is."""
    return _waits.get(ident)


def turn() -> None:
    """Let the next one go on, if there is one; of those that take no turns, and without a trial, everybody whose wait is over."""
    global _choosing  # noqa: PLW0603  # one choice at a time
    with _Choice():
        if _choosing:  # from a finalizer, in the middle of a choice
            return
        _choosing = True
        try:
            for ident, wait in _waits.copy().items():
                if _held is None or not _held.knows(ident):
                    wait.late = clock.real_monotonic() >= wait.expires
                    if wait.late or wait.over():
                        _grant(ident, wait)
            one = None if _held is None else _held.choose()
            if one is not None:
                _grant(*one)
        finally:
            _choosing = False


def _grant(ident: int, wait: Wait) -> None:
    wait.granted = True
    _arriving.add(ident)  # until it is out of the wait
    del _waits[ident]
    wait.lock.release()


def begin(scheduler: Scheduler | None) -> Scheduler | None:
    """Make a scheduler the one that waits are handed to, or none; give the one before.

    What still waits for a time is of an earlier trial then: it waits for real, and is as if it were not there.
    """
    global _held  # one trial in hand per process
    with _Choice():
        before, _held = _held, scheduler
        if scheduler is not None:
            for ident, wait in _waits.copy().items():
                if wait.deadline is not None:
                    scheduler.leave_out(ident)
        return before


def _forked() -> None:
    global _mutex, _choosing  # whoever held it is not in the child
    _mutex, _choosing = RLock(), False
    _waits.clear()
    _arriving.clear()


os.register_at_fork(after_in_child=_forked)
