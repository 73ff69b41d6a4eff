"""asyncio in virtual time: a selector loop that jumps to its next timer when nothing else can happen.

Its time does not jump while a subprocess is at work, or an executor's job that is stuck out of sight (`polls`): what they will
do is not known, and a timer that fires meanwhile is a false timeout. Imported only once the app has imported asyncio.
"""

from __future__ import annotations

import asyncio
import math
import selectors
import threading
from asyncio import base_events, tasks, unix_events
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import wraps
from heapq import heappush
from sys import _getframe as frame_at
from types import ModuleType
from typing import Any, TypeVar

from invcheck.sandbox import clock, network, scheduler, waiters
from invcheck.sandbox.polls import Work, polled
from invcheck.sandbox.waiters import Call

T = TypeVar("T")

_DAY = base_events.MAXIMUM_SELECT_TIMEOUT  # type: ignore[attr-defined]  # no stub has it


class _Selector(selectors.DefaultSelector):
    """Polls really, waits virtually."""

    loop: Loop | None = None

    def _poll(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(timeout if timeout is None else min(timeout, _DAY))
        return ready

    def _ready(self) -> bool:
        return bool(super().select(0))

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Give the events that are ready; a wait for a timer moves the virtual clock instead of sleeping."""
        if self.loop is None:
            return self._poll(timeout)
        if timeout == _DAY:  # the most that asyncio asks for: its timer may be later, or never come
            until = self.loop.until()
            timeout = None if until == math.inf else max(until, _DAY)
        ready = polled(self._poll, self._ready, timeout, self.loop)
        for call in self.loop.calls:
            if call.granted and not call.turn.done():
                call.turn.set_result(None)
        return ready


class LoopCall(Call):
    """A call of a double that a task awaits."""

    __slots__ = ("turn",)

    def __init__(self, lane: object, turn: asyncio.Future[None]) -> None:
        super().__init__(lane)
        self.turn = turn


class _Watched:
    """An executor for one job, which remembers the job's future."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.future: Future[Any] | None = None

    def submit(self, function: Callable[..., T], /, *args: Any) -> Future[T]:
        """Submit the job to the real executor."""
        future = self.future = self._executor.submit(function, *args)
        return future


class _Timer(asyncio.TimerHandle):
    """A timer of an audit: those of one moment ring in the order of their numbers, which is another than that of their beginning."""

    __slots__ = ("number",)

    def __init__(self, number: int, *args: Any) -> None:
        super().__init__(*args)
        self.number = number

    def __lt__(self, other: object) -> bool:
        own = self.when(), self.number
        return own < (other.when(), other.number) if isinstance(other, _Timer) else NotImplemented


class Loop(asyncio.SelectorEventLoop):
    """The event loop of a trial; outside of one it is asyncio's own in everything. It ``takes_turns`` unless its selector is the app's."""

    def __init__(self, selector: selectors.BaseSelector | None = None) -> None:
        ours = _Selector() if selector is None else selector
        super().__init__(ours)
        self.calls: list[LoopCall] = []
        self.work = Work()
        self.takes_turns = isinstance(ours, _Selector)
        if isinstance(ours, _Selector):
            ours.loop = self

    def until(self) -> float:
        """Give the seconds until the next timer, or infinity."""
        timers = self._scheduled  # type: ignore[attr-defined]  # no stub has it
        return float(timers[0]._when - self.time()) if timers else math.inf  # noqa: SLF001  # it has no other place

    def call_at(self, when: float, callback: Callable[..., object], *args: Any, context: Any = None) -> asyncio.TimerHandle:  # type: ignore[override]  # the stub's type variables are newer
        """Call at that moment; in an audit those of one moment come in another order."""
        numbers = waiters.numbers()
        if numbers is None:
            return super().call_at(when, callback, *args, context=context)
        timer = _Timer(next(numbers), when, callback, args, self, context)
        heappush(self._scheduled, timer)  # type: ignore[attr-defined]  # no stub has it
        timer._scheduled = True  # type: ignore[attr-defined]  # noqa: SLF001  # as asyncio marks its own
        return timer

    def closed(self) -> bool:
        """Say whether it looks at nothing but at what its own threads tell it."""
        looked_at: Any = self._selector.get_map()  # type: ignore[attr-defined]  # no stub has it
        return not (len(looked_at) > 1 or self._signal_handlers or self.work.programs)  # type: ignore[attr-defined]  # likewise

    def looked_at(self) -> list[int]:
        """Give the descriptors from which it wants to read."""
        looked_at: Any = self._selector.get_map()  # type: ignore[attr-defined]  # no stub has it
        return [key.fd for key in list(looked_at.values()) if key.events & selectors.EVENT_READ]

    def coroutines(self) -> list[object]:
        """Give what its tasks run."""
        return [task.get_coro() for task in asyncio.all_tasks(self)]

    async def turn(self, lane: object) -> bool:
        """Wait until every task and thread waits, and say whether another call waits on the same lane."""
        call = LoopCall(lane, self.create_future())
        self.calls.append(call)
        try:
            await call.turn
        finally:
            self.calls.remove(call)
        return call.overlaps

    def time(self) -> float:
        """Give the virtual time; a busy wait of the app moves it, asyncio's own reads do not."""
        time = clock.virtual()
        if time is None:
            return clock.real_monotonic()
        frame = frame_at(1)
        if not str(frame.f_globals.get("__name__")).startswith(("asyncio.", __name__)):
            time.read(frame)
        return time.now()

    def run_in_executor(self, executor: Executor | None, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]  # the stub's type variables are newer
        """Run a job in a pool; time does not jump before it is done, even when nobody awaits it any more."""
        if executor is None:
            executor = getattr(self, "_default_executor", None)
        if executor is None:
            from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # most apps never ask for a pool

            executor = ThreadPoolExecutor(thread_name_prefix="asyncio")
            self.set_default_executor(executor)
        watched = _Watched(executor)
        self.work.jobs.add(watched)
        try:
            awaitable = super().run_in_executor(watched, func, *args)  # type: ignore[arg-type]  # all that it asks for is submit
        finally:
            if watched.future is None:
                self.work.jobs.discard(watched)
            else:
                watched.future.add_done_callback(lambda _future: self.done(watched))
        return awaitable

    def done(self, job: object) -> None:
        """Hear that a job is done; asked from the thread that did it."""
        # the loop may be in a poll without end, because it saw the job as open after the job's result had woken it
        self.work.jobs.discard(job)
        self._write_to_self()  # type: ignore[attr-defined]  # no stub has it

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ARG002, ASYNC109  # asyncio's signature
        """Wait for the default pool to end; the time limit of newer Pythons would jump, so there is none."""
        self.work.jobs.add(self)
        try:
            await super().shutdown_default_executor()
        finally:
            self.work.jobs.discard(self)

    async def _make_subprocess_transport(self, *args: Any, **kwargs: Any) -> asyncio.SubprocessTransport:
        self.work.jobs.add(marker := object())
        try:
            transport: asyncio.SubprocessTransport = await super()._make_subprocess_transport(*args, **kwargs)  # type: ignore[misc]  # no stub has it
        finally:
            self.work.jobs.discard(marker)
        self.work.programs.add(transport.get_pid(), lambda: transport.get_returncode() is not None)
        self._leave_out_waiters()
        return transport

    @staticmethod
    def _leave_out_waiters() -> None:
        """Take the threads in which asyncio waits for the end of programs for none of the app's."""
        held = scheduler.current()
        if held is not None:
            for thread in threading.enumerate():
                if thread.name.startswith("asyncio-waitpid-") and thread.ident is not None:
                    held.leave_out(thread.ident)


def _audited(getaddrinfo: Callable[..., Any]) -> Callable[..., Any]:
    # asyncio looks names up in a thread, where the gate would see no frame of the caller
    @wraps(getaddrinfo)
    async def audited(self: object, host: Any, port: Any, **kwargs: Any) -> Any:
        network.check("socket.getaddrinfo", host, port)
        return await getaddrinfo(self, host, port, **kwargs)

    return audited


def _noted(sleep: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(sleep)
    async def noted(delay: float, result: T | None = None) -> T | None:
        time = clock.current()
        if time is not None and 0 < delay < math.inf:  # a sleep of 0 is asyncio's way to yield
            time.note(delay)
        value: T | None = await sleep(delay, result)
        return value

    return noted


def prepare(module: ModuleType) -> None:
    """Make asyncio use our loop and note its sleeps; called once, right after asyncio was imported."""
    sleep = _noted(tasks.sleep)
    setattr(module, "sleep", sleep)  # noqa: B010  # a module's attribute, which no type checker may know as assignable
    setattr(tasks, "sleep", sleep)  # noqa: B010  # likewise
    base = base_events.BaseEventLoop
    setattr(base, "getaddrinfo", _audited(base.getaddrinfo))  # noqa: B010  # likewise
    for home in (module, unix_events):
        for name in ("SelectorEventLoop", "EventLoop"):
            if hasattr(home, name):
                setattr(home, name, Loop)
    setattr(unix_events.DefaultEventLoopPolicy, "_loop_factory", Loop)  # noqa: B010  # likewise
