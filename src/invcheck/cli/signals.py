"""The signals by which a terminal, a service manager or a CI runner ends a command: all of them as Ctrl-C does."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from invcheck.events import INTERRUPTED

_ENOUGH = 3


class _Interrupts:
    """Handles them: the first ends the command, the second finds it ending, and who asks three times waits for nothing."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self.count == 1:
            signal.default_int_handler(number, frame)
        if self.count >= _ENOUGH:
            os._exit(INTERRUPTED)  # the kernel ends the workers, and what was streamed so far is on the disk


@contextmanager
def interrupting(*always: signal.Signals, final: bool = False) -> Iterator[None]:
    """Have SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt in the block, so that reports end and nothing is left behind.

    Once: a second one does not keep the first from being told; a third leaves with status 130 at once. What was ignored
    before, as under nohup, stays ignored, but for what ``always`` names: a shell that runs no job control ignores SIGINT
    for what it starts in the background. Where one came in a ``final`` block, with which the process ends, it stays so to
    the end. In a thread that is not the main one nothing changes.
    """
    before, handled = {}, _Interrupts()
    for number in always or (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        handler = signal.getsignal(number)
        if number in always or handler not in (signal.SIG_IGN, None):
            with suppress(ValueError):  # only the main thread may set one
                before[number] = signal.signal(number, handled)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if final and handled.count else handler)
