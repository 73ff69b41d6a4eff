"""What is asked: the frozen request, the signal that takes it back, and the call while it is in hand."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from invcheck.canonical import canonical
from invcheck.errors import CallCancelled, ScriptedModelError
from invcheck.freeze import FrozenDict, frozen
from invcheck.replies import call_id
from invcheck.vocabulary import Chunk, Framing, Json, Outcome, State


class AbortSignal:
    """How an app, or a response factory, learns that a call is no longer wanted; once aborted it stays so.

    With ``patience`` it aborts itself as soon as the model takes more virtual seconds than that for what comes next.

    >>> signal = AbortSignal()
    >>> with signal.heard(lambda: print("aborted")):
    ...     signal.abort()
    aborted
    """

    __slots__ = ("_aborted", "_ears", "patience")

    def __init__(self, *, patience: float | None = None) -> None:
        self.patience = patience
        self._aborted = False
        self._ears: list[Callable[[], object]] = []

    @property
    def aborted(self) -> bool:
        """Whether the call is no longer wanted."""
        return self._aborted

    def abort(self) -> None:
        """Say that the call is no longer wanted; whoever listens is told at once, from this thread, and only once."""
        self._aborted = True
        while self._ears:
            self._ears.pop()()

    @contextmanager
    def heard(self, ear: Callable[[], object]) -> Iterator[None]:
        """Call ``ear`` when the signal is aborted while this block is open."""
        self._ears.append(ear)
        try:
            yield
        finally:
            if ear in self._ears:
                self._ears.remove(ear)


def _digest(asked: bytes) -> str:
    from hashlib import sha256  # noqa: PLC0415  # it loads OpenSSL, which an app that asks nothing does not need

    return sha256(asked).hexdigest()


class Request(FrozenDict):
    """A frozen snapshot of what was asked, with an ``id`` and a ``digest`` that are derived from it.

    >>> Request({"messages": [{"role": "user", "content": "hello"}]}).last_user
    'hello'
    """

    __slots__ = ("digest", "id")

    def __init__(self, plain: Mapping[str, Json], n: int = 0, digest: str | None = None) -> None:
        super().__init__({key: frozen(value) for key, value in plain.items()})
        self.digest = digest or _digest(canonical(plain))
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


class Handed:
    """What a call that streams suspends with while its reader has the item; `Call.emit` waits for its own."""

    __slots__ = ("item",)

    def __init__(self, item: object) -> None:
        self.item = item

    def __await__(self) -> Generator[Handed, None, None]:
        yield self


class Call:
    """One call while it is in hand: what was asked, on which lane, and what has become of it so far.

    ``n`` counts the double's calls from 0, ``ordinal`` its lane's from 1; ``attempt`` is from 0 the client's own, which
    repeats a call on the wire. ``streams`` hands chunks over as they are emitted, ``awaits`` may wait for an event loop,
    ``raw`` renders faults of delivery itself.
    """

    __slots__ = (
        "_canonical",
        "_request",
        "at_last",
        "attempt",
        "awaits",
        "begun",
        "cached",
        "ended",
        "entry",
        "error",
        "framing",
        "handed",
        "lane",
        "method",
        "n",
        "ordinal",
        "outcome",
        "parts",
        "plain",
        "raw",
        "signal",
        "state",
        "streams",
        "unlaned",
    )

    def __init__(self, plain: dict[str, Json], lane: str | None, method: str | None, signal: AbortSignal | None, attempt: int = 0) -> None:
        self.plain, self.lane, self.method, self.signal, self.attempt = plain, lane, method, signal, attempt
        self.n = self.ordinal = -1
        # what never comes back was cancelled: so the four counts always sum up to what was attempted
        self.state = State.CANCELLED
        self.outcome: Outcome | None = None
        self.error: str | None = None
        self.unlaned: Exception | None = None
        self.parts: list[Chunk] = []
        self.begun = self.cached = self.handed = 0
        self.streams = self.awaits = self.raw = self.ended = self.at_last = False
        self.framing: Framing | None = None
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
            self._request = Request(self.plain, self.n, _digest(self.canonical))
        return self._request

    @property
    def live_signal(self) -> AbortSignal:
        """The call's signal, or one that is never aborted."""
        if self.signal is None:
            self.signal = AbortSignal()
        return self.signal

    async def emit(self, chunk: Chunk) -> None:
        """Take one chunk of the reply in hand, and wait until its reader has it where the call streams.

        CallCancelled where the call's signal is aborted, REQUEST_MISMATCH where the chunk belongs to another request.
        """
        self.unless_cancelled()
        if chunk.request_id != self.request.id:
            raise ScriptedModelError(
                f"a chunk belongs to request {chunk.request_id!r}, but this is {self.request.id!r}",
                code="REQUEST_MISMATCH",
                lane=self.lane,
                call=f"call {self.n + 1}",
                expected=self.request.id,
                got=chunk.request_id,
                hint="give text, and the double correlates it, or take request.id",
            )
        chunk = self._identified(chunk)
        self.parts.append(chunk)
        if self.streams:
            await Handed(chunk)

    def _identified(self, chunk: Chunk) -> Chunk:
        """A tool call without an id gets the one that it has in the reply."""
        if chunk.tool_call is not None:
            self.begun += 1
            if chunk.tool_call.id is None:
                named = replace(chunk.tool_call, id=call_id(self.request.id, self.begun - 1))
                return replace(chunk, tool_call=named)
        elif chunk.part is not None and chunk.part.name is not None:
            self.begun = chunk.part.index + 1
            if chunk.part.id is None:
                return replace(chunk, part=replace(chunk.part, id=call_id(self.request.id, chunk.part.index)))
        return chunk

    def unless_cancelled(self) -> None:
        """Raise CallCancelled where the call's signal is aborted."""
        if self.signal is not None and self.signal.aborted:
            raise self.cancelled()

    def cancelled(self) -> CallCancelled:
        """Give the error of a call that is no longer wanted."""
        return CallCancelled(f"call {self.n + 1} was cancelled by its signal")

    def left(self) -> CallCancelled:
        """Give the error of a stream that its reader has left."""
        return CallCancelled(f"call {self.n + 1} was left by its reader before it was whole")
