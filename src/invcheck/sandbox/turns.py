"""How a call of a double gets its turn in the sandbox: see `scheduler`."""

from __future__ import annotations

import sys
from _thread import _count as other_threads
from _thread import get_ident
from typing import Any

from invcheck.arrivals import Arrivals, turn
from invcheck.sandbox import scheduler, serving
from invcheck.sandbox.waiters import Call, Wait


class Turns:
    """The turns of one trial, as doubles know them: `vocabulary.Turns`."""

    __slots__ = ("_arrivals",)

    def __init__(self) -> None:
        self._arrivals = Arrivals()

    def taken(self, lane: object) -> bool:
        """Wait for the turn of a synchronous call, and say whether another call waits on its lane; a thread alone has its turn."""
        held = scheduler.current() if other_threads() else None
        if held is None:
            return False
        call = Call(lane)
        held.stay(Wait(calls=[call]))
        return call.overlaps

    async def ataken(self, lane: object) -> bool:
        """Wait for the turn of a call that a task awaits, and say the same; in a loop that is not ours as far as `Arrivals` goes.

        The loop of a server of ours gives a turn and finds nothing: in which turn two requests are read is chance.
        """
        asyncio = sys.modules.get("asyncio")
        loop: Any = asyncio and asyncio._get_running_loop()  # noqa: SLF001  # documented for this use, and asks without raising
        if getattr(loop, "takes_turns", False) and scheduler.current() is not None:
            return bool(await loop.turn(lane))
        trio = sys.modules.get("invcheck.sandbox.trioloop")
        polls = trio and trio.current()
        if polls is not None and scheduler.current() is not None:
            return bool(await polls.turn(lane))
        if get_ident() in serving.threads:
            await turn()
            return False
        return await self._arrivals.ataken(lane)
