"""What a dialect is: the one seam between our words and what a provider writes on the wire, and what all of them share."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from invcheck.replies import arguments_text, call_id
from invcheck.vocabulary import Block, Chunk, Fault, Json, Reply, ToolCall, ToolPart, Usage
from invcheck.wire.sse import Event

CREATED = 1_893_456_000
"""When every reply was made: 2030-01-01T00:00:00Z, where the sandbox's clock starts, in seconds of Unix time."""


# json.dumps would make an encoder anew for each event
_written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_escaped = json.JSONEncoder(separators=(",", ":")).encode


class Encoder(Protocol):
    """Writes one reply as a stream, a piece at a time; each method gives the events that are due then, perhaps none.

    The order is `start`, `chunk` as often as there are chunks, `end`, `done`; `error` may come instead of the rest. The
    chunks join to the reply, block after block.
    """

    def start(self) -> list[Event]:
        """Give what stands before the first chunk."""

    def chunk(self, chunk: Chunk) -> list[Event]:
        """Give one chunk."""

    def end(self, reply: Reply) -> list[Event]:
        """Give what follows the last chunk: blocks closed, the finish reason, usage."""

    def done(self) -> list[Event]:
        """Give the dialect's end marker, which `Framing` may leave out."""

    def error(self, fault: Fault) -> list[Event]:
        """Give an error that arrives in the middle of the reply."""


class Dialect(Protocol):
    """One provider's way of writing: which endpoint, and how its bodies and our words become each other.

    ``name`` is stable and shown ("openai.chat"); ``path`` is what the request's path ends with; ``ping`` is the dialect's
    own event that means nothing, where it has one.
    """

    @property
    def name(self) -> str:
        """The dialect's own name."""

    @property
    def path(self) -> str:
        """The end of its endpoint's path; the method is POST."""

    @property
    def ping(self) -> Event | None:
        """Its event that means nothing."""

    def wants_stream(self, body: Mapping[str, Json]) -> bool:
        """Say whether this request asks for a stream."""

    def whole(self, reply: Reply, body: Mapping[str, Json], request_id: str) -> dict[str, Json]:
        """Give the JSON body that answers ``body`` at once."""

    def encoder(self, body: Mapping[str, Json], request_id: str, usage: Usage | None = None) -> Encoder:
        """Give what writes the stream that answers ``body``; ``usage`` is what is known before the first chunk."""

    def join(self, events: Sequence[Event]) -> dict[str, Json]:
        """Give the body that a whole stream says, as `whole` would have written it; ValueError where it is not whole."""

    def read(self, body: Mapping[str, Json]) -> Reply:
        """Give the reply that a body says; ValueError says what is wrong with it, and where."""

    def error(self, fault: Fault) -> dict[str, Json]:
        """Give the JSON body of an error, by the fault's status."""


def text_of(value: Json) -> str:
    """Give plain JSON as the text that goes on the wire: compact, keys in their order, real characters.

    Lone surrogates, which no UTF-8 has, are escaped.

    >>> text_of({"city": "Zürich"})
    '{"city":"Zürich"}'
    """
    text = _written(value)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _escaped(value)
    return text


def merged(blocks: Sequence[Block]) -> list[Block]:
    """Give blocks as a stream shows them: neighbours of one kind are one, and an empty one is none, unless it is all there is.

    So a reply that is streamed and its twin that is not are the same on the wire.

    >>> from invcheck.vocabulary import Refusal, Text
    >>> merged([Text("a"), Text(""), Text("b"), Refusal("no")])
    [Text(text='ab'), Refusal(text='no')]
    """
    found: list[Block] = []
    for block in blocks:
        last = found[-1] if found else None
        if isinstance(block, ToolCall):
            found.append(block)
        elif not block.text:
            continue
        elif type(last) is type(block) and not isinstance(last, ToolCall) and last is not None:
            found[-1] = type(block)(last.text + block.text)
        else:
            found.append(block)
    return found or list(blocks[:1])


def unsaid(reply: Reply, said: Collection[type[Block]], calls: int) -> list[Block]:
    """Give the blocks that no chunk said: of a kind that was not ``said`` at all, and the tool calls after the first ``calls``."""
    left: list[Block] = []
    for block in merged(reply.blocks):
        if isinstance(block, ToolCall):
            if calls == 0:
                left.append(block)
            calls = max(calls - 1, 0)
        elif type(block) not in said:
            left.append(block)
    return left


def named(call: ToolCall, request_id: str, ordinal: int) -> ToolPart:
    """Give a whole tool call, the ``ordinal``-th of its reply from 0, as the one part that it is on the wire."""
    return ToolPart(ordinal, arguments_text(call.arguments), call.name, call.id or call_id(request_id, ordinal))


def suffix(request_id: str) -> str:
    """Give what an id of the wire is made of, so that nothing is drawn.

    >>> suffix("req_0123456789abcdef_0")
    '0123456789abcdef_0'
    """
    return request_id.removeprefix("req_")


def arguments_of(text: str, where: str) -> dict[str, Json]:
    """Give a tool call's arguments of their JSON text; "" is no arguments, and ValueError says where they are no object."""
    if not text:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{where}: the arguments are no JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{where}: the arguments are an object, got {type(value).__name__}")  # noqa: TRY004  # one kind of error for one kind of mistake
    return value


def refuse_error(body: Mapping[str, Json]) -> None:
    """Refuse a body that says an error, which is no reply, with a ValueError that repeats its words.

    >>> refuse_error({"error": {"code": "server_error", "message": "try again"}})
    Traceback (most recent call last):
    ValueError: it says an error, not a reply: server_error: try again
    """
    error = body.get("error")
    if error is not None:
        said = [error.get("code") or error.get("type"), error.get("message")] if isinstance(error, Mapping) else [error]
        raise ValueError(f"it says an error, not a reply: {': '.join(str(each) for each in said if each) or 'without a word'}")
