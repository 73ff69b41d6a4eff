"""What a double needs of the sandbox, which it does not know."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Waits(Protocol):
    """How a double lets time pass that its model takes; the sandbox's clock is one, and no wait of the app is noted."""

    def let(self, seconds: float) -> None:
        """Let that many seconds pass."""

    async def alet(self, seconds: float) -> None:
        """Let that many seconds pass while the event loop runs, so that its timers may come first."""


class Turns(Protocol):
    """How calls of one lane meet: a call is served once every thread and task that can be seen waits as well.

    Two calls that wait on one lane then overlap: nothing says which of them came first. Both methods give True for each of
    them. ``lane`` is any hashable value, such as a double's id with the name of a lane.
    """

    def taken(self, lane: object) -> bool:
        """Wait for the turn of a synchronous call, and say whether it overlaps with another one on its lane."""

    async def ataken(self, lane: object) -> bool:
        """Wait for the turn of a call that a task awaits, which the event loop passes at least once, and say the same."""
