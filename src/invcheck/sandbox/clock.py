"""Time: one virtual clock per trial, which waits move at once.

Wall and monotonic time are exactly start + waits. The wall clock is replaced at C level (time-machine), so names that
were captured early follow too; `stdtime` puts the rest of `time` on this clock.
"""

from __future__ import annotations

import operator
import sys
import time
from _thread import _count as other_threads
from _thread import allocate_lock, get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from sys import _getframe as frame_at
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, Protocol
from weakref import ref

from invcheck.errors import UsageError
from invcheck.sandbox import ambient

if TYPE_CHECKING:
    from invcheck.record import Record
    from invcheck.vocabulary import Json

START = 1_893_456_000
"""2030-01-01T00:00:00Z, the wall clock's start, in seconds since 1970."""

MONOTONIC_START = 1_000
PATIENCE = 1_000
"""Reads in a row without a wait after which every further read adds a millisecond: a busy wait must end."""

SECOND = 1_000_000_000
_THROUGH = frozenset({__name__, "invcheck.sandbox.stdtime", "uuid", "email.utils", "time_machine"})

real_sleep, real_monotonic = time.sleep, time.monotonic


class Clock(Protocol):
    """What a trial's clock can be asked; doubles know two of its methods as `vocabulary.Waits`."""

    def now(self) -> float:
        """Seconds on the monotonic clock."""

    def wait(self, seconds: float) -> None:
        """Let that many seconds pass, and note them."""

    def note(self, seconds: float) -> None:
        """Note a wait that something else will carry out, such as a timer of an event loop."""

    def let(self, seconds: float) -> None:
        """Let the seconds pass that a model takes."""

    async def alet(self, seconds: float) -> None:
        """Let the seconds pass that a model takes, in the event loop that runs."""

    @property
    def elapsed(self) -> float:
        """Seconds that passed in the trial."""


class Others(Protocol):
    """What hands the time to other threads: the sandbox's scheduler."""

    def knows(self, ident: int) -> bool:
        """Say whether a thread is one of the trial's."""

    def sleep(self, nanoseconds: int) -> None:
        """Stay until that much time has passed."""


class _Nobody:
    """What hands the time on when a trial is over: who still waits on its clock waits for real."""

    __slots__ = ()

    def knows(self, ident: int) -> bool:  # noqa: ARG002  # the signature of `Others`
        return False

    def sleep(self, nanoseconds: int) -> None:
        real_sleep(nanoseconds / SECOND)


