"""OpenAI's two dialects by example: shapes as its API reference shows them, and what is wrong with a body, by its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from invcheck import Chunk, Fault, Reply, Text, Thinking, ToolCall, Usage, faults
from invcheck.replies import call_id
from invcheck.vocabulary import Refusal, ToolPart
from invcheck.wire.dialect import Dialect, unsaid
from invcheck.wire.openai_chat import openai_chat
from invcheck.wire.openai_responses import openai_responses
from invcheck.wire.sse import Event

KEY = "req_0123456789abcdef_0"
ASKED = {"model": "gpt-x"}
DIALECTS: list[Dialect] = [openai_chat, openai_responses]
either = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)


def _said(events: list[Event]) -> list[Any]:
    return [event.data if event.data == "[DONE]" else json.loads(event.data) for event in events]


def test_a_chat_completion_has_the_shape_of_the_reference() -> None:
    """One choice with a message, a finish reason and usage with its sum and details; nothing is drawn."""
    reply = Reply((Text("Hello!"),), "stop", Usage(19, 10, reasoning_output_tokens=4))
    assert openai_chat.whole(reply, ASKED, KEY) == {
        "id": "chatcmpl-0123456789abcdef_0",
        "object": "chat.completion",
        "created": 1893456000,
        "model": "gpt-x",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello!", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 19,
            "completion_tokens": 10,
            "total_tokens": 29,
            "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 4},
        },
    }


def test_a_tool_call_is_no_content() -> None:
    """A message that calls a tool has content null, and the arguments as JSON text."""
    message = openai_chat.whole(Reply((ToolCall("f", {"q": 1}, "call_a"),), "tool_calls"), ASKED, KEY)["choices"][0]["message"]
    assert message == {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "tool_calls": [{"id": "call_a", "type": "function", "function": {"name": "f", "arguments": '{"q": 1}'}}],
    }


def test_the_deltas_of_a_chat_stream_are_those_of_the_reference() -> None:
    """The role with "" for text and null for a call, a call named once and its arguments in parts, and an empty last delta."""
    encoder = openai_chat.encoder(ASKED, KEY, None)
    parts = [Chunk(KEY, part=ToolPart(0, "", "f", "call_a")), Chunk(KEY, part=ToolPart(0, '{"q"')), Chunk(KEY, part=ToolPart(0, ": 1}"))]
    events = [event for chunk in parts for event in encoder.chunk(chunk)]
    events += encoder.end(Reply((ToolCall("f", {"q": 1}, "call_a"),), "tool_calls")) + encoder.done()
    *chunks, done = _said(events)
    assert [chunk["choices"][0]["delta"] for chunk in chunks] == [
        {"role": "assistant", "content": None, "refusal": None},
        {"tool_calls": [{"index": 0, "id": "call_a", "type": "function", "function": {"name": "f", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"q"'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]},
        {},
    ]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, None, None, None, "tool_calls"]
    assert done == "[DONE]"
    assert "usage" not in chunks[0]
    text = _said(openai_chat.encoder(ASKED, KEY, None).chunk(Chunk(KEY, "Hi")))
    assert [chunk["choices"][0]["delta"] for chunk in text] == [{"role": "assistant", "content": "", "refusal": None}, {"content": "Hi"}]


def test_usage_that_is_not_known_is_not_told() -> None:
    """Without usage there is no usage chunk, and without one of two numbers there is no sum."""
    asked = {**ASKED, "stream_options": {"include_usage": True}}
    assert len(openai_chat.encoder(asked, KEY, None).end(Reply())) == 2
    assert openai_chat.whole(Reply(usage=Usage(output_tokens=3)), ASKED, KEY)["usage"] == {
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def test_usage_that_was_asked_for_is_null_until_the_end() -> None:
    """With ``include_usage`` each chunk before has usage null, as the reference says."""
    encoder = openai_chat.encoder({**ASKED, "stream_options": {"include_usage": True}}, KEY, None)
    said = _said(encoder.chunk(Chunk(KEY, "a")) + encoder.end(Reply((Text("a"),), usage=Usage(1, 1))))
    assert [chunk["usage"] and chunk["usage"]["total_tokens"] for chunk in said] == [None, None, None, 2]


def test_usage_may_come_before_the_last_chunk() -> None:
    """Some providers send it with the finish reason, and more chunks after it."""
    head: Any = {"id": "i", "created": 0, "model": "m"}
    last = {**head, "choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}
    more = {**head, "choices": [], "usage": None}
    assert openai_chat.join([Event(None, json.dumps(chunk)) for chunk in (last, more)])["usage"] == {"prompt_tokens": 3}


def test_an_empty_text_is_a_content_and_no_text_is_none() -> None:
    """A model that says nothing has said "", whole and streamed; a reply without a block has content null."""
    for blocks, content in (((Text(""),), ""), ((), None)):
        reply = Reply(blocks)
        whole = openai_chat.whole(reply, ASKED, KEY)
        assert whole["choices"][0]["message"]["content"] == content
        encoder = openai_chat.encoder(ASKED, KEY, None)
        assert openai_chat.join(encoder.end(reply) + encoder.done()) == whole


@either
def test_a_call_without_an_id_gets_the_same_one_whole_and_streamed(dialect: Dialect) -> None:
    """The id is derived of the request and the call's place among the calls, as the waist derives it."""
    reply = Reply((Text("x"), ToolCall("f", {}), ToolCall("g", {})), "tool_calls")
    whole = dialect.whole(reply, ASKED, KEY)
    encoder = dialect.encoder(ASKED, KEY, None)
    events = encoder.start() + [e for call in reply.tool_calls for e in encoder.chunk(Chunk(KEY, tool_call=call))]
    streamed = dialect.join(events + encoder.end(reply) + encoder.done())
    ids = [[call.id for call in dialect.read(body).tool_calls] for body in (whole, streamed)]
    assert ids == [[call_id(KEY, 0), call_id(KEY, 1)]] * 2


