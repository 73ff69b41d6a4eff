"""OpenAI's chat completions, which most other providers speak too: ``POST …/chat/completions``.

Reasoning goes as ``reasoning_content``, which providers that show it have agreed on; OpenAI itself shows none here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from invcheck.vocabulary import Block, Chunk, Fault, Json, Refusal, Reply, Text, Thinking, ToolCall, ToolPart, Usage
from invcheck.wire.dialect import CREATED, arguments_of, merged, named, refuse_error, suffix, text_of, unsaid
from invcheck.wire.openai_words import error_of, model_of, usage_of, usage_read
from invcheck.wire.sse import Event

_NAMES = ("prompt", "completion")
_FIELDS: Mapping[type[Block], str] = {Text: "content", Thinking: "reasoning_content", Refusal: "refusal"}


class OpenAIChat:
    """The dialect of chat completions."""

    name = "openai.chat"
    path = "/chat/completions"
    ping = None

    def wants_stream(self, body: Mapping[str, Json]) -> bool:
        """Say whether this request asks for a stream."""
        return bool(body.get("stream"))

    def whole(self, reply: Reply, body: Mapping[str, Json], request_id: str) -> dict[str, Json]:
        """Give the JSON body that answers ``body`` at once: one choice, whose content is all text of the reply.

        >>> OpenAIChat().whole(Reply((Text("hi"),)), {"model": "m"}, "req_1")["choices"][0]["message"]["content"]
        'hi'
        """
        message: dict[str, Json] = {"role": "assistant", "content": None, "refusal": None}
        calls: list[Json] = []
        for block in merged(reply.blocks):
            if isinstance(block, ToolCall):
                calls.append(_call(named(block, request_id, len(calls))))
            else:
                field = _FIELDS[type(block)]
                message[field] = (message.get(field) or "") + block.text
        if calls:
            message["tool_calls"] = calls
        return _body(_head(body, request_id), message, reply.finish, usage_of(reply.usage, *_NAMES))

    def encoder(self, body: Mapping[str, Json], request_id: str, usage: Usage | None = None) -> ChatStream:  # noqa: ARG002  # usage comes last here
        """Give what writes the stream that answers ``body``."""
        return ChatStream(body, request_id)

    def join(self, events: Sequence[Event]) -> dict[str, Json]:
        """Give the body that a whole stream says; ValueError where it is cut off, or says an error."""
        head, message, calls = dict[str, Json](), dict[str, Json](), dict[int, dict[str, Json]]()
        finish, usage, done = None, None, False
        for event in events:
            if event.data == "[DONE]":
                done = True
                break
            said = json.loads(event.data)
            if "error" in said:
                raise ValueError(f"the stream says an error: {text_of(said['error'])}")
            head = head or said
            usage = said.get("usage") or usage
            for choice in said["choices"]:
                _add(message, calls, choice["delta"])
                finish = choice["finish_reason"] or finish
        if finish is None and not done:
            raise ValueError("the stream has no finish reason and no [DONE]")
        if calls:
            message["tool_calls"] = [calls[index] for index in sorted(calls)]
        return _body({name: head[name] for name in ("id", "created", "model")}, message, finish, usage)

    def read(self, body: Mapping[str, Json]) -> Reply:
        """Give the reply that a body's first choice says; ValueError says what is wrong with it, and where, or which error it is."""
        refuse_error(body)
        try:
            choice = _first(body["choices"])
            message = choice["message"]
            blocks: list[Block] = [kind(message[field]) for kind, field in _ORDER if message.get(field) is not None]
            blocks += _calls(message)
            finish = choice.get("finish_reason")
            usage = usage_read(body.get("usage"), *_NAMES)
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"this is no chat completion: {type(error).__name__} {error}") from None
        return Reply(tuple(blocks), "tool_calls" if finish == "function_call" else finish, usage)

    def error(self, fault: Fault) -> dict[str, Json]:
        """Give the JSON body of an error, by the fault's status."""
        return {"error": error_of(fault)}


_ORDER: Sequence[tuple[type[Text | Thinking | Refusal], str]] = (
    (Thinking, "reasoning_content"),
    (Text, "content"),
    (Refusal, "refusal"),
)


def _first(choices: Json) -> Json:
    """The choice whose index is 0, wherever it stands; one that tells no index has that of its place."""
    if not isinstance(choices, list) or not choices:
        raise ValueError("this is no chat completion: it has no choices")
    found = next((choice for place, choice in enumerate(choices) if choice.get("index", place) == 0), None)
    if found is None:
        raise ValueError("this is no chat completion: none of its choices has the index 0")
    return found


