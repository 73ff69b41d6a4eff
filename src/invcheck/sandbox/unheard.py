"""What the app's own threads raise: Python prints it and goes on, so nothing of it leaves the app."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from invcheck.errors import NetworkBlocked, ScriptedModelError


@contextmanager
def listening() -> Iterator[list[BaseException]]:
    """Collect what ends a thread while the block runs; what stands in the record already, and leaving on purpose, is left out."""
    heard: list[BaseException] = []

    def hear(told: threading.ExceptHookArgs) -> None:
        if told.exc_value is not None and not isinstance(told.exc_value, NetworkBlocked | ScriptedModelError | SystemExit):
            heard.append(told.exc_value)

    before, threading.excepthook = threading.excepthook, hear
    try:
        yield heard
    finally:
        threading.excepthook = before
