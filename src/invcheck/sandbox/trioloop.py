"""trio in virtual time: its loop waits as asyncio's does in a trial (`polls`), and its threads take turns as all others do.

Its clock is the trial's, so that `trio.current_time` and `time.monotonic` show the same; the order in which it shuffles tasks
comes from the trial's seed. Outside of a trial, and for a run that brings a clock of its own, time is what it was. Imported
only once the app has imported trio.
"""

from __future__ import annotations

import math
import queue
from collections.abc import Callable, Sequence
from functools import wraps
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

from trio import abc, lowlevel
from trio._core import _run, _thread_cache

from invcheck import record
from invcheck.sandbox import clock, scheduler
from invcheck.sandbox.forever import WaitsForEver
from invcheck.sandbox.polls import Work, polled
from invcheck.sandbox.waiters import Call, Wait
from invcheck.seeds import derive

if TYPE_CHECKING:
    from types import TracebackType

T = TypeVar("T")

_DAY = 86_400.0
_NEAR = 1e-9  # seconds by which a deadline may come early: time is counted in whole nanoseconds, and deadlines are floats

_Manager: Any = _run.TheIOManager  # type: ignore[attr-defined]  # it stands there under that name
_RealClock: Any = _run.SystemClock
_expire = _run.Deadlines.expire


class Clock(abc.Clock):
    """The clock of a run that brings none: the trial's where there is one."""

    def __init__(self) -> None:
        self._real = _RealClock()

    def start_clock(self) -> None:
        """Begin a run: the order of its tasks is a matter of the trial's seed."""
        held = record.current()
        if held is not None and clock.virtual() is not None:
            _run._r.seed(derive(held.seed, "trio"))  # noqa: SLF001  # it has no other place

    def current_time(self) -> float:
        """Give the seconds of the trial's monotonic clock."""
        time = clock.virtual()
        return float(self._real.current_time()) if time is None else time.now()

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """Give the seconds until then."""
        return deadline - self.current_time()


class TrioCall(Call):
    """A call of a double that a task awaits."""

    __slots__ = ("served", "task")

    def __init__(self, lane: object, task: Any) -> None:
        super().__init__(lane)
        self.task, self.served = task, False


class Manager(_Manager):  # type: ignore[misc]  # made of what stands there
    """Looks for events really, waits virtually."""

    def __init__(self) -> None:
        super().__init__()
        self.work = Work()
        self.calls: list[TrioCall] = []
        self._run: Any = lambda: None
        self._error: WaitsForEver | None = None
        self._ended = False

    def get_events(self, timeout: float) -> Any:
        """Give the events that are ready; a wait for a deadline moves the virtual clock instead of sleeping."""
        runner = getattr(_run.GLOBAL_RUN_CONTEXT, "runner", None)
        if runner is not None:
            self._run = ref(runner)
        try:
            return polled(self._poll, self._ready, None if math.isinf(timeout) else timeout, self)
        except WaitsForEver as error:
            if self._ended:
                raise  # the run could not be ended from within
            self._error = error
            return []

    def closed(self) -> bool:
        """Say whether it looks at nothing but at what its own threads tell it; of a guest nobody knows what its host does."""
        runner = self._run()
        return not runner.is_guest and self._registered.keys() == {runner.entry_queue.wakeup.wakeup_sock.fileno()}

    def looked_at(self) -> list[int]:
        """Give the descriptors from which it wants to read."""
        return [descriptor for descriptor, waiters in list(self._registered.items()) if waiters.read_task is not None]

    def coroutines(self) -> list[object]:
        """Give what its tasks run."""
        return [task.coro for task in self._run().tasks]

    def process_events(self, events: Any) -> None:
        """Wake the tasks that waited for the events, and that of a call whose turn it is; end the run that waits for ever."""
        super().process_events(events)
        if self._error is not None and not self._ended:
            self._ended = True
            self._run().main_task._attempt_abort(self._ends)  # noqa: SLF001  # as it delivers a KeyboardInterrupt
        for call in self.calls:
            if call.granted and not call.served:
                call.served = True
                lowlevel.reschedule(call.task)

    def _ends(self) -> None:
        if self._error is not None:
            raise self._error

    async def turn(self, lane: object) -> bool:
        """Wait until every task and thread waits, and say whether another call waits on the same lane."""
        call = TrioCall(lane, lowlevel.current_task())
        self.calls.append(call)
        try:
            await lowlevel.wait_task_rescheduled(lambda _: lowlevel.Abort.FAILED if call.served else lowlevel.Abort.SUCCEEDED)
        finally:
            self.calls.remove(call)
        return call.overlaps

    def _poll(self, timeout: float | None) -> Any:
        return super().get_events(_DAY if timeout is None else min(timeout, _DAY))

    def _ready(self) -> bool:
        # a poll of trio's own would take the events: it has asked the kernel to tell of each once
        from select import POLLIN, poll  # noqa: PLC0415  # it is loaded

        looks = poll()
        looks.register(self._epoll.fileno(), POLLIN)
        return bool(looks.poll(0))