def _calls(message: Mapping[str, Json]) -> list[ToolCall]:
    """The tool calls of a message; where there are none, the function call that was said before there were tools."""
    calls = [(f"tool_calls[{index}]", call) for index, call in enumerate(message.get("tool_calls") or ())]
    if not calls and message.get("function_call") is not None:
        calls = [("function_call", {"function": message["function_call"]})]
    found: list[ToolCall] = []
    for where, call in calls:
        function = call["function"]
        found.append(ToolCall(function["name"], arguments_of(function["arguments"], f"choices[0].message.{where}"), call.get("id")))
    return found


class ChatStream:
    """Writes one chat completion as chunks: the role, the deltas, the finish reason, and usage where it was asked for."""

    __slots__ = ("_calls", "_head", "_request_id", "_said", "_usage")

    def __init__(self, body: Mapping[str, Json], request_id: str) -> None:
        self._head = {**_head(body, request_id), "object": "chat.completion.chunk"}
        self._request_id = request_id
        options = body.get("stream_options")
        self._usage = isinstance(options, Mapping) and bool(options.get("include_usage"))
        self._said: set[type[Block]] = set()
        self._calls = 0

    def start(self) -> list[Event]:
        """Give nothing yet: the role's chunk comes with the first delta, since its content is "" or null by what follows."""
        return []

    def chunk(self, chunk: Chunk) -> list[Event]:
        """Give one chunk as the deltas of what it holds."""
        events: list[Event] = []
        if chunk.thinking:
            self._say(events, Thinking, {"reasoning_content": chunk.thinking})
        if chunk.text:
            self._say(events, Text, {"content": chunk.text})
        if chunk.refusal:
            self._say(events, Refusal, {"refusal": chunk.refusal})
        if chunk.tool_call is not None:
            self._whole_call(events, chunk.tool_call)
        if chunk.part is not None:
            self._part(events, chunk.part)
        return events

    def end(self, reply: Reply) -> list[Event]:
        """Give what no chunk said, the finish reason, and usage where the request asked for it."""
        events: list[Event] = []
        for block in unsaid(reply, self._said, self._calls):
            if isinstance(block, ToolCall):
                self._whole_call(events, block)
            else:
                self._say(events, type(block), {_FIELDS[type(block)]: block.text})
        if not self._said:
            events.append(self._delta({"role": "assistant", "content": None, "refusal": None}))
        events.append(self._delta({}, reply.finish))
        usage = usage_of(reply.usage, *_NAMES)
        if self._usage and usage is not None:
            events.append(Event(None, text_of({**self._head, "choices": [], "usage": usage})))
        return events

    def done(self) -> list[Event]:
        """Give the end marker."""
        return [Event(None, "[DONE]")]

    def error(self, fault: Fault) -> list[Event]:
        """Give an error in the middle of the reply."""
        return [Event(None, text_of({"error": error_of(fault)}))]

    def _whole_call(self, events: list[Event], call: ToolCall) -> None:
        part = named(call, self._request_id, self._calls)
        self._part(events, replace(part, arguments=""))
        self._part(events, ToolPart(part.index, part.arguments))

    def _part(self, events: list[Event], part: ToolPart) -> None:
        delta: dict[str, Json] = {"index": part.index}
        if part.name is not None:
            delta |= _call(part)
            self._calls = max(self._calls, part.index + 1)
        else:
            delta["function"] = {"arguments": part.arguments}
        self._say(events, ToolCall, {"tool_calls": [delta]})

    def _say(self, events: list[Event], kind: type[Block], delta: dict[str, Json]) -> None:
        if not self._said:
            events.append(self._delta({"role": "assistant", "content": "" if kind is Text else None, "refusal": None}))
        self._said.add(kind)
        events.append(self._delta(delta))

    def _delta(self, delta: dict[str, Json], finish: str | None = None) -> Event:
        said: dict[str, Json] = {
            **self._head,
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
        }
        if self._usage:
            said["usage"] = None
        return Event(None, text_of(said))


def _head(body: Mapping[str, Json], request_id: str) -> dict[str, Json]:
    return {"id": f"chatcmpl-{suffix(request_id)}", "created": CREATED, "model": model_of(body)}


def _body(head: dict[str, Json], message: dict[str, Json], finish: str | None, usage: dict[str, Json] | None) -> dict[str, Json]:
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}


def _call(part: ToolPart) -> dict[str, Json]:
    return {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": part.arguments}}


def _add(message: dict[str, Json], calls: dict[int, dict[str, Json]], delta: Mapping[str, Json]) -> None:
    """Add a delta to what is known so far: texts and arguments grow, all else is said once."""
    for field, value in delta.items():
        if field == "tool_calls":
            for part in value:
                call = calls.setdefault(part["index"], _call(ToolPart(part["index"], "", "", part.get("id"))))
                function = part.get("function") or {}
                call["function"]["name"] += function.get("name") or ""
                call["function"]["arguments"] += function.get("arguments") or ""
        elif field == "role" or not isinstance(value, str):
            message.setdefault(field, value)
        else:
            message[field] = (message.get(field) or "") + value


openai_chat = OpenAIChat()
