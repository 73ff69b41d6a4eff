"""The one line that moves while a long run goes on: on a terminal only, and gone when the run is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from invcheck.cli import console
from invcheck.events import Event, Progress, Started

PATIENCE, PACE = 0.5, 0.1
"""Seconds before the line shows at all, and between two of its states."""


class ProgressLine:
    """Shows how many trials are over on a terminal; on any other stream it does nothing."""

    def __init__(self, stream: TextIO | None, *, dumb: bool = False, now: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._now = stream, now
        self._wanted = stream is not None and stream.isatty() and not dumb
        self._next = now() + PATIENCE
        self._trials = 0
        self._shown = False

    def take(self, event: Event) -> None:
        """Follow the run's events."""
        if not self._wanted:
            return
        if isinstance(event, Started):
            self._trials = event.trials
        elif isinstance(event, Progress) and self._now() >= self._next:
            self._next = self._now() + PACE
            self._shown = True
            broken = f", {event.broken} not kept" if event.broken else ""
            console.write(self._stream, f"\r\x1b[K{event.done_trials} of {self._trials} trials{broken}")

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            self._shown = False
            console.write(self._stream, "\r\x1b[K")
