"""The waist: whatever answers and however it is asked, every call of a double takes the same seven steps.

snapshot → record → cancelled? → draw → emit → verify → close. What answers is a `Source`; how it is asked is a face.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Generator, Mapping
from functools import partial
from threading import Lock, get_ident, main_thread
from typing import Any, Protocol, TypeVar

from invcheck import record, replies
from invcheck.errors import CallCancelled, InvcheckError, NotInTest, ScriptedModelError
from invcheck.request import AbortSignal, Call, Request
from invcheck.show import show
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Counts, Exchange, Fault, Finding, Json, Outcome, Reply, State, Usage, Verdict

T = TypeVar("T")

REFUSED = frozenset({"SCRIPT_EXHAUSTED", "SCRIPT_ITERATOR_REUSED", "LANE_UNDECLARED"})
"""Codes of what the app, or the script it was given, may not do: the call is refused and the finding is broken."""


class Step(Protocol):
    """What a source takes for one call."""

    async def give(self, call: Call) -> Outcome | str:
        """Give the outcome, emitting chunks on the way; whatever it raises is raised into the app. A text is a reply of it."""


class Source(Protocol):
    """What a double answers."""

    @property
    def lanes(self) -> Collection[str | None]:
        """The lanes that may be asked: the one unnamed lane (None), or the declared names."""

    @property
    def pending(self) -> int:
        """How many steps were not taken yet."""

    def draw(self, call: Call) -> Step:
        """Take what answers this call, at most one step; ScriptedModelError where nothing is left."""

    def leftover(self) -> list[Finding]:
        """What is wrong now that nothing more will be asked."""


class _Pause:
    """One turn of the event loop, in which a cancellation arrives before anything was taken."""

    def __await__(self) -> Generator[None, None, None]:
        yield


Hand = Callable[[Reply, Call], object]
Render = Callable[[Fault], BaseException]


def own(what: str, function: Callable[..., T], given: object = None) -> Callable[..., T]:
    """Give a function of the test's own so that an error of it is a finding, which no ``except`` in the app may hide.

    ``given`` is what the test wrote, where ``function`` was made of it. Errors of the double's own are latched by the
    double itself.
    """

    def asked(*args: Any) -> T:
        try:
            return function(*args)
        except Exception as error:
            mistaken(what, function if given is None else given, error)
            raise

    return asked


def mistaken(what: str, function: object, error: Exception) -> None:
    """Latch an error of a test's own function."""
    held = record.current()
    if held is not None and not isinstance(error, InvcheckError):
        name = getattr(function, "__name__", type(function).__name__)
        message = f"the test's own {what}={name} raised {type(error).__name__}"
        held.latch(Finding("DOUBLE_RAISED", Verdict.ERRORED, message, hint="it makes what the app is given, so the app was not judged"))


