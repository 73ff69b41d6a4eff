"""An exchange on the wire, whoever carries it: which endpoint is asked, and what the double answers in its dialect.

Nothing here sends. What a double raises of its own (SCRIPT_EXHAUSTED ...) is raised here too, and so is what a step raises
itself: in process both reach the app as they are.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from invcheck import faults, replies
from invcheck.canonical import canonical
from invcheck.double import Double
from invcheck.errors import InvcheckError, NotJson, ScriptedModelError
from invcheck.faces import bodies
from invcheck.faces.bodies import Answer, Asked, Break
from invcheck.faces.call import driven
from invcheck.faces.pending import turn, unless_aborted
from invcheck.faces.stream import ReplyStream
from invcheck.jsontext import loads
from invcheck.request import AbortSignal, Call
from invcheck.vocabulary import Chunk, Fault, Json, Reply
from invcheck.wire.dialect import Dialect, Encoder
from invcheck.wire.dialects import DIALECTS
from invcheck.wire.oddities import odd
from invcheck.wire.sse import Event

COUNTING = "/messages/count_tokens"
"""Anthropic's endpoint that counts; it asks no model, so it is no call of the double."""

_OVER = object()
_ATTEMPT = re.compile("[0-9]{1,4}")


def endpoints() -> list[str]:
    """Give the endpoints that there are, below whatever a base URL says.

    >>> endpoints()[0]
    'POST .../chat/completions'
    """
    return [f"POST ...{path}" for path in (*(dialect.path for dialect in DIALECTS.values()), COUNTING)]


def dialect_of(path: str) -> Dialect:
    """Give the dialect whose endpoint a path is; OpenAI's chat, which most clients read, where it is none.

    >>> dialect_of("/anthropic/v1/messages").name
    'anthropic.messages'
    """
    known = (dialect for dialect in DIALECTS.values() if path.rstrip("/").endswith(dialect.path))
    return next(known, DIALECTS["anthropic.messages" if "/messages" in path else "openai.chat"])


def answer(double: Double, asked: Asked, *, lane: str | None = None, signal: AbortSignal | None = None) -> Answer:
    """Answer one request without an event loop; ``parts`` of the answer is a generator."""
    return _carried(driven(_Exchange(double, asked, lane, signal, loop=False).answer()), loop=False)


async def aanswer(
    double: Double,
    asked: Asked,
    *,
    lane: str | None = None,
    signal: AbortSignal | None = None,
    arrived: Callable[[Call], None] | None = None,
) -> Answer:
    """Answer one request in whatever event loop runs; ``parts`` of the answer is an asynchronous generator.

    ``arrived`` gets the call before anything is awaited, where the request is one that takes a step.
    """
    return _carried(await _Exchange(double, asked, lane, signal, loop=True, arrived=arrived).answer(), loop=True)


def malformed(double: Double, reason: str, *, lane: str | None = None) -> Answer:
    """Enter what arrived and is no request of HTTP, and answer that; no step is taken."""
    asked = Asked("HTTP", "", {}, reason.encode())
    try:
        return _carried(
            driven(_Exchange(double, asked, lane, None, loop=False).unreadable(f"a request is malformed: {reason}")), loop=False
        )
    except InvcheckError as error:
        return refusal(asked, error, loop=False)


def refusal(asked: Asked, error: BaseException, *, loop: bool) -> Answer:
    """Give, to a client that no exception of ours may reach, what a call came to: an error that no client tries again.

    What a double raises of its own is status 400, whatever else a step raised is 500.
    """
    code = getattr(error, "code", None) if isinstance(error, InvcheckError) else None
    told = f"the step that answers raised {type(error).__name__}: {error}" if code is None else f"{code}: {error}"
    fault = Fault("server" if code is None else "bad-request", told, 500 if code is None else 400)
    return _carried(bodies.failed(replace(fault, headers={"x-should-retry": "false"}), dialect_of(asked.path), None), loop=loop)


def _carried(made: Answer, *, loop: bool) -> Answer:
    if not isinstance(made.parts, list):
        return made
    return replace(made, parts=_one_by_one(made.parts) if loop else (part for part in made.parts))


