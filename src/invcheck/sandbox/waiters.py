"""Who waits: a thread in a wait of ours, and a call of a double for its turn."""

from __future__ import annotations

import threading
from _thread import allocate_lock
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from itertools import count
from typing import Protocol

_numbers: Iterator[int] = count()


@contextmanager
def renumbered(mask: int) -> Iterator[None]:
    """Let those who begin to wait until the block is left come in another order: the numbers of ``mask`` + 1 neighbours change places.

    So nobody is overtaken for ever.
    """
    global _numbers  # noqa: PLW0603  # one audit per process
    before, _numbers = _numbers, map(mask.__xor__, count())
    try:
        yield
    finally:
        _numbers = before


def numbers() -> Iterator[int] | None:
    """Give the numbers of an audit in which the order is another; None in a trial like any other."""
    return _numbers if isinstance(_numbers, map) else None


class Call:
    """A call of a double that waits for its turn."""

    __slots__ = ("granted", "lane", "number", "overlaps")

    def __init__(self, lane: object) -> None:
        self.lane, self.number = lane, next(_numbers)
        self.granted = self.overlaps = False


def chosen(calls: Sequence[Call]) -> Call | None:
    """Choose the call that is served next, if any waits; it and all that wait on its lane overlap, where it is not alone."""
    waiting = [call for call in calls if not call.granted]
    if not waiting:
        return None
    first = min(waiting, key=lambda call: call.number)
    same = [call for call in waiting if call.lane == first.lane]
    if len(same) > 1:
        for call in same:
            call.overlaps = True
    first.granted = True
    return first


class Hold(IntEnum):
    """How something that cannot be seen keeps time from moving for a wait."""

    NOT = 0
    REAL = 1
    """As long as real time has not come as far, and ten real seconds at least."""
    STILL = 2
    """Whatever real time does."""


def _free(_stuck: bool) -> Hold:
    return Hold.NOT


def _always() -> bool:
    return True


class Loop(Protocol):
    """An event loop, as far as it is known to who looks for waits that never end."""

    def closed(self) -> bool:
        """Say whether it looks at nothing that could come from outside of the app's own threads."""

    def coroutines(self) -> Iterable[object]:
        """Give what its tasks run."""


class Wait:
    """One thread in a wait of ours.

    ``over`` says whether what it waits for has come; ``seconds`` are virtual, and real as well where it is ``patient`` and a
    thread is stuck; ``calls`` are served by its thread; ``held`` says how else time is kept from moving for it. Who is
    ``last`` lets everybody else go first; ``loop`` is the event loop that waits.
    """

    __slots__ = (
        "calls",
        "deadline",
        "ends",
        "expires",
        "frees",
        "granted",
        "held",
        "last",
        "late",
        "lock",
        "loop",
        "number",
        "over",
        "patient",
        "thread",
    )

    def __init__(
        self,
        over: Callable[[], bool] = bool,
        *,
        calls: Sequence[Call] = (),
        held: Callable[[bool], Hold] = _free,
        patient: bool = False,
        last: bool = False,
        thread: threading.Thread | None = None,
        loop: Loop | None = None,
    ) -> None:
        self.over, self.held, self.patient, self.thread = over, held, patient, thread
        self.calls, self.last, self.loop = calls, last, loop
        self.number = next(_numbers)
        self.deadline: int | None = None
        self.expires = self.frees = float("inf")
        self.granted = self.late = False
        self.ends: BaseException | None = None
        self.lock = allocate_lock()
        self.lock.acquire()


class Gate(Wait):
    """The wait of a thread that was started and has not begun."""

    __slots__ = ()

    def let(self) -> None:
        """Let the thread begin, after all that wait now: who started it goes on first, however long the start took."""
        self.number = next(_numbers)
        self.over = _always
