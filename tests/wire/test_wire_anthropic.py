"""Anthropic's dialect: bodies, streams and errors as its API reference and its SDK have them."""

from __future__ import annotations

import base64
import hashlib
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.faults import completed
from invcheck.freeze import frozen
from invcheck.vocabulary import Block, Chunk, Fault, Framing, Refusal, Reply, Text, Thinking, ToolCall, ToolPart, Usage
from invcheck.wire.anthropic_messages import anthropic_messages
from invcheck.wire.sse import Event, frame, parse

ID = "req_0123456789abcdef_0"
BODY = {"model": "claude-x", "stream": True}

texts = st.text(min_size=1, max_size=12)
tokens = st.none() | st.integers(0, 2**40)
arguments = st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.text(max_size=5), max_size=3)


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    read, created = draw(tokens), draw(tokens)
    fresh = draw(st.integers(0, 2**40))
    return Usage(fresh + (read or 0) + (created or 0), draw(st.integers(0, 2**40)), read, created, draw(tokens))


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    """Replies that the dialect can say: no two neighbours of one kind, no empty block, a refusal where it ends as one."""
    finish = draw(st.sampled_from(["stop", "length", "tool_calls", "content_filter", "pause_turn", None]))
    said = Refusal if finish == "content_filter" else Text
    blocks: list[Block] = []
    for index in range(draw(st.integers(0, 4))):
        before = type(blocks[-1]) if blocks else None
        kind = draw(st.sampled_from([each for each in (said, Thinking, ToolCall) if each is ToolCall or each is not before]))
        name = f"call_{index}"
        blocks.append(ToolCall("search", frozen(draw(arguments)), name) if kind is ToolCall else kind(draw(texts)))
    return Reply(tuple(blocks), finish, draw(usages()))


def cut(draw: st.DrawFn, text: str) -> list[str]:
    """Cut a text anywhere; the parts join to it."""
    places = sorted(draw(st.sets(st.integers(0, len(text)), max_size=3)) | {0, len(text)})
    return [text[start:end] for start, end in pairwise(places)]


@st.composite
def delivered(draw: st.DrawFn) -> tuple[Reply, list[Chunk]]:
    reply = draw(replies())
    chunks: list[Chunk] = []
    calls = 0
    for block in reply.blocks:
        if isinstance(block, Text):
            chunks += [Chunk(ID, text=part) for part in cut(draw, block.text)]
        elif isinstance(block, Refusal):
            chunks += [Chunk(ID, refusal=part) for part in cut(draw, block.text)]
        elif isinstance(block, Thinking):
            chunks += [Chunk(ID, thinking=part) for part in cut(draw, block.text)]
        else:
            if draw(st.booleans()):
                chunks.append(Chunk(ID, tool_call=block))
            else:
                parts = cut(draw, json.dumps(block.arguments)) or [""]
                chunks.append(Chunk(ID, part=ToolPart(calls, parts[0], block.name, block.id)))
                chunks += [Chunk(ID, part=ToolPart(calls, part)) for part in parts[1:]]
            calls += 1
    return reply, chunks


def events_of(reply: Reply, chunks: list[Chunk], usage: Usage | None = None) -> list[Event]:
    encoder = anthropic_messages.encoder(BODY, ID, usage)
    return [
        *encoder.start(),
        *(event for chunk in chunks for event in encoder.chunk(chunk)),
        *encoder.end(reply),
        *encoder.done(),
    ]


def data_of(events: list[Event]) -> list[dict[str, Any]]:
    return [json.loads(event.data) for event in events]


@given(replies())
def test_a_body_is_read_back_as_the_reply_that_it_was_written_of(reply: Reply) -> None:
    """read ∘ whole is the identity for everything that the dialect can say."""
    assert anthropic_messages.read(json.loads(json.dumps(anthropic_messages.whole(reply, BODY, ID)))) == reply


@given(delivered(), st.booleans())
def test_a_stream_joins_to_the_whole(given: tuple[Reply, list[Chunk]], known: bool) -> None:
    """However a reply is cut, its stream says the body that the same request without a stream gets."""
    reply, chunks = given
    assert anthropic_messages.join(events_of(reply, chunks, reply.usage if known else None)) == anthropic_messages.whole(reply, BODY, ID)


