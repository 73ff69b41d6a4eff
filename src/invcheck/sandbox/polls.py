"""How an event loop waits in a trial: it looks for events really, and for its next timer virtually.

A loop with nothing to do waits as a thread does (`scheduler`). Its time does not jump while a program that it started is at
work, nor, where a thread or such a program is stuck out of sight, before real time has come as far.
"""

from __future__ import annotations

from _thread import _count as other_threads
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from invcheck.sandbox import clock, scheduler, waiters
from invcheck.sandbox.answers import Answers
from invcheck.sandbox.programs import Programs
from invcheck.sandbox.waiters import Call, Hold, Loop, Wait

T = TypeVar("T")


class Work:
    """What a loop has given to others and not had back: jobs of threads, and programs that run."""

    __slots__ = ("answers", "jobs", "programs")

    def __init__(self) -> None:
        self.jobs: set[object] = set()
        self.programs, self.answers = Programs(), Answers()

    def outside(self, loop: Polls) -> bool:
        """Say whether something may come from a program, or from what the trial may reach outside."""
        return bool(self.programs or self.answers.awaited(loop.looked_at))

    def holding(self, loop: Polls) -> Callable[[bool], Hold]:
        """Give what says how time is held: the job of a thread may be done by one that is ``stuck`` out of sight."""

        def hold(stuck: bool) -> Hold:
            if (stuck and self.jobs) or self.answers.awaited(loop.looked_at):
                return max(Hold.REAL, self.programs.hold())
            return self.programs.hold()

        return hold


class Polls(Loop, Protocol):
    """An event loop of ours."""

    work: Work

    def looked_at(self) -> Iterable[int]:
        """Give the descriptors from which it wants to read."""

    @property
    def calls(self) -> Sequence[Call]:
        """The calls of doubles that wait for their turn in it."""


def polled(poll: Callable[[float | None], T], ready: Callable[[], bool], timeout: float | None, loop: Polls) -> T:
    """Give the events that are ready; a wait for a timer moves the virtual clock instead of sleeping.

    ``poll`` takes the events that are ready within real seconds, and ``ready`` says whether there are any, and takes none.
    Of the calls that wait for their turn in the ``loop`` one may be granted meanwhile.
    """
    time, others = clock.virtual(), scheduler.current()
    loop.work.answers.look(loop.looked_at)
    if time is None or others is None or (timeout is not None and timeout <= 0):
        return poll(timeout)
    events = poll(0)
    if events:
        return events
    if not other_threads():
        if timeout is None and not loop.calls and not loop.closed():
            return poll(None)
        if (timeout is not None or loop.calls) and not loop.work.outside(loop):  # the scheduler would choose the same, at a price
            if loop.calls:
                waiters.chosen(loop.calls)
            elif timeout is not None:
                time.advance(timeout)
            return events
    wait = Wait(ready, calls=loop.calls, held=loop.work.holding(loop), loop=loop)
    others.stay(wait, None if timeout is None else round(timeout * clock.SECOND))
    return poll(0)
