"""What is asked: the frozen request, the signal that takes it back, and the call while it is in hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from invcheck.canonical import canonical
from invcheck.errors import CallCancelled, ScriptedModelError
from invcheck.freeze import FrozenDict, frozen
from invcheck.vocabulary import Chunk, Json, Outcome, State


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
            self._request = Request(self.plain, self.n, _digest(self.canonical))
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
