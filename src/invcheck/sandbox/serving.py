"""The threads of our own servers: they are none of the app's, and an answer that is under way comes before any timer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Serves(Protocol):
    """The loop of a server."""

    def rests(self) -> bool:
        """Say whether nothing has arrived that is not answered; asked from another thread."""


threads: set[int] = set()
"""The threads that serve, by their numbers."""

loops: list[Serves] = []
"""The loops that run in them."""


def busy() -> bool:
    """Say whether a server of ours has read, or could read, something that it has not answered yet.

    Who lets virtual time move asks first. A server that keeps silent on purpose has nothing more to say.
    """
    return bool(loops) and not all(loop.rests() for loop in loops)


class _Hold:
    def rests(self) -> bool:
        return False


@contextmanager
def held() -> Iterator[None]:
    """Let no time move in the block, in which a thread of the app waits for one of ours where nobody can see it."""
    hold = _Hold()
    loops.append(hold)
    try:
        yield
    finally:
        loops.remove(hold)
