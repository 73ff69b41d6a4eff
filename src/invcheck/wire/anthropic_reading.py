"""What a message of Anthropic's API says: a body as a reply, and a stream of events as the body that it is a delivery of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from invcheck.freeze import frozen
from invcheck.vocabulary import Block, Json, Refusal, Reply, Text, Thinking, ToolCall, Usage
from invcheck.wire.dialect import arguments_of, refuse_error
from invcheck.wire.sse import Event

STOPS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
"""Our finish reasons, where Anthropic has another word for them."""

_FINISHES = {stop: finish for finish, stop in STOPS.items()}
_APPENDED = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def reply_of(message: Mapping[str, Json]) -> Reply:
    """Give the reply that a message says; ValueError says what is wrong with it, and where, or which error it is."""
    refuse_error(message)
    stop = message.get("stop_reason")
    if stop is not None and not isinstance(stop, str):
        raise _needed("stop_reason", "text or null", stop)
    content = _of(message, "content", list, "a list of blocks")
    blocks = [_block(each, f"content[{index}]", refused=stop == "refusal") for index, each in enumerate(content)]
    return Reply(tuple(blocks), None if stop is None else _FINISHES.get(stop, stop), _usage(message.get("usage")))


def message_of(events: Sequence[Event]) -> dict[str, Json]:
    """Give the message that a whole stream says; ValueError where events are missing, stand elsewhere or say an error."""
    message: dict[str, Json] | None = None
    arguments: dict[int, str] = {}
    for n, event in enumerate(events):
        where = f"event {n + 1}"
        data = _data(event, where)
        kind = data.get("type")
        if kind == "ping":
            continue
        if kind == "error":
            raise ValueError(f"{where}: the stream says an error: {data.get('error')}")
        if kind == "message_start" and message is None:
            message = dict(_of(data, "message", dict, "an object", where))
        elif message is None:
            raise ValueError(f"{where}: a stream begins with message_start, got {kind}")
        elif kind == "content_block_start":
            message["content"].append(dict(_of(data, "content_block", dict, "an object", where)))
        elif kind == "content_block_delta":
            _add(message["content"], arguments, data, where)
        elif kind == "message_delta":
            delta, usage = (_of(data, name, dict, "an object", where) for name in ("delta", "usage"))
            message = {**message, **delta, "usage": {**message["usage"], **usage}}
        elif kind == "message_stop":
            return _parsed(message, arguments)
    raise ValueError(f"the stream ends after {len(events)} events without message_stop")


def _add(content: list[dict[str, Json]], arguments: dict[int, str], data: Mapping[str, Json], where: str) -> None:
    delta = _of(data, "delta", dict, "an object", where)
    index = data.get("index")
    if type(index) is not int or not 0 <= index < len(content):
        raise ValueError(f"{where}: no block {index!r} was begun")
    if delta.get("type") == "input_json_delta":
        arguments[index] = arguments.get(index, "") + _of(delta, "partial_json", str, "text", where)
        return
    field = _APPENDED.get(delta.get("type", ""))
    if field is None or field not in content[index]:
        raise ValueError(f"{where}: a {content[index].get('type')} block has no {delta.get('type')}")
    content[index][field] += _of(delta, field, str, "text", where)


def _parsed(message: dict[str, Json], arguments: Mapping[int, str]) -> dict[str, Json]:
    for index, text in arguments.items():
        message["content"][index]["input"] = arguments_of(text, f"content[{index}]")
    return message


def _data(event: Event, where: str) -> dict[str, Json]:
    try:
        data = json.loads(event.data)
    except ValueError as error:
        raise ValueError(f"{where}: its data is no JSON: {error}") from None
    if not isinstance(data, dict):
        raise _needed(where, "an object", data)
    return data


def _block(written: Any, where: str, *, refused: bool) -> Block:
    kind = written.get("type") if isinstance(written, Mapping) else None
    if kind == "text":
        return (Refusal if refused else Text)(_of(written, "text", str, "text", where))
    if kind == "thinking":
        return Thinking(_of(written, "thinking", str, "text", where))
    if kind != "tool_use":
        raise ValueError(f"{where}: a block is text, thinking or tool_use, got {kind!r}")
    arguments = frozen(_of(written, "input", dict, "an object", where))
    return ToolCall(_of(written, "name", str, "text", where), arguments, written.get("id"))


def _usage(counted: Json) -> Usage | None:
    """Give usage as OpenTelemetry counts: ``input_tokens`` include what came from a cache or went to it."""
    if not counted:
        return None
    if not isinstance(counted, Mapping):
        raise _needed("usage", "an object", counted)
    fresh, output = _tokens(counted, "input_tokens"), _tokens(counted, "output_tokens")
    read, created = _tokens(counted, "cache_read_input_tokens"), _tokens(counted, "cache_creation_input_tokens")
    details = counted.get("output_tokens_details") or {}
    if not isinstance(details, Mapping):
        raise _needed("usage.output_tokens_details", "an object", details)
    thought = _tokens(details, "thinking_tokens")
    return Usage(None if fresh is None else fresh + (read or 0) + (created or 0), output, read, created, thought)


def _tokens(counted: Mapping[str, Json], name: str) -> int | None:
    tokens = counted.get(name)
    if tokens is not None and type(tokens) is not int:
        raise _needed(f"usage.{name}", "an integer", tokens)
    return tokens


def _of(written: Mapping[str, Json], key: str, kind: type, needed: str, where: str = "") -> Any:
    value = written.get(key)
    if not isinstance(value, kind):
        raise _needed(f"{where}.{key}" if where else key, needed, value)
    return value


def _needed(where: str, needed: str, got: object) -> ValueError:
    return ValueError(f"{where}: {needed} is needed, got {type(got).__name__}")