class VirtualClock:
    """A clock that waits move at once; ``start`` is the wall clock's start in nanoseconds since 1970.

    >>> from invcheck.record import Record
    >>> record = Record()
    >>> clock = VirtualClock(record)
    >>> clock.wait(1.5)
    >>> clock.now(), clock.elapsed
    (1001.5, 1.5)
    """

    __slots__ = ("_left", "_lock", "_reads", "_record", "_start", "others", "passed", "stood")

    def __init__(self, record: Record, start: int = START * SECOND) -> None:
        self._record, self._start = ref(record), start + _shift[0]  # the record has its clock: only the collector would free a circle
        self.others: Others | None = None
        self._left: int | None = None
        self.passed = self._reads = 0
        self.stood = MONOTONIC_START * SECOND + _shift[1]
        self._lock = allocate_lock()

    def now(self) -> float:
        """Seconds on the virtual monotonic clock, which starts at 1,000."""
        return (self.stood + self.passed) / SECOND

    @property
    def elapsed(self) -> float:
        """Virtual seconds that passed in the trial."""
        return self.passed / SECOND

    def wait(self, seconds: float) -> None:
        """Let that many seconds pass at once, and note them; ValueError and TypeError as `time.sleep` has them."""
        seconds = _seconds(seconds)
        if self.stranger():
            real_sleep(seconds)
        else:
            self.note(seconds)
            self.let(seconds)

    def stranger(self) -> bool:
        """Say whether the thread that asks is none of the trial's: its waits are real."""
        return self.others is not None and bool(other_threads()) and not self.others.knows(get_ident())

    def tire(self) -> None:
        """Let the next twenty waits be the last that pass at once: the app has returned, and some daemon sleeps for ever."""
        self._left = 20

    @property
    def returned(self) -> bool:
        """Whether the app has returned, so that only what it left still waits."""
        return self._left is not None

    def _tired(self) -> bool:
        if self._left is None:
            return False
        self._left -= 1
        return self._left < 0

    def note(self, seconds: float) -> None:
        """Note a wait that the event loop will carry out."""
        record = self._record()
        if record is not None:
            record.wait(float(seconds))

    def past(self, where: str) -> None:
        """Note, once, that time moves past a thread that cannot be seen: what it does meanwhile has no order."""
        record = self._record()
        if record is not None and self._left is None and ("unseen wait", where) not in record.ambient:
            record.read("unseen wait", where)

    def end(self) -> None:
        """Let go of the trial's threads, which is over: who still waits waits for real."""
        self.others = _Nobody()

    def advance(self, seconds: float) -> None:
        """Let time pass without noting a wait: what a timer does."""
        with self._lock:
            self.passed += round(seconds * SECOND)
            self._reads = 0

    def reach(self, passed: int) -> None:
        """Let time pass until so many nanoseconds have passed in all; it never goes back."""
        if passed > self.passed:
            with self._lock:
                self.passed, self._reads = max(self.passed, passed), 0

    def let(self, seconds: float) -> None:
        """Let the seconds pass that a model takes, which are no wait of the app's; other threads come first as they would."""
        nanoseconds = round(seconds * SECOND)
        if not other_threads():
            if nanoseconds:  # who sleeps for nothing until some time has come is a busy wait, and goes on being one
                self.advance(seconds)
        elif self._tired():
            self.advance(seconds)
            real_sleep(seconds)  # a place of its own, by which `threads` knows who stays here
        elif self.others is None:
            self.advance(seconds)
            real_sleep(0)  # the other threads get their turn, as they would in a real sleep
        else:
            if not nanoseconds:
                self.read(frame_at(1))  # who sleeps for nothing until another is done waits as one who reads the clock does
            self.others.sleep(nanoseconds)

    async def alet(self, seconds: float) -> None:
        """Let the seconds pass that a model takes, in the time of the event loop that runs; else as `let`."""
        await _looped(seconds, self.let)

    def read(self, frame: FrameType | None) -> int:
        """Give the nanoseconds that passed, to code that asks; a busy wait moves them."""
        self._reads += 1
        if self._reads > PATIENCE:
            with self._lock:
                self.passed += 1_000_000
            ambient.read("busy wait", frame, _THROUGH)
        return self.passed

    def monotonic(self, frame: FrameType | None) -> int:
        """Give the monotonic clock in nanoseconds, to code that asks."""
        return self.stood + self.read(frame)

    def wall(self) -> int:
        """Give the wall clock in nanoseconds; the frame that asks is noted. time-machine calls this for every read."""
        frame = frame_at(1)
        ambient.read("wall clock", frame, _THROUGH)
        return self._start + self.read(frame)


_shift = (0, 0)


@contextmanager
def shifted(wall: int, monotonic: int) -> Iterator[None]:
    """Let virtual clocks that are made until the block is left start so many nanoseconds later: another day, for an audit."""
    global _shift  # noqa: PLW0603  # one audit per process
    before, _shift = _shift, (wall, monotonic)
    try:
        yield
    finally:
        _shift = before


class RealClock:
    """The real clock, for ``clock: real``; waits are noted and slept."""

    __slots__ = ("_record", "_waited")

    def __init__(self, record: Record) -> None:
        self._record, self._waited = ref(record), 0

    def now(self) -> float:
        """Seconds on the real monotonic clock."""
        return real_monotonic()

    @property
    def elapsed(self) -> float:
        """The seconds that were asked for: a real duration has no place in a result."""
        return self._waited / SECOND

    def wait(self, seconds: float) -> None:
        """Sleep for real, and note it."""
        seconds = _seconds(seconds)
        self.note(seconds)
        real_sleep(seconds)

    def note(self, seconds: float) -> None:
        """Note a wait that the event loop will carry out."""
        self._waited += round(seconds * SECOND)
        record = self._record()
        if record is not None:
            record.wait(float(seconds))

    def let(self, seconds: float) -> None:
        """Sleep the seconds that a model takes."""
        self._waited += round(seconds * SECOND)
        real_sleep(seconds)

    async def alet(self, seconds: float) -> None:
        """Sleep the seconds that a model takes, in the event loop that runs."""
        self._waited += round(seconds * SECOND)
        await _looped(seconds, real_sleep)