class _Exchange:
    """One request on its way through the double; with ``loop`` it may wait for an event loop."""

    def __init__(
        self,
        double: Double,
        asked: Asked,
        lane: str | None,
        signal: AbortSignal | None,
        *,
        loop: bool,
        arrived: Callable[[Call], None] | None = None,
    ) -> None:
        self._double, self._asked, self._lane, self._signal, self._loop = double, asked, lane, signal, loop
        self._heard = arrived
        self._dialect = dialect_of(asked.path)

    async def answer(self) -> Answer:
        """Give the answer; a stream has begun, so that what comes instead of one is known."""
        path = self._asked.path.rstrip("/")
        counts = path.endswith(COUNTING)
        if self._asked.method != "POST" or not (counts or path.endswith(self._dialect.path)):
            return await self._nowhere()
        try:
            body = _object(self._asked.body)
        except ValueError as error:
            return await self.unreadable(f"the body of {self._asked.method} {self._asked.path} cannot be read: {error}")
        if counts:
            return bodies.written(
                200, bodies.heading(bodies.JSON), {"input_tokens": replies.counted(canonical(body), Reply()).input_tokens}
            )
        call = self._arrived(body)
        call.raw, call.awaits = True, self._loop
        streams = self._dialect.wants_stream(body)
        wrong = odd(body)
        if wrong:
            return await self._refused(call, ScriptedModelError(wrong, code="REQUEST_PROTOCOL"), Fault("bad-request", wrong, 400))
        if self._heard is not None:
            self._heard(call)
        try:
            return await (self._begun(call, body) if streams else self._whole(call, body))
        except faults.ModelFault:
            if not isinstance(call.outcome, Fault):
                raise  # a step raises one itself, so it is the app's own
            try:
                return self._faulty(call, faults.completed(call.outcome), body, streams=streams)
            except ScriptedModelError as error:
                self._double.latch(error, call.lane)
                raise

    def _arrived(self, given: Mapping[str, Json], method: str | None = None) -> Call:
        attempt = self._asked.headers.get("x-stainless-retry-count", "")
        return self._double.arrive(
            given,
            lane=self._lane,
            method=method or self._dialect.name,
            signal=self._signal,
            attempt=int(attempt) if _ATTEMPT.fullmatch(attempt) else 0,
        )

    async def _whole(self, call: Call, body: Mapping[str, Json]) -> Answer:
        answering = self._double.answer(call, render=faults.exception, pause=turn if self._loop else None)
        reply: Reply = await (unless_aborted(answering, call) if self._loop else answering)
        extra = call.framing.headers if call.framing else None
        headers = bodies.heading(bodies.JSON, call.request.id, extra)
        return bodies.written(200, headers, self._dialect.whole(reply, body, call.request.id))

    async def _begun(self, call: Call, body: Mapping[str, Json]) -> Answer:
        stream = ReplyStream(self._double, call, render=faults.exception)
        first = await anext(stream, _OVER) if self._loop else next(stream, _OVER)
        known = call.outcome.usage if isinstance(call.outcome, Reply) else None
        writing = _Writing(stream, first, self._dialect, self._dialect.encoder(body, call.request.id, known))
        headers = bodies.heading(bodies.SSE, call.request.id, call.framing.headers if call.framing else None)
        return Answer(200, headers, writing.aparts() if self._loop else writing.parts(), streams=True)

    def _faulty(self, call: Call, fault: Fault, body: Mapping[str, Json], *, streams: bool) -> Answer:
        if fault.kind in bodies.OF_DELIVERY and fault.reply is not None:
            return bodies.broken(fault, self._dialect, body, call.request.id, streams=streams)
        if fault.status is None and fault.body is None and fault.kind not in ("stream-error", "truncated"):
            return bodies.unanswered(fault)
        return bodies.failed(fault, self._dialect, call.request.id)

    async def _nowhere(self) -> Answer:
        """Say which endpoints there are; what was asked is recorded, and a finding, since no double could answer it."""
        method, path, known = self._asked.method, self._asked.path, ", ".join(endpoints())
        error = ScriptedModelError(
            f"there is no {method} {path} here", code="ENDPOINT_UNKNOWN", expected=known, got=f"{method} {path}", hint=f"there are {known}"
        )
        return await self._turned_away(error, Fault("not-found", f"{error.message}; there are {known}", 404))

    async def unreadable(self, what: str) -> Answer:
        """Say what of a request cannot be read; it is recorded, and a finding."""
        return await self._turned_away(ScriptedModelError(what, code="REQUEST_PROTOCOL"), Fault("bad-request", what, 400))

    async def _turned_away(self, error: ScriptedModelError, fault: Fault) -> Answer:
        """Enter a call that asks for nothing a double has, and answer it; it takes no step."""
        asked = self._asked
        body = asked.body.decode("utf-8", "backslashreplace")
        call = self._arrived({"method": asked.method, "path": asked.path, "body": body}, f"{asked.method} {asked.path}".rstrip())
        return await self._refused(call, error, fault)

    async def _refused(self, call: Call, error: ScriptedModelError, fault: Fault) -> Answer:
        async def turn_away() -> None:
            raise error

        with suppress(ScriptedModelError):  # the one that turns it away, now entered
            await self._double.answer(call, render=faults.exception, pause=turn_away)
        return bodies.failed(fault, self._dialect, call.request.id)