class Double:
    """One source, whatever face asks it. NotInTest where it is built outside of a test.

    ``usage`` is the default for replies that do not say; ``lane_by`` names the lane of a request: the name of one of its
    fields, or a function of it.
    """

    def __init__(
        self,
        source: Source,
        *,
        name: str = "Double",
        usage: Usage | Mapping[str, int | None] | None = None,
        lane_by: str | Callable[[Request], str] | None = None,
    ) -> None:
        self._record = record.required(name)
        self._name = name
        self._source = source
        self._usage = replies.usage_of(usage)
        self._lane_by = own("lane_by", lane_by) if callable(lane_by) else lane_by
        self._calls: list[Call] = []
        self._arrivals = Lock()
        self._locks: dict[str | None, Lock] = {}
        self._asked: dict[str | None, int] = {}
        self._latched: set[tuple[str, str | None]] = set()
        self._record.doubles.append(self)

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request so far, frozen and detached from what the app sent."""
        return tuple(call.request for call in self._calls)

    @property
    def calls(self) -> tuple[Exchange, ...]:
        """Every call so far, in order of arrival."""
        return tuple(Exchange(c.n, c.lane, c.request, c.outcome, c.state, c.error, c.method) for c in self._calls)

    @property
    def counts(self) -> Counts:
        """How many calls there were, by what became of them."""
        states = [call.state for call in self._calls]
        return Counts(*(states.count(state) for state in State))

    @property
    def pending(self) -> int:
        """How many steps were not taken yet."""
        return self._source.pending

    def leftover(self) -> list[Finding]:
        """What is wrong now that nothing more will be asked."""
        return self._source.leftover()

    async def ask(
        self,
        given: Mapping[str, object],
        *,
        lane: str | None = None,
        method: str | None = None,
        signal: AbortSignal | None = None,
        hand: Hand | None = None,
        render: Render,
        pause: bool = False,
        opens: bool = False,
    ) -> Any:
        """Take one call through the seven steps and give what ``hand`` makes of the reply, else the reply.

        A fault is raised as ``render`` makes it an exception. With ``pause`` the event loop has one turn before the draw.
        With ``opens`` a stream is begun: beside it comes what must be told how it ended, without which it was cancelled.
        """
        call = self._arrive(given, lane, method, signal)
        try:
            if pause:
                await _Pause()
            call.unless_cancelled()
            outcome = await self._draw(call).give(call)
            call.unless_cancelled()
            reply = self._verified(call, outcome, render)
            handed = reply if hand is None else hand(reply, call)
        except BaseException as error:
            self._fell(call, error)
            raise
        if opens:
            close = partial(self._closed, call, call.outcome, call.entry["outcome"])
            call.outcome = call.entry["outcome"] = None
            return handed, close
        call.state = State.SERVED
        call.entry["state"] = "served"
        return handed

    def _closed(self, call: Call, outcome: Outcome | None, plain: Json, error: BaseException | None = None) -> None:
        """Enter how a stream ended: handed over whole, or broken off by an error or by who left it."""
        call.outcome, call.entry["outcome"] = outcome, plain
        if error is not None:
            self._fell(call, error)
            return
        call.state = State.SERVED
        call.entry["state"] = "served"

    def _arrive(self, given: Mapping[str, object], lane: str | None, method: str | None, signal: AbortSignal | None) -> Call:
        if record.current() is not self._record:
            raise self._stale()
        call = Call(snapshot(given), lane, method, signal)
        with self._arrivals:
            call.n = len(self._calls)
            self._calls.append(call)
            if lane is None and self._lane_by is not None:
                self._find_lane(call, self._lane_by)
            call.ordinal = self._asked[call.lane] = self._asked.get(call.lane, 0) + 1
            call.entry = {
                "n": 0,
                "lane": call.lane,
                "method": method,
                "request": call.plain,
                "outcome": None,
                "state": "cancelled",
                "error": None,
            }
            self._record.arrive(call.entry)
        return call

    def _find_lane(self, call: Call, by: str | Callable[[Request], str]) -> None:
        try:
            call.lane = call.plain.get(by) if isinstance(by, str) else by(call.request)
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
            now.latch(_finding(error, Verdict.ERRORED))
        return error

    def _draw(self, call: Call) -> Step:
        if call.unlaned is not None:
            raise call.unlaned
        lanes = self._source.lanes
        if not isinstance(call.lane, str | None) or call.lane not in lanes:
            raise _undeclared(call.lane, lanes)
        with self._locks.get(call.lane) or self._locks.setdefault(call.lane, Lock()):
            return self._source.draw(call)

    def _verified(self, call: Call, outcome: Outcome | str, render: Render) -> Reply:
        if isinstance(outcome, str):  # what a fake nearly always gives; nothing of it can be wrong
            reply, call.entry["outcome"] = replies.of_text(outcome, self._usage, call.canonical)
            call.outcome = reply
            return reply
        if isinstance(outcome, Fault):
            call.outcome = outcome
            raise render(outcome)
        reply = outcome
        wrong = replies.complaint(reply)
        if wrong:
            raise ScriptedModelError(f"the reply to call {call.n + 1} is none: {wrong}", code="REPLY_INVALID", lane=call.lane)
        if call.parts:
            _joined(call, reply)
        usage = reply.usage or self._usage or replies.counted(call.canonical, reply)
        reply = replies.completed(reply, usage, call.request.id if reply.tool_calls else "")
        call.outcome = reply
        call.entry["outcome"] = replies.plain(reply)
        return reply

    def _fell(self, call: Call, error: BaseException) -> None:
        """Enter what became of a call that was not served, and latch what no ``except`` in the app may hide."""
        call.error = type(error).__name__
        call.state = _state(error)
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
            self._record.latch(_finding(error, verdict))


def _state(error: BaseException) -> State:
    asyncio = sys.modules.get("asyncio")
    gone = (CallCancelled, GeneratorExit) if asyncio is None else (CallCancelled, GeneratorExit, asyncio.CancelledError)
    if isinstance(error, gone):
        return State.CANCELLED
    return State.REFUSED if isinstance(error, ScriptedModelError) and error.code in REFUSED else State.FAILED


def _joined(call: Call, reply: Reply) -> None:
    text = "".join(chunk.text for chunk in call.parts)
    if text != reply.text:
        raise ScriptedModelError(
            f"the chunks of call {call.n + 1} join to {show(text)}, but the reply is {show(reply.text)}",
            code="CHUNKS_DIFFER",
            lane=call.lane,
        )
    tools = [chunk.tool_call for chunk in call.parts if chunk.tool_call is not None]
    if tools and tools != list(reply.tool_calls):
        raise ScriptedModelError(f"the chunks of call {call.n + 1} call other tools than the reply", code="CHUNKS_DIFFER", lane=call.lane)


def _undeclared(lane: str | None, lanes: Collection[str | None]) -> ScriptedModelError:
    known = ", ".join(sorted(name for name in lanes if name is not None)) or "none: only the unnamed lane"
    what = "a call without a lane" if lane is None else f"a call on the undeclared lane {lane!r}"
    return ScriptedModelError(
        f"{what}; declared are {known}", code="LANE_UNDECLARED", lane=lane, hint="ask through double.lane(NAME), or say lane_by="
    )


def _finding(error: Any, verdict: Verdict) -> Finding:
    return Finding(
        error.code,
        verdict,
        error.message,
        expected=error.fields.get("expected"),
        got=error.fields.get("got"),
        call=error.fields.get("call"),
        hint=error.hint,
    )
