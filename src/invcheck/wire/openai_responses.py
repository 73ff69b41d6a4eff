"""OpenAI's responses: ``POST …/responses``, whose output is a list of items; the stream's writer is `ResponseStream`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from invcheck.vocabulary import Block, Fault, Json, Refusal, Reply, Text, Thinking, ToolCall, Usage
from invcheck.wire.dialect import arguments_of, merged, refuse_error, text_of
from invcheck.wire.openai_items import Items, body_of, usage_said
from invcheck.wire.openai_stream import ResponseStream
from invcheck.wire.openai_words import error_of
from invcheck.wire.sse import Event

_ENDS = ("response.completed", "response.incomplete")
_APPS_OWN = (
    "apply_patch_call",
    "computer_call",
    "custom_tool_call",
    "local_shell_call",
    "mcp_approval_request",
    "shell_call",
)
"""Items that wait for the app, as a function call does, and are none."""


class OpenAIResponses:
    """The dialect of responses."""

    name = "openai.responses"
    path = "/responses"
    ping = None

    def wants_stream(self, body: Mapping[str, Json]) -> bool:
        """Say whether this request asks for a stream."""
        return bool(body.get("stream"))

    def whole(self, reply: Reply, body: Mapping[str, Json], request_id: str) -> dict[str, Json]:
        """Give the JSON body that answers ``body`` at once: neighbouring text and refusals are one message's parts.

        >>> OpenAIResponses().whole(Reply((Text("hi"),)), {"model": "m"}, "req_1")["output"][0]["content"][0]["text"]
        'hi'
        """
        items = Items(request_id)
        for block in merged(reply.blocks):
            items.add(block)
        return body_of(reply, body, request_id, items.made)

    def encoder(self, body: Mapping[str, Json], request_id: str, usage: Usage | None = None) -> ResponseStream:  # noqa: ARG002  # usage comes last here
        """Give what writes the stream that answers ``body``."""
        return ResponseStream(body, request_id)

    def join(self, events: Sequence[Event]) -> dict[str, Json]:
        """Give the body that a whole stream says, which its last event repeats; ValueError where there is none."""
        for event in events:
            said = json.loads(event.data)
            if said["type"] in _ENDS:
                whole: dict[str, Json] = said["response"]
                return whole
            if said["type"] in ("error", "response.failed"):
                raise ValueError(f"the stream says an error: {event.data}")
        raise ValueError("the stream has no response.completed")

    def read(self, body: Mapping[str, Json]) -> Reply:
        """Give the reply that a body says; ValueError says what is wrong with it, and where, or which error it is.

        Items of tools that the provider runs itself are left out; calls of the app's tools that are no functions are refused.
        """
        refuse_error(body)
        blocks: list[Block] = []
        try:
            output = body["output"]
            if not isinstance(output, list):
                raise TypeError("output is no list")  # noqa: TRY301  # told as all that is wrong here
            for index, item in enumerate(output):
                blocks.extend(_blocks(item, f"output[{index}]"))
            finish = _finish(body, blocks)
            usage = usage_said(body.get("usage"))
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"this is no response: {type(error).__name__} {error}") from None
        return Reply(tuple(blocks), finish, usage)

    def error(self, fault: Fault) -> dict[str, Json]:
        """Give the JSON body of an error, by the fault's status."""
        return {"error": error_of(fault)}


def _blocks(item: Mapping[str, Json], where: str) -> list[Block]:
    kind = item["type"]
    if kind == "reasoning":
        return [Thinking(part["text"]) for part in (*item.get("summary", ()), *(item.get("content") or ()))]
    if kind == "function_call":
        return [ToolCall(item["name"], arguments_of(item["arguments"], where), item["call_id"])]
    if kind in _APPS_OWN:
        raise ValueError(f"{where}: a {kind} is the app's to answer, and no function call, so no reply can say it")
    if kind != "message":
        return []
    return [Refusal(part["refusal"]) if part["type"] == "refusal" else Text(part["text"]) for part in item["content"]]


def _finish(body: Mapping[str, Json], blocks: Sequence[Block]) -> str | None:
    status = body.get("status")
    if status == "completed":
        return "tool_calls" if any(isinstance(block, ToolCall) for block in blocks) else "stop"
    if status is None:
        return None
    if status != "incomplete":
        raise ValueError(f"the response was not ended: its status is {text_of(status)}")
    reason = (body.get("incomplete_details") or {}).get("reason")
    return "length" if reason == "max_output_tokens" else reason


openai_responses = OpenAIResponses()
