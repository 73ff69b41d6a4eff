"""The adapter of a provider that speaks chat completions: our words become its JSON, and its JSON our words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from checks.helpdesk.errors import BadRequest, ModelError, RateLimited
from checks.helpdesk.llm import Completion, Message, Tool, ToolCall, Usage

Send: TypeAlias = Callable[[bytes], tuple[int, bytes]]
"""Posts a body to the provider, and gives the status and the body of its answer."""

GOOD, BUSY, BROKEN = 200, 429, 500


@dataclass(frozen=True, slots=True)
class ChatCompletions:
    """A `ChatModel` behind an endpoint of chat completions; ``model`` is what the provider calls it."""

    send: Send
    model: str

    def complete(self, messages: Sequence[Message], *, max_tokens: int = 512, tools: Sequence[Tool] = ()) -> Completion:
        """Answer a conversation."""
        asked: dict[str, Any] = {"model": self.model, "messages": [_message(each) for each in messages], "max_tokens": max_tokens}
        if tools:
            asked["tools"] = [_tool(each) for each in tools]
        status, body = self.send(json.dumps(asked).encode())
        if status != GOOD:
            raise _refused(status, body)
        return completion(body)


def completion(body: bytes) -> Completion:
    """Give what a body of the provider says; ModelError where it says nothing that we can read."""
    try:
        read = json.loads(body)
        choice = read["choices"][0]
        message = choice["message"]
        return Completion(
            text=message.get("content") or message.get("refusal") or "",
            finish=choice["finish_reason"],
            usage=_usage(read.get("usage")),
            tool_calls=tuple(_call(each) for each in message.get("tool_calls") or ()),
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ModelError(f"the provider's answer cannot be read: {type(error).__name__}") from error


def _message(message: Message) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        written["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        written["tool_call_id"] = message.tool_call_id
    return written


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _call(call: Mapping[str, Any]) -> ToolCall:
    arguments = json.loads(call["function"]["arguments"] or "{}")
    if not isinstance(arguments, dict):
        raise ValueError("the arguments of a tool are an object")  # noqa: TRY004  # as every other text that cannot be read
    return ToolCall(call["id"], call["function"]["name"], arguments)


def _usage(usage: Mapping[str, Any] | None) -> Usage | None:
    return None if usage is None else Usage(usage["prompt_tokens"], usage["completion_tokens"])


def _refused(status: int, body: bytes) -> Exception:
    try:
        said = str(json.loads(body)["error"]["message"])
    except (ValueError, LookupError, TypeError):  # a gateway in between answers in HTML
        said = f"status {status}"
    if status == BUSY:
        return RateLimited(said)
    return ConnectionError(said) if status >= BROKEN else BadRequest(said)