class Latch:
    """The lock by which trio's threads are given their jobs: a wait of ours, whose limit is real and for outside of trials only."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open = True

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: ARG002  # a lock's signature
        """Wait until it is released, in a trial however long that takes; say whether it was."""
        if not self._open:
            wait = Wait(lambda: self._open, patient=True)
            if timeout >= 0:
                wait.expires = clock.real_monotonic() + timeout
            held = scheduler.current()
            held.stay(wait) if held else scheduler.rest(wait)
        was, self._open = self._open, False
        return was

    def release(self) -> None:
        """Let the thread have its job."""
        self._open = True
        if scheduler.current() is None:
            scheduler.turn()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None) -> None:
        self.release()


def current() -> Manager | None:
    """Give what the run of this thread polls with, where that is ours."""
    runner = getattr(_run.GLOBAL_RUN_CONTEXT, "runner", None)
    held = getattr(runner, "io_manager", None)
    return held if isinstance(held, Manager) else None


def _expired(self: Any, now: float) -> bool:
    return bool(_expire(self, now if clock.virtual() is None else now + _NEAR))


def _given(start: Callable[..., None]) -> Callable[..., None]:
    """Let a run know of the jobs that it has given to threads."""

    @wraps(start)
    def given(self: Any, fn: Callable[[], T], deliver: Callable[[Any], object], name: str | None = None) -> None:
        held = current()
        if held is None or getattr(fn, "__module__", None) == _run.__name__:  # no run's, or a guest's own poll
            start(self, fn, deliver, name)
            return
        work, job = held.work, object()

        def delivered(outcome: Any) -> None:
            try:
                deliver(outcome)
            finally:
                work.jobs.discard(job)

        work.jobs.add(job)
        start(self, fn, delivered, name)

    return given


def _known(begin: Callable[..., None]) -> Callable[..., None]:
    """Let a run know of the programs that it has started."""

    @wraps(begin)
    def known(self: Any, popen: Any, *streams: Any) -> None:
        begin(self, popen, *streams)
        held = current()
        if held is not None:
            held.work.programs.add(popen.pid, lambda: popen.returncode is not None)

    return known


def _own_queue(message: Any) -> Any:
    """Give a message of a thread to its run, whose answer is waited for in a queue of ours."""

    class Message(message):  # type: ignore[misc]  # as above
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            object.__setattr__(self, "queue", queue.SimpleQueue())

    return Message


def _noted(sleep: Callable[..., Any], seconds_of: Callable[[float], float]) -> Callable[..., Any]:
    @wraps(sleep)
    async def noted(until: float) -> None:
        time, seconds = clock.current(), seconds_of(until)
        if time is not None and 0 < seconds < math.inf:  # a sleep of 0 is trio's way to yield
            time.note(seconds)
        await sleep(until)

    return noted


def _put(home: object, names: Sequence[str], what: object) -> None:
    for name in names:
        setattr(home, name, what)


def prepare(module: ModuleType) -> None:
    """Make trio use our clock, our polls and our waits; called once, right after trio was imported."""
    import trio._subprocess as processes  # noqa: PLC0415  # trio has it by now
    import trio._threads as threads  # noqa: PLC0415  # likewise

    _put(_run, ["SystemClock"], Clock)
    _put(_run, ["TheIOManager"], Manager)
    _put(_run, ["_MAX_TIMEOUT"], math.inf)  # a wait without an end and one of a day must not look the same
    _put(_run, ["_ALLOW_DETERMINISTIC_SCHEDULING"], True)
    _put(_run.Deadlines, ["expire"], _expired)
    _put(_thread_cache, ["Lock"], Latch)
    _thread_cache.THREAD_CACHE._idle_workers.clear()  # noqa: SLF001  # those that wait in a lock already
    _put(_thread_cache.ThreadCache, ["start_thread_soon"], _given(_thread_cache.ThreadCache.start_thread_soon))
    _put(processes.Process, ["__init__"], _known(processes.Process.__init__))
    for name in ("Run", "RunSync"):
        _put(threads, [name], _own_queue(getattr(threads, name)))
    _put(module, ["sleep"], _noted(module.sleep, float))
    _put(module, ["sleep_until"], _noted(module.sleep_until, lambda deadline: round(deadline - module.current_time(), 9)))
