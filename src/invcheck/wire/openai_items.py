"""The items of a response's output, and the body around them."""

from __future__ import annotations

from collections.abc import Mapping

from invcheck.vocabulary import Block, Json, Refusal, Reply, Text, Thinking, ToolCall, ToolPart, Usage
from invcheck.wire.dialect import CREATED, named, suffix
from invcheck.wire.openai_words import model_of, usage_of, usage_read

_PREFIX: Mapping[str, str] = {"message": "msg", "reasoning": "rs", "function_call": "fc"}


def opened(kind: str, request_id: str, index: int, call: ToolPart | None = None) -> dict[str, Json]:
    """Give the ``index``-th item of an output, empty as a stream opens it."""
    item: dict[str, Json] = {"id": f"{_PREFIX[kind]}_{suffix(request_id)}_{index}", "type": kind}
    if kind == "message":
        return {**item, "status": "in_progress", "role": "assistant", "content": []}
    if call is not None:
        return {**item, "status": "in_progress", "call_id": call.id, "name": call.name, "arguments": ""}
    return {**item, "summary": []}


def closed(item: dict[str, Json]) -> dict[str, Json]:
    """Say of an item that nothing more comes; reasoning has no status."""
    if "status" in item:
        item["status"] = "completed"
    return item


def part_of(block: Text | Refusal | Thinking) -> dict[str, Json]:
    """Give a block as the part of an item."""
    if isinstance(block, Refusal):
        return {"type": "refusal", "refusal": block.text}
    if isinstance(block, Thinking):
        return {"type": "summary_text", "text": block.text}
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": block.text}


class Items:
    """The items of an output as they are made of blocks, in order."""

    def __init__(self, request_id: str) -> None:
        self._request_id = request_id
        self._calls = 0
        self.made: list[dict[str, Json]] = []

    def add(self, block: Block) -> None:
        """Add a block: text and refusals to the message in hand, if it is the last item."""
        if isinstance(block, ToolCall):
            call = named(block, self._request_id, self._calls)
            self._calls += 1
            self._open("function_call", call)["arguments"] = call.arguments
        elif isinstance(block, Thinking):
            self._open("reasoning")["summary"].append(part_of(block))
        else:
            item = self.made[-1] if self.made and self.made[-1]["type"] == "message" else self._open("message")
            item["content"].append(part_of(block))

    def _open(self, kind: str, call: ToolPart | None = None) -> dict[str, Json]:
        item = opened(kind, self._request_id, len(self.made), call)
        self.made.append(closed(item))
        return item


def begun(body: Mapping[str, Json], request_id: str) -> dict[str, Json]:
    """Give the response as its stream begins it: in progress, with what the request said of it."""
    return {
        "id": f"resp_{suffix(request_id)}",
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": body.get("metadata") or {},
        "model": model_of(body),
        "output": [],
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "temperature": body.get("temperature", 1.0),
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "top_p": body.get("top_p", 1.0),
        "usage": None,
    }


def body_of(reply: Reply, body: Mapping[str, Json], request_id: str, items: list[dict[str, Json]]) -> dict[str, Json]:
    """Give the response that these items are, ended as ``reply`` did.

    "stop" and "tool_calls" are completed, None is no status, every other finish is incomplete for that reason.
    """
    whole = begun(body, request_id)
    whole["output"] = items
    whole["usage"] = usage_of(reply.usage, "input", "output")
    if reply.finish in ("stop", "tool_calls"):
        whole["status"] = "completed"
    elif reply.finish is None:
        whole["status"] = None
    else:
        reason = "max_output_tokens" if reply.finish == "length" else reply.finish
        whole["status"], whole["incomplete_details"] = "incomplete", {"reason": reason}
    return whole


def usage_said(said: Json) -> Usage | None:
    """Give the usage that a response says."""
    return usage_read(said, "input", "output")
