"""Server-sent events as bytes: WHATWG HTML §9.2, written with the oddities that it allows and read with all of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from invcheck.vocabulary import Framing

_LINES = re.compile("\r\n|\n|\r")  # the standard's ends of line; splitlines knows more, and model text may hold those


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream: its name where the dialect gives it one, and its data."""

    name: str | None
    data: str


def frame(event: Event, framing: Framing | None = None, *, ping: Event | None = None) -> bytes:
    """Give an event as the bytes of its lines and the blank line that dispatches it.

    ``framing`` says what else the standard allows: another end of line, comments, and pings, which are the dialect's own
    ``ping`` event, or a block that holds only a comment where it has none. Lone surrogates have no UTF-8 and raise
    UnicodeEncodeError; a codec escapes them in its JSON.

    >>> frame(Event("delta", "one\\ntwo"), Framing(newline="\\r\\n"))
    b'event: delta\\r\\ndata: one\\r\\ndata: two\\r\\n\\r\\n'
    """
    if framing is None:
        return _block(event, "\n", "")
    newline = framing.newline
    before = b""
    if framing.pings:
        before = _block(ping, newline, "") if ping is not None else f": ping{newline}{newline}".encode()
    return before + _block(event, newline, f": comment{newline}" if framing.comments else "")


def _block(event: Event, newline: str, head: str) -> bytes:
    if event.name is not None:
        head = f"{head}event: {event.name}{newline}"
    data = event.data
    if "\n" in data or "\r" in data:
        data = f"{newline}data: ".join(_LINES.split(data))
    return f"{head}data: {data}{newline}{newline}".encode()


def parse(body: bytes) -> list[Event]:
    """Give the events of a whole body, as the standard reads it.

    A byte order mark at the start, comments, ``id`` and ``retry`` are left out, an event without data is none, and a tail
    without its blank line is dropped. Bytes that are no UTF-8 become U+FFFD.

    >>> parse(b": hello\\r\\ndata: a\\r\\ndata:b\\r\\n\\r\\ndata: cut")
    [Event(name=None, data='a\\nb')]
    """
    events: list[Event] = []
    name, data = "", list[str]()
    # what stands after the last end of line is no line yet: its event was never dispatched either
    for line in _LINES.split(body.decode("utf-8", "replace").removeprefix("\ufeff"))[:-1]:
        if not line:
            if data:
                events.append(Event(name or None, "\n".join(data)))
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
    return events
