"""Anthropic's Messages API: its JSON bodies, its stream of events, its errors.

Adjacent blocks of one kind are one block on the wire and an empty one is none, since a stream shows no border between
them. A refusal is text whose ``stop_reason`` is "refusal", and is read back as a `Refusal` whose finish is "content_filter".
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from invcheck.vocabulary import Block, Chunk, Fault, Json, Refusal, Reply, Text, Thinking, ToolCall, ToolPart, Usage
from invcheck.wire.anthropic_reading import STOPS, message_of, reply_of
from invcheck.wire.dialect import suffix, text_of
from invcheck.wire.sse import Event

_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_SERVER = 500
_PING = Event("ping", '{"type":"ping"}')

_CACHES = ("cache_creation_input_tokens", "cache_read_input_tokens")


@dataclass(frozen=True, slots=True)
class AnthropicMessages:
    """The dialect of ``POST /v1/messages``; see `invcheck.wire.dialect.Dialect`.

    >>> body = anthropic_messages.whole(Reply((Text("hello"),)), {"model": "m"}, "req_1")
    >>> body["content"], body["stop_reason"]
    ([{'type': 'text', 'text': 'hello'}], 'end_turn')
    >>> anthropic_messages.read(body).text
    'hello'
    """

    name: str = "anthropic.messages"
    path: str = "/messages"
    ping: Event = _PING

    def wants_stream(self, body: Mapping[str, Json]) -> bool:
        """Say whether this request asks for a stream."""
        return body.get("stream") is True

    def whole(self, reply: Reply, body: Mapping[str, Json], request_id: str) -> dict[str, Json]:
        """Give the message that answers ``body`` at once."""
        content = [_content(block, request_id, index) for index, block in enumerate(_merged(reply.blocks))]
        return {**_message(body, request_id), "content": content, "stop_reason": _stop_of(reply), "usage": _usage(reply.usage)}

    def encoder(self, body: Mapping[str, Json], request_id: str, usage: Usage | None = None) -> Encoder:
        """Give what writes the stream that answers ``body``; ``usage`` is what is known before the first chunk."""
        return Encoder(body, request_id, usage)

    def join(self, events: Sequence[Event]) -> dict[str, Json]:
        """Give the message that a whole stream says, as `whole` would have written it; ValueError where it is not whole."""
        return message_of(events)

    def read(self, body: Mapping[str, Json]) -> Reply:
        """Give the reply that a message says; ValueError says what is wrong with it, and where."""
        return reply_of(body)

    def error(self, fault: Fault) -> dict[str, Json]:
        """Give the JSON body of an error, by the fault's status.

        >>> anthropic_messages.error(Fault("overloaded", "overloaded", 529))
        {'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'overloaded'}}
        """
        status = fault.status or _SERVER
        kind = _ERRORS.get(status, "api_error" if status >= _SERVER else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": fault.message}}


class Encoder:
    """Writes one message as a stream; see `invcheck.wire.dialect.Encoder`."""

    def __init__(self, body: Mapping[str, Json], request_id: str, usage: Usage | None) -> None:
        self._body, self._request_id, self._usage = body, request_id, usage
        self._blocks = 0
        self._open: str | None = None
        self._thought: list[str] = []
        self._tools: dict[int, int] = {}

    def start(self) -> list[Event]:
        """Give the message without content, and the ping that the real API sends there too."""
        # readers need both numbers here; those at the end replace them
        usage = _usage(Usage(0, 0) if self._usage is None else self._usage)
        message = {
            **_message(self._body, self._request_id),
            "usage": {**usage, **({"output_tokens": 0} if "output_tokens" in usage else {})},
        }
        return [_event({"type": "message_start", "message": message}), _PING]

    def chunk(self, chunk: Chunk) -> list[Event]:
        """Give one chunk, opening its block and closing the one before where that is another."""
        events: list[Event] = []
        if chunk.thinking:
            events += self._opened("thinking", {"type": "thinking", "thinking": "", "signature": ""})
            self._thought.append(chunk.thinking)
            events.append(self._delta({"type": "thinking_delta", "thinking": chunk.thinking}))
        if chunk.text or chunk.refusal:
            events += self._opened("text", {"type": "text", "text": ""})
            events.append(self._delta({"type": "text_delta", "text": chunk.text + chunk.refusal}))
        if chunk.tool_call is not None:
            call = chunk.tool_call
            text = text_of(call.arguments) if call.arguments else ""
            events += self._part(ToolPart(len(self._tools), text, call.name, call.id))
        if chunk.part is not None:
            events += self._part(chunk.part)
        return events

    def end(self, reply: Reply) -> list[Event]:
        """Give the end of the last block, the stop reason, and usage in full."""
        delta = {"stop_reason": _stop_of(reply), "stop_sequence": None}
        return [*self._closed(), _event({"type": "message_delta", "delta": delta, "usage": _usage(reply.usage)})]

    def done(self) -> list[Event]:
        """Give the event that ends every message."""
        return [_event({"type": "message_stop"})]

    def error(self, fault: Fault) -> list[Event]:
        """Give an error that arrives in the middle of the message; nothing follows it."""
        return [_event(anthropic_messages.error(fault))]

    def _part(self, part: ToolPart) -> list[Event]:
        events: list[Event] = []
        if part.index not in self._tools:
            start: dict[str, Json] = {
                "type": "tool_use",
                "id": part.id or _tool_id(self._request_id, self._blocks),
                "name": part.name,
                "input": {},
            }
            events += self._opened(f"tool {part.index}", start)
            self._tools[part.index] = self._blocks - 1
        # a part that comes late for its block still names it: readers add up by index
        events.append(self._delta({"type": "input_json_delta", "partial_json": part.arguments}, self._tools[part.index]))
        return events

    def _opened(self, kind: str, block: dict[str, Json]) -> list[Event]:
        if self._open == kind:
            return []
        events = self._closed()
        self._open, self._blocks = kind, self._blocks + 1
        return [*events, _event({"type": "content_block_start", "index": self._blocks - 1, "content_block": block})]

    def _closed(self) -> list[Event]:
        if self._open is None:
            return []
        events = []
        if self._open == "thinking":
            events.append(self._delta({"type": "signature_delta", "signature": _signature("".join(self._thought))}))
            self._thought = []
        self._open = None
        return [*events, _event({"type": "content_block_stop", "index": self._blocks - 1})]

    def _delta(self, delta: dict[str, Json], index: int | None = None) -> Event:
        return _event({"type": "content_block_delta", "index": self._blocks - 1 if index is None else index, "delta": delta})


anthropic_messages = AnthropicMessages()
"""The dialect itself; it has no state."""


def _event(data: dict[str, Json]) -> Event:
    return Event(data["type"], text_of(data))


def _message(body: Mapping[str, Json], request_id: str) -> dict[str, Json]:
    made = {"id": f"msg_{suffix(request_id)}", "type": "message", "role": "assistant", "model": body.get("model")}
    return {**made, "content": [], "stop_reason": None, "stop_sequence": None, "usage": {}}


def _merged(blocks: Sequence[Block]) -> list[Block]:
    merged: list[Block] = []
    for block in blocks:
        if isinstance(block, ToolCall):
            merged.append(block)
            continue
        kind = Thinking if isinstance(block, Thinking) else Text
        if merged and isinstance(before := merged[-1], kind):
            merged[-1] = kind(before.text + block.text)
        elif block.text:
            merged.append(kind(block.text))
    return merged


def _content(block: Block, request_id: str, index: int) -> dict[str, Json]:
    if isinstance(block, ToolCall):
        return {
            "type": "tool_use",
            "id": block.id or _tool_id(request_id, index),
            "name": block.name,
            "input": dict(block.arguments),
        }
    if isinstance(block, Thinking):
        return {"type": "thinking", "thinking": block.text, "signature": _signature(block.text)}
    return {"type": "text", "text": block.text}


def _tool_id(request_id: str, index: int) -> str:
    return f"toolu_{suffix(request_id)}_{index}"


def _signature(thought: str) -> str:
    """Give what stands for the provider's proof of a thought: opaque, and the same for the same thought."""
    return base64.b64encode(sha256(thought.encode("utf-8", "backslashreplace")).digest()).decode("ascii")


def _stop_of(reply: Reply) -> str | None:
    if any(isinstance(block, Refusal) for block in reply.blocks):
        return "refusal"
    return None if reply.finish is None else STOPS.get(reply.finish, reply.finish)


def _usage(usage: Usage | None) -> dict[str, Json]:
    """Give usage as Anthropic counts: its ``input_tokens`` leave out what was read from a cache or written to it."""
    if usage is None:
        return {}
    cached = {name: tokens for name in _CACHES if (tokens := getattr(usage, name)) is not None}
    counted: dict[str, Json] = dict(cached)
    if usage.input_tokens is not None:
        counted["input_tokens"] = max(usage.input_tokens - sum(cached.values()), 0)
    if usage.output_tokens is not None:
        counted["output_tokens"] = usage.output_tokens
    if usage.reasoning_output_tokens is not None:
        counted["output_tokens_details"] = {"thinking_tokens": usage.reasoning_output_tokens}
    return counted