async def _looped(seconds: float, otherwise: Callable[[float], None]) -> None:
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_task():
        if seconds > 0:
            with trio.CancelScope(deadline=trio.current_time() + seconds):  # `trio.sleep` would note it as the app's own wait
                await trio.sleep_forever()
        return
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or asyncio._get_running_loop() is None:  # noqa: SLF001  # documented for this use, and asks without raising
        otherwise(seconds)
        return
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    timer = loop.call_later(seconds, over.set_result, None)
    try:
        await over
    finally:
        timer.cancel()


_clock: Clock | None = None


def current() -> Clock | None:
    """Give the clock of the trial in hand, or None outside of one."""
    return _clock


def virtual() -> VirtualClock | None:
    """Give the clock of the trial in hand if it is a virtual one."""
    return _clock if isinstance(_clock, VirtualClock) else None


def _seconds(seconds: float) -> float:
    value = float(seconds if isinstance(seconds, float) else operator.index(seconds))
    if value != value:  # noqa: PLR0124  # the definition of NaN
        raise ValueError("Invalid value NaN (not a number)")
    if value < 0:
        raise ValueError("sleep length must be non-negative")
    if value == float("inf"):
        raise OverflowError("timestamp out of range for platform time_t")
    return value


def _start_of(spec: Json) -> int:
    from datetime import UTC, datetime  # noqa: PLC0415  # only a check that sets its own start pays for it

    try:
        start = datetime.fromisoformat(spec["start"])
    except (KeyError, TypeError, ValueError):
        raise UsageError(f"clock must be real or {{start: an ISO 8601 time}}, got {spec!r}") from None
    start = start if start.tzinfo else start.replace(tzinfo=UTC)
    return (int(start.replace(microsecond=0).timestamp()) * 1_000_000 + start.microsecond) * 1_000


def make(record: Record, spec: Json = None) -> Clock:
    """Give the clock that a check asks for: None, ``"real"`` or ``{"start": "2031-05-01T12:00:00Z"}`` (UTC by default)."""
    if spec is None:
        return VirtualClock(record)
    return RealClock(record) if spec == "real" else VirtualClock(record, _start_of(spec))


class _AnyTestCase(type):
    def __subclasscheck__(cls, kind: type) -> bool:
        from unittest import TestCase  # noqa: PLC0415  # only where an app decorates a test of its own

        return issubclass(kind, TestCase)


class _Unittest(ModuleType):
    """What time-machine needs of unittest: to tell its test cases from other classes."""

    class TestCase(metaclass=_AnyTestCase):
        """Stands for every test case there is."""


_travel: Any = None


def _travels() -> Any:
    """Give time-machine's travel, which puts the wall clock in our hands; imported at the first trial."""
    global _travel  # noqa: PLW0603  # one per process
    if _travel is None:
        # time-machine imports pytest for a fixture and unittest for a decorator of its own, six times the cost of the rest
        spared: dict[str, Any] = {"pytest": None, "unittest": _Unittest("unittest")}  # None makes it an ImportError
        spared = {name: module for name, module in spared.items() if name not in sys.modules}
        sys.modules.update(spared)
        try:
            import time_machine  # noqa: PLC0415  # at the first trial, not at the worker's start
        finally:
            for name in spared:
                del sys.modules[name]
        _travel = time_machine.travel(START, tick=False)
    return _travel


def begin(clock: Clock) -> Clock | None:
    """Make ``clock`` the one that time is asked from, until `end` is given what this gives."""
    global _clock  # one trial in hand per process
    if isinstance(clock, VirtualClock):
        _travels().start().time_ns = clock.wall
    before, _clock = _clock, clock
    return before


def end(before: Clock | None) -> None:
    """Give time back."""
    global _clock  # as above
    ended, _clock = _clock, before
    if isinstance(ended, VirtualClock):
        _travel.stop()