@given(delivered(), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.booleans())
def test_bytes_keep_a_stream(given: tuple[Reply, list[Chunk]], newline: str, comments: bool, pings: bool) -> None:
    """Ends of line, comments and pings change nothing of what a stream says."""
    reply, chunks = given
    events = events_of(reply, chunks)
    body = b"".join(frame(event, Framing(newline, comments, pings), ping=anthropic_messages.ping) for event in events)
    assert anthropic_messages.join(parse(body)) == anthropic_messages.join(events)


def test_a_whole_message_has_the_fields_of_the_reference() -> None:
    """Text, thought and tool call stand as the API reference shows them; input tokens leave out what the cache had."""
    usage = Usage(100, 20, 60, 30, 5)
    reply = Reply((Thinking("hm"), Text("hi"), ToolCall("search", {"q": "a"}, "toolu_1")), "tool_calls", usage)
    assert anthropic_messages.whole(reply, BODY, ID) == {
        "id": "msg_0123456789abcdef_0",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": base64.b64encode(hashlib.sha256(b"hm").digest()).decode()},
            {"type": "text", "text": "hi"},
            {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "a"}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 10,
            "output_tokens": 20,
            "cache_read_input_tokens": 60,
            "cache_creation_input_tokens": 30,
            "output_tokens_details": {"thinking_tokens": 5},
        },
    }


def test_a_stream_has_the_events_of_the_reference_in_their_order() -> None:
    """Every block is begun, filled and ended before the next, a thought is signed, and usage comes last in full."""
    reply = Reply((Thinking("hm"), Text("hi"), ToolCall("search", {"q": 1}, "t1"), ToolCall("stop", {}, "t2")), "tool_calls", Usage(9, 4))
    chunks = [
        Chunk(ID, thinking="h"),
        Chunk(ID, thinking="m"),
        Chunk(ID, text="hi"),
        Chunk(ID, part=ToolPart(0, '{"q"', "search", "t1")),
        Chunk(ID, part=ToolPart(0, ": 1}")),
        Chunk(ID, tool_call=ToolCall("stop", {}, "t2")),
    ]
    seen = data_of(events_of(reply, chunks, Usage(9, 4)))
    assert [(each["type"], each.get("index")) for each in seen] == [
        ("message_start", None),
        ("ping", None),
        ("content_block_start", 0),
        ("content_block_delta", 0),
        ("content_block_delta", 0),
        ("content_block_delta", 0),
        ("content_block_stop", 0),
        ("content_block_start", 1),
        ("content_block_delta", 1),
        ("content_block_stop", 1),
        ("content_block_start", 2),
        ("content_block_delta", 2),
        ("content_block_delta", 2),
        ("content_block_stop", 2),
        ("content_block_start", 3),
        ("content_block_delta", 3),
        ("content_block_stop", 3),
        ("message_delta", None),
        ("message_stop", None),
    ]
    assert seen[0]["message"]["usage"] == {"input_tokens": 9, "output_tokens": 0}
    assert seen[0]["message"]["stop_reason"] is None
    assert seen[5]["delta"]["type"] == "signature_delta"
    assert seen[10]["content_block"] == {"type": "tool_use", "id": "t1", "name": "search", "input": {}}
    assert seen[11]["delta"] == {"type": "input_json_delta", "partial_json": '{"q"'}
    assert seen[15]["delta"] == {"type": "input_json_delta", "partial_json": ""}
    assert seen[17] == {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"input_tokens": 9, "output_tokens": 4},
    }


def test_every_event_bears_the_name_of_its_type() -> None:
    """A reader may go by the event's name or by the type in its data."""
    events = events_of(Reply((Text("a"),)), [Chunk(ID, text="a")])
    assert [event.name for event in events] == [each["type"] for each in data_of(events)]


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
        ("stop_sequence", "stop_sequence"),
        (None, None),
    ],
)
def test_a_finish_has_its_own_word(finish: str | None, stop: str | None) -> None:
    """The four that differ are translated, every other text is sent as it is, and null stays null."""
    assert anthropic_messages.whole(Reply((), finish), BODY, ID)["stop_reason"] == stop


