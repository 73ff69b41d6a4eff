"""The signals by which a terminal, a service manager or a CI runner ends a command: all of them as Ctrl-C does."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def interrupting(*always: signal.Signals) -> Iterator[None]:
    """Have SIGTERM and SIGHUP raise KeyboardInterrupt in the block, so that reports end and nothing is left behind.

    What was ignored before, as under nohup, stays ignored, but for what ``always`` names: a shell that runs no job control
    ignores SIGINT for what it starts in the background. In a thread that is not the main one nothing changes.
    """
    before = {}
    for number in always or (signal.SIGTERM, signal.SIGHUP):
        handler = signal.getsignal(number)
        if number in always or handler not in (signal.SIG_IGN, None):
            with suppress(ValueError):  # only the main thread may set one
                before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
