"""The waist: whatever answers and however it is asked, every call of a double takes the same seven steps.

snapshot → record → cancelled? → draw → emit → verify → close. What answers is a `Source`; how it is asked is a face.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Generator, Mapping
from hashlib import sha256
from threading import Lock
from typing import Any, Protocol

from invcheck import record, replies
from invcheck.errors import CallCancelled, NotInTest, PortMismatch, ScriptedModelError
from invcheck.freeze import FrozenDict, canonical, frozen, show, snapshot
from invcheck.vocabulary import Chunk, Counts, Exchange, Fault, Finding, Json, Outcome, Reply, State, Usage, Verdict

REFUSED = frozenset({"SCRIPT_EXHAUSTED", "SCRIPT_ITERATOR_REUSED", "LANE_UNDECLARED"})
"""Codes of what the app, or the script it was given, may not do: the call is refused and the finding is broken."""


class AbortSignal:
    """How an app, or a response factory, learns that a call is no longer wanted; once aborted it stays so."""

    __slots__ = ("_aborted",)

    def __init__(self) -> None:
        self._aborted = False

    @property
    def aborted(self) -> bool:
        """Whether the call is no longer wanted."""
        return self._aborted

    def abort(self) -> None:
        """Say that the call is no longer wanted."""
        self._aborted = True


class Request(FrozenDict):
    """A frozen snapshot of what was asked, with an ``id`` and a ``digest`` that are derived from it.

    >>> Request({"messages": [{"role": "user", "content": "hello"}]}).last_user
    'hello'
    """

    __slots__ = ("digest", "id")

    def __init__(self, plain: Mapping[str, Json], n: int = 0, digest: str | None = None) -> None:
        super().__init__({key: frozen(value) for key, value in plain.items()})
        self.digest = digest or sha256(canonical(plain)).hexdigest()
        self.id = f"req_{self.digest[:16]}_{n}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Request, (dict(self), int(self.id.rpartition("_")[2]), self.digest))

    @property
    def last_user(self) -> str:
        """The text of the last user message; without messages the prompt, else the first text; "" where there is none."""
        for value in self.values():
            if isinstance(value, list):
                for message in reversed(value):
                    if isinstance(message, dict) and message.get("role") == "user":
                        return _text(message.get("content"))
        prompt = self.get("prompt")
        return prompt if isinstance(prompt, str) else next((value for value in self.values() if isinstance(value, str)), "")


def _text(content: Json) -> str:
    if isinstance(content, list):
        return "".join(_text(part.get("text") if isinstance(part, dict) else part) for part in content)
    return content if isinstance(content, str) else ""


class Call:
    """One call while it is in hand: what was asked, on which lane, and what has become of it so far.

    ``n`` counts the double's calls from 0, ``ordinal`` its lane's from 1.
    """

    __slots__ = (
        "_canonical",
        "_request",
        "entry",
        "error",
        "lane",
        "method",
        "n",
        "ordinal",
        "outcome",
        "parts",
        "plain",
        "signal",
        "state",
        "unlaned",
    )

    def __init__(self, plain: dict[str, Json], lane: str | None, method: str | None, signal: AbortSignal | None) -> None:
        self.plain, self.lane, self.method, self.signal = plain, lane, method, signal
        self.n = self.ordinal = -1
        # what never comes back was cancelled: so the four counts always sum up to what was attempted
        self.state = State.CANCELLED
        self.outcome: Outcome | None = None
        self.error: str | None = None
        self.unlaned: Exception | None = None
        self.parts: list[Chunk] = []
        self.entry: dict[str, Json] = {}
        self._request: Request | None = None
        self._canonical: bytes | None = None

    @property
    def canonical(self) -> bytes:
        """The canonical bytes of the request."""
        if self._canonical is None:
            self._canonical = canonical(self.plain)
        return self._canonical

    @property
    def request(self) -> Request:
        """The request as it is handed out."""
        if self._request is None:
            self._request = Request(self.plain, self.n, sha256(self.canonical).hexdigest())
        return self._request

    @property
    def live_signal(self) -> AbortSignal:
        """The call's signal, or one that is never aborted."""
        if self.signal is None:
            self.signal = AbortSignal()
        return self.signal

    def emit(self, chunk: Chunk) -> None:
        """Take one chunk of the reply in hand; CallCancelled where the call's signal is aborted."""
        self.unless_cancelled()
        if chunk.request_id != self.request.id:
            raise ScriptedModelError(
                f"a chunk belongs to request {chunk.request_id!r}, but this is {self.request.id!r}", code="CHUNK_FOREIGN", lane=self.lane
            )
        self.parts.append(chunk)

    def unless_cancelled(self) -> None:
        """Raise CallCancelled where the call's signal is aborted."""
        if self.signal is not None and self.signal.aborted:
            raise CallCancelled(f"call {self.n + 1} was cancelled by its signal")


class Step(Protocol):
    """What a source takes for one call."""

    async def give(self, call: Call) -> Outcome:
        """Give the outcome, emitting chunks on the way; whatever it raises is raised into the app."""


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
        self._lane_by = lane_by
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
    ) -> Any:
        """Take one call through the seven steps and give what ``hand`` makes of the reply, else the reply.

        A fault is raised as ``render`` makes it an exception. With ``pause`` the event loop has one turn before the draw.
        """
        call = self._arrive(given, lane, method, signal)
        try:
            if pause:
                await _Pause()
            if call.unlaned is not None:
                raise call.unlaned
            call.unless_cancelled()
            step = self._draw(call)
            outcome = await step.give(call)
            if type(outcome) is Fault:
                call.outcome = outcome
                raise render(outcome)
            call.unless_cancelled()
            reply = self._verified(call, outcome)  # type: ignore[arg-type]  # a Reply: a Fault was raised above
            handed = reply if hand is None else hand(reply, call)
        except BaseException as error:
            self._fell(call, error)
            raise
        call.state = State.SERVED
        call.entry["state"] = "served"
        return handed

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
            entry = call.entry = _entered(self._record, call)
            self._record.note("call", n=entry["n"], lane=call.lane)
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
        now = record.current()
        if now is not None:
            now.latch(_finding(error, Verdict.ERRORED))
        return error

    def _draw(self, call: Call) -> Step:
        lanes = self._source.lanes
        if not isinstance(call.lane, str | None) or call.lane not in lanes:
            raise _undeclared(call.lane, lanes)
        with self._locks.setdefault(call.lane, Lock()):
            return self._source.draw(call)

    def _verified(self, call: Call, reply: Reply) -> Reply:
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
        if isinstance(error, ScriptedModelError | PortMismatch) and (error.code, lane) not in self._latched:
            self._latched.add((error.code, lane))
            verdict = Verdict.BROKEN if error.code in REFUSED else Verdict.ERRORED
            self._record.latch(_finding(error, verdict))


_ENTRIES = Lock()


def _entered(onto: record.Record, call: Call) -> dict[str, Json]:
    entry: dict[str, Json] = {
        "n": 0,
        "lane": call.lane,
        "method": call.method,
        "request": call.plain,
        "outcome": None,
        "state": "cancelled",
        "error": None,
    }
    with _ENTRIES:
        entry["n"] = len(onto.calls)
        onto.calls.append(entry)
    return entry


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