def test_a_refusal_is_text_that_stops_as_one() -> None:
    """Whatever its finish, a refusal stops with "refusal", and reads back as one."""
    body = anthropic_messages.whole(Reply((Refusal("I "), Refusal("can't."))), BODY, ID)
    assert body["content"] == [{"type": "text", "text": "I can't."}]
    assert body["stop_reason"] == "refusal"
    assert anthropic_messages.read(body) == Reply((Refusal("I can't."),), "content_filter")


def test_what_a_stream_cannot_tell_apart_is_one_block() -> None:
    """Neighbours of one kind are one block and an empty one is none, streamed or not."""
    reply = Reply((Text(""), Text("a"), Text("b"), ToolCall("t", {}, "i")), "tool_calls")
    body = anthropic_messages.whole(reply, BODY, ID)
    assert [each.get("text") for each in body["content"]] == ["ab", None]


def test_a_tool_call_without_an_id_gets_one_of_the_request() -> None:
    """The derived id is the same in a body and in a stream."""
    call = ToolCall("t", {})
    reply = Reply((call,), "tool_calls", Usage(1, 1))
    body = anthropic_messages.whole(reply, BODY, ID)
    assert body["content"][0]["id"] == "toolu_0123456789abcdef_0_0"
    assert anthropic_messages.join(events_of(reply, [Chunk(ID, tool_call=call)])) == body


def test_parts_of_two_calls_may_come_in_turn() -> None:
    """A part that comes after another block began still names its own, so that readers add it up."""
    parts = [ToolPart(0, '{"a":', "x", "i"), ToolPart(1, "{}", "y", "j"), ToolPart(0, "1}")]
    calls = (ToolCall("x", {"a": 1}, "i"), ToolCall("y", {}, "j"))
    reply = Reply(calls, "tool_calls", Usage(1, 1))
    assert anthropic_messages.join(events_of(reply, [Chunk(ID, part=part) for part in parts])) == anthropic_messages.whole(reply, BODY, ID)


def test_usage_that_is_not_there_is_left_out() -> None:
    """A test may want a reply without usage, or with a part of it."""
    assert anthropic_messages.whole(Reply(), BODY, ID)["usage"] == {}
    assert anthropic_messages.whole(Reply(usage=Usage(output_tokens=3)), BODY, ID)["usage"] == {"output_tokens": 3}
    assert data_of(events_of(Reply(), [], Usage(input_tokens=2)))[0]["message"]["usage"] == {"input_tokens": 2}
    assert anthropic_messages.read(anthropic_messages.whole(Reply(usage=Usage(None, 3, 2)), BODY, ID)).usage == Usage(None, 3, 2)


def test_a_cache_that_exceeds_the_input_leaves_none() -> None:
    """No count on the wire is negative."""
    assert anthropic_messages.whole(Reply(usage=Usage(5, 1, 9)), BODY, ID)["usage"]["input_tokens"] == 0


@pytest.mark.parametrize(
    ("kind", "status", "name"),
    [
        ("bad-request", None, "invalid_request_error"),
        ("unauthorized", None, "authentication_error"),
        ("forbidden", None, "permission_error"),
        ("not-found", None, "not_found_error"),
        ("too-large", None, "request_too_large"),
        ("rate-limit", None, "rate_limit_error"),
        ("server", None, "api_error"),
        ("unavailable", None, "api_error"),
        ("gateway-timeout", None, "timeout_error"),
        ("overloaded", None, "overloaded_error"),
        ("conflict", None, "invalid_request_error"),
        ("bad-request", 402, "billing_error"),
        ("stream-error", None, "api_error"),
    ],
)
def test_an_error_has_the_type_of_its_status(kind: str, status: int | None, name: str) -> None:
    """The error types are those of the API reference, by status."""
    body = anthropic_messages.error(completed(Fault(kind, "so it goes", status)))
    assert body == {"type": "error", "error": {"type": name, "message": "so it goes"}}


