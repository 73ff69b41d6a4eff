"""Waiting in whatever event loop runs, asyncio's or trio's: one turn of it, and a wait that an abort signal ends at once."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Coroutine, Generator
from types import ModuleType
from typing import Any, Protocol, TypeVar

from invcheck.request import Call

T = TypeVar("T")

_waiting: set[Any] = set()
"""Tasks that nobody else holds, which a loop would let go of."""


class Event(Protocol):
    """What both event loops have for one task to wake another."""

    def set(self) -> object:
        """Wake who waits."""

    async def wait(self) -> object:
        """Wait until it is set."""


def looped() -> bool:
    """Whether an asyncio event loop runs in this thread."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None  # noqa: SLF001  # documented for this use, and asks without raising


def _trio() -> ModuleType | None:
    trio = sys.modules.get("trio")
    return trio if trio is not None and trio.lowlevel.in_trio_task() else None


class _Turn:
    def __await__(self) -> Generator[None, None, None]:
        yield  # what asyncio takes for one turn of its loop


async def turn() -> None:
    """Give the event loop one turn, in which a cancellation may arrive; nothing where none runs."""
    if looped():
        await _Turn()
    elif (trio := _trio()) is not None:
        await trio.lowlevel.checkpoint()


def event() -> Event:
    """Give an event of the loop that runs."""
    trio = _trio()
    if trio is not None:
        made: Event = trio.Event()
        return made
    import asyncio  # noqa: PLC0415  # only two readers of one stream need it

    return asyncio.Event()


def later(function: Callable[..., Coroutine[Any, Any, None]], *args: Any) -> bool:
    """Have something awaited in the event loop of this thread, and say whether there is one."""
    if looped():
        import asyncio  # noqa: PLC0415  # it runs

        task = asyncio.ensure_future(function(*args))
        _waiting.add(task)
        task.add_done_callback(_waiting.discard)
        return True
    trio = _trio()
    if trio is not None:
        trio.lowlevel.spawn_system_task(function, *args)
    return trio is not None


async def unless_aborted(pending: Awaitable[T], call: Call) -> T:
    """Wait for ``pending``; where the call's signal is aborted meanwhile it is cancelled at once, and CallCancelled raised.

    What is pending sees the runtime's own cancellation, so that it cleans up as it would in production; a cancellation of
    the task itself stays what it is.
    """
    if call.signal is None:
        return await pending
    trio = _trio()
    if trio is not None:
        return await _in_trio(trio, pending, call)
    return await _in_asyncio(pending, call) if looped() else await pending


async def _in_trio(trio: Any, pending: Awaitable[T], call: Call) -> T:
    token = trio.lowlevel.current_trio_token()
    with trio.CancelScope() as scope:

        def stop() -> None:
            inside = _trio()
            if inside is not None and inside.lowlevel.current_trio_token() is token:
                scope.cancel()
            else:
                token.run_sync_soon(scope.cancel)

        with call.live_signal.heard(stop):
            return await pending
    raise call.cancelled()


async def _in_asyncio(pending: Awaitable[T], call: Call) -> T:
    import asyncio  # noqa: PLC0415  # it runs

    stop = _Stop(asyncio.current_task(), asyncio.get_running_loop())
    with call.live_signal.heard(stop):
        try:
            return await pending
        except BaseException as error:
            alone = stop.over()  # taken back also where what was pending made another error of it
            if alone and isinstance(error, asyncio.CancelledError):
                raise call.cancelled() from None
            raise  # the task's own cancellation, or an error
        finally:
            stop.over()


class _Stop:
    """Cancels one task, from whatever thread, as `asyncio.timeout` does: the request is taken back once it has worked."""

    def __init__(self, task: Any, loop: Any) -> None:
        self._task, self._loop = task, loop
        self._before = task.cancelling()
        self.open, self._hit = True, False

    def __call__(self) -> None:
        asyncio = sys.modules["asyncio"]
        if looped() and asyncio.get_running_loop() is self._loop and asyncio.current_task() is not self._task:
            self._cancel()
        else:  # another thread; or the task itself, which has to wait for something before it can be cancelled
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self.open:
            self.open, self._hit = False, True
            self._task.cancel()

    def over(self) -> bool:
        """Take the cancellation back, and say whether it was the only one."""
        self.open = False
        hit, self._hit = self._hit, False
        return hit and self._task.uncancel() <= self._before
