"""The stream of a response: items and their parts are opened, filled and closed, each event with its number in the stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from invcheck.vocabulary import Block, Chunk, Fault, Json, Refusal, Reply, Text, Thinking, ToolCall, ToolPart
from invcheck.wire.dialect import named, text_of, unsaid
from invcheck.wire.openai_items import begun, body_of, closed, opened, part_of
from invcheck.wire.openai_words import error_of
from invcheck.wire.sse import Event

_Texts: TypeAlias = type[Text] | type[Refusal] | type[Thinking]
_STEMS: Mapping[type[Block], str] = {Text: "output_text", Refusal: "refusal", Thinking: "reasoning_summary_text"}
_PARTS: Mapping[type[Block], str] = {Text: "content_part", Refusal: "content_part", Thinking: "reasoning_summary_part"}


class ResponseStream:
    """Writes one response as events; the last one repeats the whole response, made of what the events before it said."""

    def __init__(self, body: Mapping[str, Json], request_id: str) -> None:
        self._body, self._request_id = body, request_id
        self._number = 0
        self._items: list[dict[str, Json]] = []
        self._said: set[type[Block]] = set()
        self._calls = 0
        self._open: _Texts | None = None
        self._calling = False
        self._text: list[str] = []
        self._last: dict[str, Json] = {}

    def start(self) -> list[Event]:
        """Give the response as it begins."""
        response = begun(self._body, self._request_id)
        return [self._event("response.created", response=response), self._event("response.in_progress", response=response)]

    def chunk(self, chunk: Chunk) -> list[Event]:
        """Give one chunk: what is open is closed where another block begins."""
        events: list[Event] = []
        if chunk.thinking:
            self._say(events, Thinking, chunk.thinking)
        if chunk.text:
            self._say(events, Text, chunk.text)
        if chunk.refusal:
            self._say(events, Refusal, chunk.refusal)
        if chunk.tool_call is not None:
            self._part(events, named(chunk.tool_call, self._request_id, self._calls))
        if chunk.part is not None:
            self._part(events, chunk.part)
        return events

    def end(self, reply: Reply) -> list[Event]:
        """Give what no chunk said, and close what is open."""
        events: list[Event] = []
        for block in unsaid(reply, self._said, self._calls):
            if isinstance(block, ToolCall):
                self._part(events, named(block, self._request_id, self._calls))
            else:
                self._say(events, type(block), block.text)
        self._close(events)
        self._close_item(events)
        self._last = body_of(reply, self._body, self._request_id, self._items)
        return events

    def done(self) -> list[Event]:
        """Give the whole response, which is the end marker here: completed, or incomplete."""
        return [self._event("response.incomplete" if self._last["status"] == "incomplete" else "response.completed", response=self._last)]

    def error(self, fault: Fault) -> list[Event]:
        """Give an error in the middle of the reply, nested as the provider sends it; its reference shows the fields flat."""
        return [self._event("error", error=error_of(fault))]

    def _event(self, kind: str, **fields: Json) -> Event:
        said = text_of({"type": kind, "sequence_number": self._number, **fields})
        self._number += 1
        return Event(kind, said)

    def _place(self) -> dict[str, Json]:
        return {"item_id": self._items[-1]["id"], "output_index": len(self._items) - 1}

    def _part_place(self, kind: type[Block]) -> dict[str, Json]:
        name, parts = ("summary_index", "summary") if kind is Thinking else ("content_index", "content")
        return {**self._place(), name: len(self._items[-1][parts])}

    def _part(self, events: list[Event], part: ToolPart) -> None:
        if part.name is not None:
            self._close(events)
            self._begin_item(events, "function_call", part)
            self._calling, self._calls = True, part.index + 1
        elif not self._calling or part.index != self._calls - 1:
            raise ValueError(f"a part of tool call {part.index} comes after its item was closed: a response's items follow each other")
        if part.arguments:
            self._text.append(part.arguments)
            events.append(self._event("response.function_call_arguments.delta", **self._place(), delta=part.arguments))

    def _say(self, events: list[Event], kind: _Texts, text: str) -> None:
        if self._open is not kind:
            self._close(events)
            self._begin_part(events, kind)
        self._said.add(kind)
        if text:
            self._text.append(text)
            events.append(self._event(f"response.{_STEMS[kind]}.delta", **self._part_place(kind), delta=text, **_more(kind)))

    def _begin_part(self, events: list[Event], kind: _Texts) -> None:
        if kind is Thinking:
            self._begin_item(events, "reasoning")
        elif not self._items or self._items[-1]["type"] != "message":
            self._begin_item(events, "message")
        self._open = kind
        events.append(self._event(f"response.{_PARTS[kind]}.added", **self._part_place(kind), part=part_of(kind(""))))

    def _begin_item(self, events: list[Event], kind: str, call: ToolPart | None = None) -> None:
        self._close_item(events)
        item = opened(kind, self._request_id, len(self._items), call)
        self._items.append(item)
        events.append(self._event("response.output_item.added", output_index=len(self._items) - 1, item=item))

    def _close(self, events: list[Event]) -> None:
        """Close the part that is open; its message stays open, since more of it may come."""
        kind, text = self._open, "".join(self._text)
        self._open, self._text = None, []
        if self._calling:
            self._calling = False
            item = self._items[-1]
            item["arguments"] = text
            events.append(self._event("response.function_call_arguments.done", **self._place(), name=item["name"], arguments=text))
        elif kind is not None:
            place, part = self._part_place(kind), part_of(kind(text))
            field = "refusal" if kind is Refusal else "text"
            events.append(self._event(f"response.{_STEMS[kind]}.done", **place, **{field: text}, **_more(kind)))
            events.append(self._event(f"response.{_PARTS[kind]}.done", **place, part=part))
            self._items[-1]["summary" if kind is Thinking else "content"].append(part)

    def _close_item(self, events: list[Event]) -> None:
        if self._items:
            item = closed(self._items[-1])
            events.append(self._event("response.output_item.done", output_index=len(self._items) - 1, item=item))


def _more(kind: type[Block]) -> dict[str, Json]:
    return {"logprobs": []} if kind is Text else {}
