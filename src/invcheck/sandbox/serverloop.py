"""The event loop of a server of ours: its time is neither the app's nor real.

What a double waits for while it answers passes at once; only a silence, which a client must hear on a real socket, is real.
With ``real`` all of it is, for people who try an app out.
"""

from __future__ import annotations

import asyncio
import selectors
from asyncio import selector_events
from collections.abc import Callable, Coroutine
from threading import Thread, get_ident
from typing import Any

from invcheck import record
from invcheck.sandbox import clock, serving, waits
from invcheck.vocabulary import Finding, Verdict


class _Selector(selectors.DefaultSelector):
    """Polls really; waits for timers not at all."""

    def __init__(self, *, real: bool) -> None:
        super().__init__()
        self.real = real
        self.passed = 0.0
        self.turns = 0
        self.resting = False
        self.silences: list[tuple[float, asyncio.Future[None]]] = []

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Give the events that are ready; a timer's time passes at once, in the clock of the trial in hand too."""
        if timeout is not None and not self.real:
            ready = super().select(0)
            if not ready and timeout > 0:
                self.passed += timeout
                _pass(timeout)
            return ready
        self.resting = True
        try:
            return super().select(self._patience(timeout))
        finally:
            self.resting = False
            self.turns += 1
            self._end_silences()

    def waiting(self) -> bool:
        """Say whether events are ready that nobody has taken yet."""
        return bool(super().select(0))

    def _patience(self, timeout: float | None) -> float | None:
        ends = [] if timeout is None else [timeout]
        if self.silences:
            ends.append(max(min(until for until, _ in self.silences) - clock.real_monotonic(), 0))
        return min(ends, default=None)

    def _end_silences(self) -> None:
        now = clock.real_monotonic()
        for until, over in self.silences:
            if until <= now and not over.done():
                over.set_result(None)
        self.silences = [each for each in self.silences if not each[1].done()]


def _pass(seconds: float) -> None:
    """Let the time of the trial in hand pass, whoever else of it waits: a client in a socket shows nobody that it waits."""
    held = record.current()
    if held is not None and isinstance(held.clock, clock.VirtualClock):
        held.clock.advance(seconds)
    elif held is not None and held.clock is not None:
        held.clock.let(seconds)


class RealWaits:
    """What a model takes, in real seconds but never more than ``most``; where that cuts a wait it is a finding, WAIT_CUT."""

    def __init__(self, held: record.Record, most: float) -> None:
        self._record, self._most = held, most

    def let(self, seconds: float) -> None:
        """Sleep the seconds that a model takes."""
        clock.real_sleep(self._cut(seconds))

    async def alet(self, seconds: float) -> None:
        """Sleep the seconds that a model takes, in the loop of the server."""
        await asyncio.sleep(self._cut(seconds))

    def _cut(self, seconds: float) -> float:
        if seconds > self._most:
            told = f"a model takes {seconds:g} seconds for what comes next, and no wait is longer than {self._most:g} here"
            self._record.latch(Finding("WAIT_CUT", Verdict.ERRORED, told, hint="say --silence with as many seconds"))
        return min(seconds, self._most)


class ServerLoop(selector_events.BaseSelectorEventLoop):
    """The event loop of one server."""

    def __init__(self, *, real: bool = False) -> None:
        self._polls = _Selector(real=real)
        super().__init__(self._polls)

    def time(self) -> float:
        """Give the seconds that passed for what this server waits for."""
        return clock.real_monotonic() if self._polls.real else self._polls.passed

    def rests(self) -> bool:
        """Say whether nothing has arrived that is not answered; asked from another thread."""
        turns = self._polls.turns
        return self._polls.resting and not self._polls.waiting() and self._polls.resting and turns == self._polls.turns

    def silence(self, seconds: float) -> asyncio.Future[None]:
        """Give a future that is done after so many real seconds."""
        over: asyncio.Future[None] = self.create_future()
        self._polls.silences.append((clock.real_monotonic() + seconds, over))
        return over

    def serve(self, server: Callable[[ServerLoop], Coroutine[Any, Any, None]]) -> None:
        """Run a server in this thread until it ends, and close the loop."""
        serving.loops.append(self)
        try:
            self.run_until_complete(server(self))
        finally:
            serving.loops.remove(self)
            self.close()


def start(target: Callable[..., None], *args: Any) -> None:
    """Begin a thread of ours, which takes no turns with those of the app."""

    def runs() -> None:
        serving.threads.add(get_ident())
        try:
            target(*args)
        finally:
            serving.threads.discard(get_ident())

    # as outside of a trial: it begins at once, and does not wait until all threads of the app wait
    waits._start(Thread(target=runs, name="invcheck-server", daemon=True))  # noqa: SLF001  # its own room