def test_the_events_of_a_response_are_those_of_the_reference() -> None:
    """Created, in progress, item and part opened, deltas, and all of it closed again before the response is completed."""
    encoder = openai_responses.encoder(ASKED, KEY, None)
    reply = Reply((Thinking("hm"), Text("Hi"), ToolCall("f", {}, "call_a")), "tool_calls")
    events = encoder.start()
    for chunk in (Chunk(KEY, thinking="hm"), Chunk(KEY, "H"), Chunk(KEY, "i"), Chunk(KEY, tool_call=reply.tool_calls[0])):
        events += encoder.chunk(chunk)
    said = _said(events + encoder.end(reply) + encoder.done())
    assert [event.name for event in events] == [event["type"] for event in said[: len(events)]]
    assert [event["type"].removeprefix("response.") for event in said] == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert said[9] == {
        "type": "response.content_part.added",
        "sequence_number": 9,
        "item_id": "msg_0123456789abcdef_0_1",
        "output_index": 1,
        "content_index": 0,
        "part": {"type": "output_text", "annotations": [], "logprobs": [], "text": ""},
    }
    assert said[17]["arguments"] == "{}"
    assert said[18]["item"] == {
        "id": "fc_0123456789abcdef_0_2",
        "type": "function_call",
        "status": "completed",
        "call_id": "call_a",
        "name": "f",
        "arguments": "{}",
    }


def test_a_response_repeats_what_the_request_said_of_it() -> None:
    """Instructions, tools and format of the request stand in the response, and its model, of which there may be none."""
    asked = {"instructions": "be kind", "tools": [{"type": "function"}], "text": {"format": {"type": "json_object"}}, "temperature": 0}
    whole = openai_responses.whole(Reply(), asked, KEY)
    assert {name: whole[name] for name in asked} == asked
    assert (whole["model"], whole["tool_choice"], whole["created_at"]) == ("invcheck", "auto", 1893456000)
    assert (whole["parallel_tool_calls"], whole["text"]) == (True, {"format": {"type": "json_object"}})


def test_text_and_refusal_that_follow_each_other_are_parts_of_one_message() -> None:
    """One item holds both; reasoning between them makes two."""
    one = openai_responses.whole(Reply((Text("a"), Refusal("b"))), ASKED, KEY)["output"]
    assert [[part["type"] for part in item["content"]] for item in one] == [["output_text", "refusal"]]
    two = openai_responses.whole(Reply((Text("a"), Thinking("hm"), Text("b"))), ASKED, KEY)["output"]
    assert [item["type"] for item in two] == ["message", "reasoning", "message"]


def test_a_part_of_a_call_whose_item_is_closed_has_no_place() -> None:
    """The items of a response follow each other, so parts of two calls in turn cannot be said."""
    encoder = openai_responses.encoder(ASKED, KEY, None)
    for index in (0, 1):
        encoder.chunk(Chunk(KEY, part=ToolPart(index, "", "f", f"call_{index}")))
    with pytest.raises(ValueError, match="tool call 0 comes after its item was closed"):
        encoder.chunk(Chunk(KEY, part=ToolPart(0, "{}")))
    encoder.chunk(Chunk(KEY, "text"))
    with pytest.raises(ValueError, match="tool call 1 comes after"):
        encoder.chunk(Chunk(KEY, part=ToolPart(1, "{}")))


