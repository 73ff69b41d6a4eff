"""What goes back over the wire, as data: a status, headers, and the bytes of a reply, whole, streamed or broken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from invcheck import delivery
from invcheck.vocabulary import Fault, Framing, Json, Reply
from invcheck.wire.dialect import Dialect, text_of
from invcheck.wire.sse import Event, frame

MARK = "x-invcheck-double"
"""The header that every answer bears, so that nobody takes one for a model's."""

SSE, JSON = "text/event-stream; charset=utf-8", "application/json"
OF_DELIVERY = frozenset({"cut", "truncated", "stream-error", "stall"})
"""The faults that break a reply instead of taking its place."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What arrived: method, path, headers with small names, and the whole body."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Break:
    """The end of a connection that no body ends: nothing more comes for so many ``seconds``, then it is gone.

    ``fault`` is what the double answered.
    """

    fault: Fault
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: a status, headers, and the parts of the body, which are bytes or, at its end, a `Break`.

    A status of 0 is no answer at all, and the one part is a `Break`. With ``streams`` the parts come one by one and no
    header says how many bytes there are; else "content-length" does, also where fewer come. ``parts`` can be iterated once.
    """

    status: int
    headers: dict[str, str]
    parts: Any
    streams: bool = False


def heading(kind: str, request_id: str | None = None, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give the headers of an answer: the mark, the content type, and the request's id by both names that providers use."""
    ids = {} if request_id is None else {"x-request-id": request_id, "request-id": request_id}
    return {"content-type": kind, MARK: "1", **ids, **{name.lower(): value for name, value in (extra or {}).items()}}


def written(status: int, headers: dict[str, str], document: Json) -> Answer:
    """Give an answer that is one JSON document."""
    return _sized(status, headers, text_of(document).encode(), None)


def framed(events: Iterable[Event], dialect: Dialect, framing: Framing | None) -> bytes:
    """Give events as the bytes of a stream."""
    return b"".join([frame(event, framing, ping=dialect.ping) for event in events])


def failed(fault: Fault, dialect: Dialect, request_id: str | None) -> Answer:
    """Give the answer that a fault with a status is: the dialect's error, or the body and headers that the fault brings."""
    headers = heading(_kind(fault.body), request_id)
    if fault.retry_after is not None:
        headers["retry-after"] = f"{fault.retry_after:.15g}"
    headers |= {name.lower(): value for name, value in (fault.headers or {}).items()}
    body = text_of(dialect.error(fault)) if fault.body is None else fault.body
    return _sized(fault.status or 500, headers, body.encode("utf-8", "backslashreplace"), None)


def _kind(body: str | None) -> str:
    if body is None or body.lstrip().startswith(("{", "[")):
        return JSON
    return "text/html; charset=utf-8" if body.lstrip().startswith("<") else "text/plain; charset=utf-8"


def unanswered(fault: Fault) -> Answer:
    """Give the answer that never comes: the connection breaks, or nothing is heard of it."""
    return Answer(0, {}, [Break(fault, delivery.silence(fault) if fault.kind in ("stall", "timeout") else 0.0)])


def broken(fault: Fault, dialect: Dialect, body: Mapping[str, Json], request_id: str, *, streams: bool) -> Answer:
    """Give the reply of a fault of delivery up to where it breaks.

    A stream error is the dialect's own event after the last whole one that fits, and where nothing streams the error alone.
    """
    reply = fault.reply or Reply()
    framing = reply.framing
    headers = heading(SSE if streams else JSON, request_id, framing.headers if framing else None)
    if not streams:
        if fault.kind == "stream-error":
            return failed(fault, dialect, request_id)
        whole = text_of(dialect.whole(reply, body, request_id)).encode()
        kept = whole[: _reached(fault, whole)]
        return _sized(200, headers, kept, None) if fault.kind == "truncated" else _sized(200, headers, whole, (kept, fault))
    parts = streamed(reply, dialect, body, request_id)
    left = _reached(fault, b"".join(parts))
    kept_parts: list[bytes | Break] = []
    for part in parts:
        kept = part[:left]
        left -= len(kept)
        if kept and (kept == part or fault.kind != "stream-error"):
            kept_parts.append(kept)
    if fault.kind == "stream-error":
        kept_parts.append(framed(dialect.encoder(body, request_id).error(fault), dialect, framing))
    elif fault.kind != "truncated":
        kept_parts.append(_break(fault))
    return Answer(200, headers, kept_parts, streams=True)


def _reached(fault: Fault, body: bytes) -> int:
    """Give where a fault breaks a body, which is before its end."""
    if isinstance(fault.after, int) and fault.after >= len(body):
        raise delivery.unreached(fault, len(body), "on the wire after counts bytes of the whole body, not of the text")
    return delivery.cut_at(fault, body)


def streamed(reply: Reply, dialect: Dialect, body: Mapping[str, Json], request_id: str) -> list[bytes]:
    """Give a whole reply as the parts of its stream, one part for each event."""
    how = reply.delivery
    encoder = dialect.encoder(body, request_id, reply.usage)
    events = encoder.start()
    for chunk in delivery.chunks(reply, request_id, how.chunking if how else None):
        events += encoder.chunk(chunk)
    events += encoder.end(reply)
    if reply.framing is None or reply.framing.done:
        events += encoder.done()
    return [framed([event], dialect, reply.framing) for event in events]


def _break(fault: Fault) -> Break:
    return Break(fault, delivery.silence(fault) if fault.kind == "stall" else 0.0)


def _sized(status: int, headers: dict[str, str], body: bytes, breaks: tuple[bytes, Fault] | None) -> Answer:
    sized = {**headers, "content-length": str(len(body))}
    if breaks is None:
        return Answer(status, sized, [body])
    kept, fault = breaks
    return Answer(status, sized, [*([kept] if kept else []), _break(fault)])
