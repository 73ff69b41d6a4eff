"""Turns of calls where no sandbox holds: calls that tasks have in flight at once on one lane overlap; threads are not seen."""

from __future__ import annotations

import sys
from collections.abc import Generator


class _Turn:
    def __await__(self) -> Generator[None, None, None]:
        yield  # what asyncio takes for one turn of its loop


class Arrivals:
    """The turns of a record without a sandbox, `vocabulary.Turns` as far as that goes.

    A call of a task gives its event loop one turn, of asyncio or trio, so that the calls of other tasks that are ready arrive
    beside it. What several threads do at once is not found here: whether they meet is chance.
    """

    __slots__ = ("_flights",)

    def __init__(self) -> None:
        self._flights: dict[object, list[_Flight]] = {}

    def taken(self, lane: object) -> bool:  # noqa: ARG002  # the signature of `Turns`
        """Say that a synchronous call overlaps with none."""
        return False

    async def ataken(self, lane: object) -> bool:
        """Give the event loop one turn, and say whether another call was in flight on the lane meanwhile."""
        flights = self._flights.setdefault(lane, [])
        own = _Flight()
        flights.append(own)
        if len(flights) > 1:
            for flight in flights:
                flight.met = True
        try:
            await turn()
        finally:
            flights.remove(own)
        return own.met


class _Flight:
    __slots__ = ("met",)

    def __init__(self) -> None:
        self.met = False


async def turn() -> None:
    """Give the event loop one turn, in which a cancellation may arrive; nothing where none runs."""
    asyncio, trio = sys.modules.get("asyncio"), sys.modules.get("trio")
    if asyncio is not None and asyncio._get_running_loop() is not None:  # noqa: SLF001  # documented for this use, and asks without raising
        await _Turn()
    elif trio is not None and trio.lowlevel.in_trio_task():
        await trio.lowlevel.checkpoint()