@pytest.mark.parametrize(
    ("kind", "type_", "code"),
    [
        ("bad-request", "invalid_request_error", None),
        ("unauthorized", "invalid_request_error", "invalid_api_key"),
        ("not-found", "invalid_request_error", "model_not_found"),
        ("rate-limit", "requests", "rate_limit_exceeded"),
        ("server", "server_error", None),
        ("overloaded", "server_error", None),
        ("stream-error", "server_error", None),
    ],
)
@either
def test_an_error_has_the_providers_type_and_code(dialect: Dialect, kind: str, type_: str, code: str | None) -> None:
    """The body of an error says what the provider says for its status; one without a status is the server's."""
    fault = faults.completed(Fault(kind, "no"))
    assert dialect.error(fault) == {"error": {"message": "no", "type": type_, "param": None, "code": code}}


def test_an_error_in_the_middle_is_nested() -> None:
    """In chat it is a body of its own, in a response an event with its number."""
    fault = faults.completed(Fault("stream-error", "gone"))
    error = {"message": "gone", "type": "server_error", "param": None, "code": None}
    assert _said(openai_chat.encoder(ASKED, KEY, None).error(fault)) == [{"error": error}]
    encoder = openai_responses.encoder(ASKED, KEY, None)
    encoder.start()
    (event,) = encoder.error(fault)
    assert event.name == "error"
    assert _said([event]) == [{"type": "error", "sequence_number": 2, "error": error}]


@either
def test_a_stream_is_asked_for_by_its_own_field(dialect: Dialect) -> None:
    """``stream: true`` asks for one; false, null and nothing do not."""
    asked = [{"stream": True}, {"stream": False}, {"stream": None}, {}]
    assert [dialect.wants_stream(body) for body in asked] == [True, False, False, False]