def test_an_error_may_come_in_the_middle_of_a_stream() -> None:
    """It is an event of its own name, and no reader takes such a stream for a whole one."""
    encoder = anthropic_messages.encoder(BODY, ID)
    events = [*encoder.start(), *encoder.chunk(Chunk(ID, text="a")), *encoder.error(completed(Fault("stream-error", status=529)))]
    assert events[-1].name == "error"
    with pytest.raises(ValueError, match=r"event 5: the stream says an error: .*overloaded_error"):
        anthropic_messages.join(events)


@pytest.mark.parametrize(
    ("body", "wanted"), [({}, False), ({"stream": True}, True), ({"stream": False}, False), ({"stream": "yes"}, False)]
)
def test_a_stream_is_asked_for_by_true_alone(body: dict[str, Any], wanted: bool) -> None:
    """The reference knows a boolean."""
    assert anthropic_messages.wants_stream(body) is wanted


def message(**fields: Any) -> dict[str, Any]:
    return {**anthropic_messages.whole(Reply((Text("a"),)), BODY, ID), **fields}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (message(content=None), "content: a list of blocks is needed, got NoneType"),
        (message(stop_reason=3), "stop_reason: text or null is needed, got int"),
        (message(content=["a"]), r"content\[0\]: a block is text, thinking or tool_use, got None"),
        (message(content=[{"type": "image"}]), r"content\[0\]: a block is text, thinking or tool_use, got 'image'"),
        (message(content=[{"type": "text"}]), r"content\[0\]\.text: text is needed, got NoneType"),
        (message(content=[{"type": "tool_use", "name": "x", "input": []}]), r"content\[0\]\.input: an object is needed, got list"),
        (message(usage={"output_tokens_details": "x"}), r"usage\.output_tokens_details: an object is needed, got str"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, "it says an error, not a reply: overloaded_error: m"),
        ({"type": "error"}, "content: a list of blocks is needed, got NoneType"),
        (message(usage=[1]), "usage: an object is needed, got list"),
        (message(usage={"input_tokens": True}), r"usage\.input_tokens: an integer is needed, got bool"),
    ],
)
def test_a_body_that_is_no_message_is_refused_with_the_place(body: dict[str, Any], told: str) -> None:
    """Nothing of a wrong body is guessed."""
    with pytest.raises(ValueError, match=f"^{told}$"):
        anthropic_messages.read(body)


def say(**data: Any) -> Event:
    return Event(data.get("type"), json.dumps(data))


START = say(type="message_start", message=message(content=[], stop_reason=None))
BEGIN = say(type="content_block_start", index=0, content_block={"type": "text", "text": ""})


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([], "the stream ends after 0 events without message_stop"),
        ([START], "the stream ends after 1 events without message_stop"),
        ([Event("ping", "{"), START], "event 1: its data is no JSON: .*"),
        ([Event("ping", "[]")], "event 1: an object is needed, got list"),
        ([BEGIN], "event 1: a stream begins with message_start, got content_block_start"),
        ([say(type="message_start")], r"event 1\.message: an object is needed, got NoneType"),
        ([START, say(type="content_block_delta", index=0, delta={})], "event 2: no block 0 was begun"),
        ([START, BEGIN, say(type="content_block_delta", index=-1, delta={})], "event 3: no block -1 was begun"),
        (
            [START, BEGIN, say(type="content_block_delta", index=0, delta={"type": "citations_delta"})],
            "event 3: a text block has no citations_delta",
        ),
        (
            [START, BEGIN, say(type="content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "a"})],
            "event 3: a text block has no thinking_delta",
        ),
        ([START, say(type="message_delta", delta={})], r"event 2\.usage: an object is needed, got NoneType"),
        ([START, BEGIN, START], "the stream ends after 3 events without message_stop"),
        (
            [
                START,
                BEGIN,
                say(type="content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": "[1]"}),
                say(type="message_stop"),
            ],
            r"content\[0\]: the arguments are an object, got list",
        ),
    ],
)
def test_a_stream_that_is_not_whole_is_refused_with_the_event(events: list[Event], told: str) -> None:
    """A join never gives half of a message."""
    with pytest.raises(ValueError, match=f"^{told}$"):
        anthropic_messages.join(events)
