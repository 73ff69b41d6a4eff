"""Waits of the standard library that are ours in a trial: conditions, joins, queues of pools, and the start of a thread.

Events, semaphores, barriers, timers, `queue.Queue` and futures are made of conditions. Outside of a trial each is the
standard library's own.
"""

from __future__ import annotations

import threading
from _thread import get_ident
from contextlib import suppress
from threading import Condition, Thread
from types import ModuleType
from typing import Any

from invcheck.sandbox import clock, imports, scheduler, stdtime
from invcheck.sandbox.waiters import Gate, Wait

_wait, _start, _join = Condition.wait, Thread.start, Thread.join


class _Waiter:
    """What a condition keeps of a thread that waits, and releases to notify it."""

    __slots__ = ("notified",)

    def __init__(self) -> None:
        self.notified = False

    def release(self) -> None:
        """Notify it; a second time RuntimeError, as a lock has it, so that a condition takes the next one."""
        if self.notified:
            raise RuntimeError("release unlocked lock")
        self.notified = True
        if scheduler.current() is None:
            scheduler.turn()

    def is_notified(self) -> bool:
        """Say whether it was notified."""
        return self.notified


def wait(self: Any, timeout: float | None = None) -> bool:
    """`Condition.wait`, in the time of the trial in hand."""
    held = scheduler.current()
    if held is None or (timeout is not None and timeout <= 0):
        return _wait(self, timeout)
    if not self._is_owned():
        raise RuntimeError("cannot wait on un-acquired lock")
    waiter = _Waiter()
    self._waiters.append(waiter)
    saved = self._release_save()
    try:
        return held.stay(Wait(waiter.is_notified, patient=True), _nanoseconds(timeout))
    finally:
        self._acquire_restore(saved)
        if not waiter.notified:
            self._waiters.remove(waiter)


def start(self: Thread) -> None:
    """`Thread.start`; the thread begins when all others wait, and takes turns if the one that starts it does."""
    held = scheduler.in_hand()
    if held is None:
        _start(self)
        return
    gate = Gate() if held.knows(get_ident()) else None
    run, own = self.run, self.__dict__.get("run")

    def begins() -> None:
        self.__dict__.pop("run")
        if own is not None:
            self.run = own  # type: ignore[method-assign]  # as it was
        held.enter(get_ident(), gate)
        run()
        held.leaving(self)

    self.run = begins  # type: ignore[method-assign]  # for this one thread, until it begins
    _start(self)
    if gate is not None:
        gate.let()


def join(self: Thread, timeout: float | None = None) -> None:
    """`Thread.join`, in the time of the trial in hand."""
    held = scheduler.current()
    if held is None or (timeout is not None and timeout <= 0) or self is threading.current_thread() or not self.is_alive():
        _join(self, timeout)
    elif held.stay(Wait(lambda: held.left(self), patient=True, thread=self), _nanoseconds(timeout)):
        _join(self)


def _nanoseconds(timeout: float | None) -> int | None:
    return None if timeout is None else round(timeout * clock.SECOND)


def _simple(queue: Any) -> Any:
    simple, empty = queue.SimpleQueue, queue.Empty

    class SimpleQueue(simple):  # type: ignore[misc, valid-type]  # made of what stands in `queue`
        """`queue.SimpleQueue`, whose readers wait in the time of the trial in hand: the threads of a pool."""

        def __filled(self) -> bool:
            return not self.empty()

        def get(self, block: bool = True, timeout: float | None = None) -> Any:  # its signature
            """Take an item; `queue.Empty` as the standard library has it."""
            held = scheduler.taken_in()
            if not block or (timeout is not None and (timeout <= 0 or held is None)):
                return super().get(block, timeout)
            while True:
                if self.empty():
                    wait = Wait(self.__filled, patient=True)
                    if not (held.stay(wait, _nanoseconds(timeout)) if held else scheduler.rest(wait)):
                        return super().get(False)
                with suppress(empty):  # another thread was faster
                    return super().get(False)

        def get_nowait(self) -> Any:
            """Take an item that is there."""
            return self.get(False)

        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:  # its signature
            """Put an item."""
            super().put(item, block, timeout)
            if scheduler.current() is None:
                scheduler.turn()

        put_nowait = put

    SimpleQueue.__module__, SimpleQueue.__qualname__ = simple.__module__, simple.__qualname__
    return SimpleQueue


def _prepare_queue(module: ModuleType) -> None:
    setattr(module, "SimpleQueue", _simple(module))  # noqa: B010  # a module's attribute
    setattr(module, "time", stdtime.monotonic)  # noqa: B010  # it stands there under the name by which it was imported


def install() -> None:
    """Put our waits in place; outside of a trial they do what the real ones do."""
    for home, function in ((Condition, wait), (Thread, start), (Thread, join)):
        function.__module__, function.__qualname__ = "threading", f"{home.__name__}.{function.__name__}"
        setattr(home, function.__name__, function)
    setattr(threading, "_time", stdtime.monotonic)  # noqa: B010  # as in `queue`
    imports.after("queue", _prepare_queue)
