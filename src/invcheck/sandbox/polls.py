"""How an event loop waits in a trial: it looks for events really, and for its next timer virtually.

A loop with nothing to do waits as a thread does (`scheduler`). Its time does not jump while a program that it started is at
work, nor, where a thread or such a program is stuck out of sight, before real time has come as far.
"""

from __future__ import annotations

from _thread import _count as other_threads
from _thread import get_ident
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from invcheck.sandbox import clock, scheduler, waiters
from invcheck.sandbox.programs import Programs
from invcheck.sandbox.waiters import Call, Hold, Loop, Wait

T = TypeVar("T")


class Work:
    """What a loop has given to others and not had back: jobs of threads, and programs that run."""

    __slots__ = ("home", "jobs", "programs")

    def __init__(self) -> None:
        self.jobs: set[object] = set()
        self.programs = Programs()
        self.home = get_ident()

    def hold(self, stuck: bool) -> Hold:
        """Say how time is held: the job of a thread may be done by one that is ``stuck`` out of sight."""
        return max(self.programs.hold(), Hold.REAL if stuck and self.jobs else Hold.NOT)


class Polls(Loop, Protocol):
    """An event loop of ours."""

    work: Work

    @property
    def calls(self) -> Sequence[Call]:
        """The calls of doubles that wait for their turn in it."""


def polled(poll: Callable[[float | None], T], ready: Callable[[], bool], timeout: float | None, loop: Polls) -> T:
    """Give the events that are ready; a wait for a timer moves the virtual clock instead of sleeping.

    ``poll`` takes the events that are ready within real seconds, and ``ready`` says whether there are any, and takes none.
    Of the calls that wait for their turn in the ``loop`` one may be granted meanwhile.
    """
    time, others = clock.virtual(), scheduler.current()
    if time is None or others is None or (timeout is not None and timeout <= 0):
        return poll(timeout)
    events = poll(0)
    if events:
        return events
    if not other_threads() and not loop.work.programs:  # the scheduler would choose the same, at a price
        if loop.calls:
            waiters.chosen(loop.calls)
            return events
        if timeout is not None:
            time.advance(timeout)
            return events
        if not loop.closed():
            return poll(None)
    others.stay(Wait(ready, calls=loop.calls, held=loop.work.hold, loop=loop), None if timeout is None else round(timeout * clock.SECOND))
    return poll(0)