def test_what_others_send_can_be_read_too() -> None:
    """A body without ids, details or the fields that it does not need is a reply all the same."""
    call = {"function": {"name": "f", "arguments": ""}}
    body = {"choices": [{"message": {"content": "hi", "reasoning_content": "hm", "tool_calls": [call]}}], "usage": {"prompt_tokens": 3}}
    assert openai_chat.read(body) == Reply((Thinking("hm"), Text("hi"), ToolCall("f", {})), None, Usage(3))
    items = [{"type": "web_search_call"}, {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "hm"}]}]
    assert openai_responses.read({"output": items, "status": "completed"}) == Reply((Thinking("hm"),), "stop")
    assert openai_responses.read({"output": [], "status": "incomplete"}) == Reply((), None)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [('{"a"', r"tool_calls\[0\]: the arguments are no JSON"), ("[1]", r"tool_calls\[0\]: the arguments are an object, got list")],
)
def test_arguments_that_are_none_are_named(arguments: str, reason: str) -> None:
    """A tool call whose arguments are cut, or are no object, says which one it is."""
    body = {"choices": [{"message": {"tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}}]}
    with pytest.raises(ValueError, match=reason):
        openai_chat.read(body)


def test_the_choice_is_the_one_whose_index_is_0() -> None:
    """Wherever it stands; without an index, that of its place."""
    first, second = {"message": {"content": "first"}}, {"index": 1, "message": {"content": "second"}}
    for choices in ([first, second], [second, {"index": 0, **first}], [{"index": 0, **first}]):
        assert openai_chat.read({"choices": choices}).text == "first"
    for none in ([second], [], {}, None):
        with pytest.raises(ValueError, match=r"this is no chat completion: (it has no choices|none of its choices has the index 0)"):
            openai_chat.read({"choices": none})


def test_the_function_call_of_old_is_a_tool_call() -> None:
    """As before there were tools: one call, without an id; beside tool calls it repeats one of them."""
    old = {"name": "f", "arguments": '{"a": 1}'}
    read = openai_chat.read({"choices": [{"message": {"content": None, "function_call": old}, "finish_reason": "function_call"}]})
    assert read == Reply((ToolCall("f", {"a": 1}),), "tool_calls")
    both = {"function_call": old, "tool_calls": [{"id": "c", "function": old}]}
    assert openai_chat.read({"choices": [{"message": both}]}).blocks == (ToolCall("f", {"a": 1}, "c"),)
    with pytest.raises(ValueError, match=r"choices\[0\]\.message\.function_call: the arguments are no JSON"):
        openai_chat.read({"choices": [{"message": {"function_call": {"name": "f", "arguments": "{"}}}]})


SAYS = {"code": "server_error", "message": "gone"}


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SAYS, "server_error: gone"),
        ({"type": "t", "code": None, "message": "m"}, "t: m"),
        ({"message": "m"}, "m"),
        ("gone", "gone"),
        ({}, "without a word"),
    ],
)
@either
def test_an_error_is_no_reply(dialect: Dialect, error: Any, told: str) -> None:
    """Also where an empty reply stands beside it, as in a response that failed."""
    whole = dialect.whole(Reply(), ASKED, KEY)
    for body in ({"error": error}, {**whole, "error": error}):
        with pytest.raises(ValueError, match=f"^it says an error, not a reply: {told}$"):
            dialect.read(body)
    assert dialect.read({**whole, "error": None}) == dialect.read(whole)


@pytest.mark.parametrize("status", ["failed", "cancelled", "queued", "in_progress", ["completed"], 3])
def test_a_response_that_was_not_ended_is_no_reply(status: Any) -> None:
    """Its output may be empty, or a part."""
    with pytest.raises(ValueError, match="the response was not ended: its status is "):
        openai_responses.read({"output": [], "status": status})


@pytest.mark.parametrize("kind", ["custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call"])
def test_a_call_that_waits_for_the_app_is_not_dropped(kind: str) -> None:
    """No block of a reply can say it, and without it the app would see a response that asks nothing."""
    with pytest.raises(ValueError, match=rf"output\[0\]: a {kind} is the app's to answer"):
        openai_responses.read({"output": [{"type": kind, "call_id": "c"}], "status": "completed"})


@pytest.mark.parametrize(
    "body", [{}, {"choices": []}, {"choices": [{}]}, {"choices": [{"message": None}]}, {"output": [{}]}, {"output": 3}, {"output": {}}]
)
@either
def test_another_body_is_no_reply(dialect: Dialect, body: Any) -> None:
    """What has not the dialect's shape is a ValueError, whatever is missing."""
    with pytest.raises(ValueError, match="this is no"):
        dialect.read(body)


@either
@pytest.mark.parametrize("usage", [{"prompt_tokens_details": "x", "input_tokens_details": "x"}])
def test_usage_of_another_shape_is_no_reply(dialect: Dialect, usage: Any) -> None:
    """As all else that is wrong in a body."""
    with pytest.raises(ValueError, match="this is no"):
        dialect.read({**dialect.whole(Reply(), ASKED, KEY), "usage": usage})


def test_a_stream_that_is_cut_off_is_not_whole() -> None:
    """Without a finish reason and an end marker, or without the last response, nothing can be joined."""
    chunk = {"id": "i", "created": 0, "model": "m", "choices": [{"delta": {"content": "hi"}, "finish_reason": None}]}
    with pytest.raises(ValueError, match="no finish reason"):
        openai_chat.join([Event(None, json.dumps(chunk))])
    with pytest.raises(ValueError, match=r"no response\.completed"):
        openai_responses.join([Event("response.created", '{"type": "response.created"}')])


@either
def test_a_stream_that_says_an_error_is_none(dialect: Dialect) -> None:
    """An error in the middle of a stream is told when it is joined."""
    with pytest.raises(ValueError, match=r"the stream says an error: .*gone"):
        dialect.join(dialect.encoder(ASKED, KEY, None).error(Fault("stream-error", "gone")))


def test_what_was_not_said_is_what_is_missing_of_the_reply() -> None:
    """Kinds of text that no chunk had, and the calls after those that were begun."""
    calls = [ToolCall("a", {}), ToolCall("b", {})]
    reply = Reply((Thinking("hm"), Text("x"), *calls), "tool_calls")
    assert unsaid(reply, {Text}, 1) == [Thinking("hm"), calls[1]]
    assert unsaid(reply, {Text, Thinking, ToolCall}, 2) == []


def test_a_lone_surrogate_is_escaped() -> None:
    """Model text that no UTF-8 can hold goes as an escape of JSON, in the body and in a stream."""
    for dialect in DIALECTS:
        events = dialect.encoder(ASKED, KEY, None).chunk(Chunk(KEY, "\ud800 é"))
        assert "\\ud800 \\u00e9" in "".join(event.data for event in events)