class _Writing:
    """Writes a stream as its chunks come; who leaves it leaves the call."""

    def __init__(self, stream: ReplyStream, first: Any, dialect: Dialect, encoder: Encoder) -> None:
        self._stream, self._first, self._dialect, self._encoder = stream, first, dialect, encoder
        self._framing = stream.call.framing

    def parts(self) -> Iterator[bytes | Break]:
        """Give the parts without an event loop."""
        try:
            yield self._bytes(self._encoder.start())
            chunk = self._first
            try:
                while chunk is not _OVER:
                    yield from self._chunk(chunk)
                    chunk = next(self._stream, _OVER)
            except faults.ModelFault as error:
                yield from self._fault(error)
                return
            yield from self._end(self._stream.final())
        finally:
            self._stream.close()

    async def aparts(self) -> AsyncIterator[bytes | Break]:
        """Give the parts in whatever event loop runs."""
        try:
            yield self._bytes(self._encoder.start())
            chunk = self._first
            try:
                while chunk is not _OVER:
                    for part in self._chunk(chunk):
                        yield part
                    chunk = await anext(self._stream, _OVER)
            except faults.ModelFault as error:
                for broken in self._fault(error):
                    yield broken
                return
            for part in self._end(await self._stream.afinal()):
                yield part
        finally:
            await self._stream.aclose()

    def _chunk(self, chunk: Chunk) -> list[bytes]:
        events = self._encoder.chunk(chunk)
        return [self._bytes(events)] if events else []

    def _end(self, reply: Reply) -> list[bytes]:
        parts = [self._bytes(self._encoder.end(reply))]
        return parts if self._framing is not None and not self._framing.done else [*parts, self._bytes(self._encoder.done())]

    def _fault(self, error: faults.ModelFault) -> list[bytes | Break]:
        """A fault that a response factory ends with, after what it has streamed."""
        outcome = self._stream.call.outcome
        if not isinstance(outcome, Fault):
            raise error
        fault = faults.completed(outcome)
        if fault.kind == "truncated":
            return []
        if fault.kind == "stream-error" or fault.status is not None:
            return [self._bytes(self._encoder.error(fault))]
        return list(bodies.unanswered(fault).parts)

    def _bytes(self, events: list[Event]) -> bytes:
        return bodies.framed(events, self._dialect, self._framing)


async def _one_by_one(parts: list[bytes | Break]) -> AsyncIterator[bytes | Break]:
    for part in parts:
        yield part


def _object(body: bytes) -> dict[str, Json]:
    """Read the body of a request; ValueError says what is wrong with it."""
    try:
        value = loads(body.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"byte 0x{body[error.start]:02x} at {error.start} is no UTF-8") from None
    except NotJson as error:
        line, column = error.fields.get("line"), error.fields.get("column")
        where = f"line {line}, column {column}: " if line else ""
        raise ValueError(f"{where}{error.message}") from None
    if not isinstance(value, dict):
        raise ValueError(f"it is {type(value).__name__}, not an object")  # noqa: TRY004  # one kind of error for one kind of mistake
    return value
