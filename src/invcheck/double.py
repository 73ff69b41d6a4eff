"""The waist: whatever answers and however it is asked, every call of a double takes the same seven steps.

snapshot → record → cancelled? → draw → emit → verify → close. What answers is a `Source`; how it is asked is a face.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import replace
from threading import Lock, RLock, get_ident, main_thread
from typing import Any

from invcheck import lanes, protocol, record, replies
from invcheck.errors import CallCancelled, DoubleError, InvcheckError, NotInTest, ScriptedModelError
from invcheck.handing import Handing, Render
from invcheck.mistakes import finding, own, stumbled, unmeant
from invcheck.protocol import unoffered
from invcheck.request import AbortSignal, Call, Handed, Request
from invcheck.snapshot import snapshot
from invcheck.source import Source, Step
from invcheck.vocabulary import Counts, Delivery, Exchange, Finding, Outcome, Reply, State, Turns, Usage, Verdict

REFUSED = frozenset(
    {
        "ENDPOINT_UNKNOWN",
        "LANE_UNDECLARED",
        "PROMPT_CHANGED",
        "REQUEST_CHANGED",
        "REQUEST_PROTOCOL",
        "SCRIPT_EXHAUSTED",
        "SCRIPT_ITERATOR_REUSED",
        "STEP_MISMATCH",
        "TOOL_NOT_OFFERED",
    }
)
"""Codes of what the app, or the script it was given, may not do: the call is refused and the finding is broken."""

CROWDED = 10_000
"""Calls that a double without ``keep`` holds before the trial notes it."""

_UNREAD = "a stream was opened and never read: iterate it, or await its result"

Hand = Callable[[Any, Call], object]
Items = Callable[[Reply, Call], Iterable[object]]
Pause = Callable[[], Awaitable[None]]


class Double:
    """One source, whatever face asks it. NotInTest where it is built outside of a test.

    ``usage`` is the default for replies that do not say; ``lane_by`` names the lane of a request: the name of one of its
    fields, or a function of it. ``delivery`` is how replies are handed over that do not say. With ``cached`` counted
    tokens tell what a request shares with the one before it on its lane as read from a cache. ``relax`` names rules of
    `invcheck.protocol` that requests may break. ``keep`` bounds how many
    calls are held; older ones are counted and forgotten.
    """

    def __init__(
        self,
        source: Source,
        *,
        name: str = "Double",
        usage: Usage | Mapping[str, int | None] | None = None,
        lane_by: str | Callable[[Request], str] | None = None,
        delivery: Delivery | None = None,
        cached: bool = False,
        relax: Collection[str] = (),
        keep: int | None = None,
    ) -> None:
        self._record = record.required(name)
        if keep is not None and (type(keep) is not int or keep < 1):
            raise DoubleError(f"keep is a number of calls from 1, got {keep!r}")
        self._name = name
        self._source = source
        self._lane_by = own("lane_by", lane_by) if callable(lane_by) else lane_by
        self._handing = Handing(self._record, replies.usage_of(usage), delivery, cached=cached)
        self._relaxed = protocol.relaxed_rules(relax) if relax else frozenset()
        self._keep = keep
        self._calls: list[Call] = []
        self._forgotten: dict[State, int] = {}
        self._arrived = 0
        self._arrivals = Lock()
        self._locks: dict[str | None, RLock] = {}
        self._drawing: set[str | None] = set()
        self._asked: dict[str | None, int] = {}
        self._latched: set[tuple[str, str | None]] = set()
        self._record.doubles.append(self)

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request so far, or the last ``keep`` ones, frozen and detached from what the app sent."""
        return tuple(call.request for call in self._calls)

    @property
    def calls(self) -> tuple[Exchange, ...]:
        """Every call so far, or the last ``keep`` ones, in order of arrival."""
        return tuple(Exchange(c.n, c.lane, c.request, c.outcome, c.state, c.error, c.method, c.attempt) for c in self._calls)

    @property
    def counts(self) -> Counts:
        """How many calls there were, by what became of them."""
        states = [call.state for call in self._calls]
        return Counts(*(self._forgotten.get(state, 0) + states.count(state) for state in State))

    @property
    def pending(self) -> int:
        """How many steps were not taken yet."""
        return self._source.pending

    def ordered(self, lane: str | None) -> bool:
        """Whether the order in which calls arrive on a lane decides what answers them."""
        return self._handing.cached or self._source.ordered(lane)

    def leftover(self) -> list[Finding]:
        """What is wrong now that nothing more will be asked; a stream that nobody has read took no step."""
        left = self._source.leftover()
        if left and any(call.streams and not call.handed and call.state is State.CANCELLED for call in self._calls):
            return [replace(each, hint=_UNREAD) if each.code == "SCRIPT_UNUSED" else each for each in left]
        return left

    async def ask(
        self,
        given: Mapping[str, object],
        *,
        lane: str | None = None,
        method: str | None = None,
        signal: AbortSignal | None = None,
        hand: Hand | None = None,
        render: Render,
    ) -> Any:
        """Take one call through the seven steps without an event loop; see `answer`."""
        return await self.answer(self.arrive(given, lane=lane, method=method, signal=signal), hand=hand, render=render)

    def arrive(
        self,
        given: Mapping[str, object],
        *,
        lane: str | None = None,
        method: str | None = None,
        signal: AbortSignal | None = None,
        attempt: int = 0,
    ) -> Call:
        """Take a frozen snapshot of a request, enter it and count it: before anything that could wait."""
        if record.current() is not self._record:
            raise self._stale()
        call = Call(snapshot(given), lane, method, signal, attempt)
        with self._arrivals:
            call.n = self._arrived
            self._arrived += 1
            self._calls.append(call)
            if self._keep is not None:
                self._forget(self._keep)
            elif self._arrived == CROWDED:
                self._record.read("history", f"a {self._name} holds every call; keep= bounds how many")
            if lane is None and self._lane_by is not None:
                self._find_lane(call, self._lane_by)
            call.ordinal = self._asked[call.lane] = self._asked.get(call.lane, 0) + 1
            call.entry = {
                "n": 0,
                "lane": call.lane,
                "method": method,
                "attempt": attempt,
                "request": call.plain,
                "outcome": None,
                "state": "cancelled",
                "error": None,
            }
            self._record.arrive(call.entry)
        return call

    async def answer(
        self, call: Call, *, hand: Hand | None = None, items: Items | None = None, render: Render, pause: Pause | None = None
    ) -> Any:
        """Answer a call that has arrived, and give what ``hand`` makes of the reply, else the reply.

        A fault is raised as ``render`` makes it an exception. ``pause`` lets a cancellation arrive before the draw. Where
        the call streams, each chunk is handed over as it comes; or instead what ``hand`` makes of each of the ``items``
        that the reply has.
        """
        try:
            if pause is not None:
                await pause()
            call.unless_cancelled()
            self._unless_broken(call)
            if self._record.turns is not None and self.ordered(call.lane):
                await self._turn(call, self._record.turns)
            step = self._draw(call)
            if items is not None:
                call.streams = False
            try:
                outcome = await step.give(call)
            except Exception as error:
                if not isinstance(error, InvcheckError) and unmeant(error):
                    self._record.latch(stumbled(call.n, error))
                raise
            call.unless_cancelled()
            self._unless_unoffered(call, outcome)
            handed: Any = await self._handing.settle(call, outcome, render)
            if items is not None:
                await _hand_over(items(handed, call), call, hand)
            elif hand is not None:
                handed = hand(handed, call)
            call.unless_cancelled()
        except BaseException as error:
            self._fell(call, error)
            raise
        if not call.ended:  # else a fault has broken the reply, and the app was given what arrived of it
            call.ended = True
            call.state = State.SERVED
            call.entry["state"] = "served"
        return handed

    def _unless_unoffered(self, call: Call, outcome: Outcome | str) -> None:
        """Refuse a reply that calls a tool which its request does not offer, where that can be told."""
        if type(outcome) is Reply and outcome.tool_calls and "tool-not-offered" not in self._relaxed:
            strange = unoffered.strange(call.plain, outcome.tool_calls, wire=call.raw)
            if strange is not None:
                raise unoffered.refusal(strange, call.plain, call.entry["n"])

    def handed(self, call: Call, place: int) -> None:
        """Enter that a reader was given the ``place``-th item of a stream, from 0."""
        call.handed = place + 1
        self._record.note("chunk", n=call.entry["n"], i=place)

    def _forget(self, keep: int) -> None:
        for place, old in enumerate(self._calls):
            if len(self._calls) <= keep:
                return
            if old.ended:
                del self._calls[place]
                self._forgotten[old.state] = self._forgotten.get(old.state, 0) + 1
                self._record.forget(old.entry, old.handed)
                return

    def _find_lane(self, call: Call, by: str | Callable[[Request], str]) -> None:
        try:
            named = call.plain.get(by) if isinstance(by, str) else by(call.request)
            if isinstance(named, str | None):
                call.lane = named
            else:
                call.unlaned = lanes.undeclared(named, self._source.lanes)
        except Exception as error:  # noqa: BLE001  # the user's function: it is raised into the app once the call is recorded
            call.unlaned = error

    def _stale(self) -> NotInTest:
        error = NotInTest(
            f"a call reached a {self._name} that was built in another trial", hint="build a double in each trial that asks it"
        )
        now = record.offered()
        if self._record.over and (now is None or get_ident() != main_thread().ident):
            self._record.latch(record.after_return("a call"))  # no trial in hand has anything to do with it
        elif now is not None:
            now.latch(finding(error, Verdict.ERRORED))
        return error

    def _unless_broken(self, call: Call) -> None:
        """Refuse a request that no provider would take."""
        found = protocol.complaints(call.plain, self._relaxed, self._record.offered, call.method if call.raw else None)
        if found:
            raise protocol.refusal(found, n=call.entry["n"], call=f"call {call.n + 1}", lane=call.lane)
        if "tools" in call.plain:
            self._record.offered.update(protocol.tools_of(call.plain) or ())

    async def _turn(self, call: Call, turns: Turns) -> None:
        """Wait until everything else waits too; a call that meets another one on its lane has no order of its own."""
        lane = id(self), call.lane
        met = await turns.ataken(lane) if call.awaits else turns.taken(lane)
        call.unless_cancelled()
        if met and not self._source.twice(call.lane):
            self.latch(lanes.overlap(call.lane), call.lane)

    def _draw(self, call: Call) -> Step:
        if call.unlaned is not None:
            raise call.unlaned
        declared = self._source.lanes
        if not isinstance(call.lane, str | None) or call.lane not in declared:
            raise lanes.undeclared(call.lane, declared)
        with self._locks.get(call.lane) or self._locks.setdefault(call.lane, RLock()):
            if call.lane in self._drawing:
                raise lanes.asked_within(call.lane)
            self._drawing.add(call.lane)
            try:
                self._handing.follows(call)
                return self._source.draw(call)
            finally:
                self._drawing.discard(call.lane)

    def _fell(self, call: Call, error: BaseException) -> None:
        """Enter what became of a call that was not served, and latch what no ``except`` in the app may hide."""
        if call.ended:
            return  # its reader is gone
        call.ended = True
        call.state = _state(error)
        # whoever cancels, it is the same cancellation: the runtimes call it by different names
        call.error = None if call.state is State.CANCELLED else type(error).__name__
        entry = call.entry
        entry["state"], entry["error"] = call.state.value, call.error
        if call.state is State.FAILED:
            entry["outcome"] = replies.plain(call.outcome) or {"raised": call.error}
        else:
            call.outcome = entry["outcome"] = None
        self.latch(error, call.lane)

    def latch(self, error: BaseException, lane: str | None) -> None:
        """Keep an error of the double's own as a finding, the first of its code on a lane; the app's errors are its own."""
        if isinstance(error, InvcheckError) and not isinstance(error, CallCancelled) and (error.code, lane) not in self._latched:
            self._latched.add((error.code, lane))
            verdict = Verdict.BROKEN if error.code in REFUSED else Verdict.ERRORED
            self._record.latch(finding(error, verdict))


async def _hand_over(items: Iterable[object], call: Call, hand: Hand | None) -> None:
    """Hand over the items that a reply has; who has the last one of a list need not ask whether there is another."""
    last = len(items) if isinstance(items, list | tuple) else -1
    for place, item in enumerate(items, 1):
        call.unless_cancelled()
        given = item if hand is None else hand(item, call)
        call.at_last = place == last
        await Handed(given)


_GONE = (("asyncio", "CancelledError"), ("trio", "Cancelled"))


def gone(error: BaseException) -> bool:
    """Say whether an error is the cancellation of a task, in whichever event loop."""
    return isinstance(error, tuple(getattr(sys.modules[module], name) for module, name in _GONE if module in sys.modules))


def _state(error: BaseException) -> State:
    if isinstance(error, (CallCancelled, GeneratorExit)) or gone(error):
        return State.CANCELLED
    return State.REFUSED if isinstance(error, ScriptedModelError) and error.code in REFUSED else State.FAILED
