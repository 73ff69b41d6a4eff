"""What a request of an SDK has to have, as the providers' references say, and what they take although it looks odd."""

from __future__ import annotations

from typing import Any

import pytest

from invcheck import ScriptedModel, testing
from invcheck.protocol import DIALECTS, complaints
from invcheck.record import Record, opened
from invcheck.vocabulary import Json
from invcheck.wire.dialects import DIALECTS as ANSWERED

CHAT, RESPONSES, ANTHROPIC = "openai.chat", "openai.responses", "anthropic.messages"
HI: Json = {"role": "user", "content": "hi"}
CALL: Json = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f"}}]}
RESULT: Json = {"role": "tool", "tool_call_id": "c1", "content": ""}
USE: Json = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]}
USED: Json = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1"}]}
ITEM: Json = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
OUTPUT: Json = {"type": "function_call_output", "call_id": "c1", "output": ""}


def chat(*messages: Json, **more: Json) -> Json:
    return {"model": "m", "messages": list(messages), **more}


def responses(*items: Json, **more: Json) -> Json:
    return {"model": "m", "input": list(items), **more}


def anthropic(*messages: Json, **more: Json) -> Json:
    return {"model": "m", "max_tokens": 8, "messages": list(messages), **more}


def assistant(content: Json, **more: Json) -> Json:
    return {"role": "assistant", "content": content, **more}


def user(content: Json) -> Json:
    return {"role": "user", "content": content}


def system(content: Json) -> Json:
    return {"role": "system", "content": content}


def text(said: str, kind: str = "text") -> Json:
    return {"type": kind, "text": said}


@pytest.mark.parametrize(
    ("dialect", "plain"),
    [
        (CHAT, chat(HI)),
        (CHAT, chat(system(""), HI)),
        (CHAT, chat(system([]), HI)),
        (CHAT, chat({"role": "developer", "content": "be brief"}, HI)),
        (CHAT, chat(HI, assistant(""), HI)),
        (CHAT, chat(HI, assistant([text("")]), HI)),
        (CHAT, chat(HI, assistant("{"))),
        (CHAT, chat(user(" "))),
        (CHAT, chat(user([text("what is this?"), {"type": "image_url", "image_url": {"url": "data:"}}]))),
        (CHAT, chat(user([{"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}]))),
        (CHAT, chat(HI, CALL, RESULT)),
        (CHAT, chat(HI, CALL, {**RESULT, "content": [text("")]}, assistant("done"), HI)),
        (CHAT, chat(HI, {"role": "assistant", "tool_calls": CALL["tool_calls"]}, RESULT)),
        (CHAT, chat(HI, assistant(None, refusal="no"), HI)),
        (CHAT, chat(HI, assistant(None, audio={"id": "a"}), HI)),
        (CHAT, chat(HI, assistant(None, function_call={"name": "f"}), {"role": "function", "name": "f", "content": None})),
        (CHAT, chat(user("hi") | {"name": "ann"}, max_completion_tokens=8)),
        (CHAT, chat(HI, CALL, RESULT, system("now in French"), HI)),
        (RESPONSES, {"model": "m", "input": "hi"}),
        (RESPONSES, responses(HI)),
        (RESPONSES, {"prompt": {"id": "pmpt_1"}}),
        (RESPONSES, {"prompt": {"id": "pmpt_1"}, "input": []}),
        (RESPONSES, {"model": "m", "previous_response_id": "resp_1"}),
        (RESPONSES, {"model": "m", "conversation": "conv_1", "input": []}),
        (RESPONSES, {"model": "m", "previous_response_id": "resp_1", "input": [OUTPUT]}),
        (RESPONSES, responses({"type": "message", **HI}, assistant([text("", "output_text")]), ITEM, OUTPUT)),
        (RESPONSES, responses(HI, {"type": "reasoning", "id": "rs_1", "summary": []}, ITEM, OUTPUT)),
        (RESPONSES, responses(HI, {"id": "msg_1"})),
        (RESPONSES, responses({"id": "fc_1"}, OUTPUT)),
        (RESPONSES, responses({"type": "item_reference", "id": "fc_1"}, OUTPUT)),
        (RESPONSES, responses(HI, ITEM, {"type": "function_call_output", "name": "f", "output": "4"})),
        (RESPONSES, responses({"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "f"}]}, HI)),
        (RESPONSES, responses(HI, {"type": "web_search_call", "id": "ws_1", "status": "completed"}, assistant("found"), HI)),
        (RESPONSES, responses(user([text("hi", "input_text"), {"type": "input_image", "image_url": "data:"}]), instructions="")),
        (ANTHROPIC, anthropic(HI)),
        (ANTHROPIC, anthropic(HI, max_tokens=0)),
        (ANTHROPIC, anthropic(HI, HI, assistant("a"), assistant("b"), HI)),
        (ANTHROPIC, anthropic(assistant("hello"), HI)),
        (ANTHROPIC, anthropic(HI, assistant("The best answer is ("))),
        (ANTHROPIC, anthropic(HI, assistant(""))),
        (ANTHROPIC, anthropic(HI, assistant([]))),
        (ANTHROPIC, anthropic(HI, system("now in French"), assistant("oui"), HI)),
        (ANTHROPIC, anthropic(HI, {"role": "system", "output_config": {"effort": "low"}})),
        (ANTHROPIC, anthropic(HI, system=[text("be brief") | {"cache_control": {"type": "ephemeral"}}])),
        (ANTHROPIC, anthropic(HI, system="be brief")),
        (ANTHROPIC, anthropic(HI, system=[])),
        (ANTHROPIC, anthropic(HI, USE, USED)),
        (ANTHROPIC, anthropic(HI, assistant([{"type": "thinking", "thinking": "", "signature": "s"}, *USE["content"]]), USED)),
        (ANTHROPIC, anthropic(HI, assistant([{"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}]), HI)),
        (ANTHROPIC, anthropic(user([{"type": "image", "source": {"type": "url", "url": "x"}}]))),
        (ANTHROPIC, anthropic(user([{"type": "document", "source": {"type": "text", "data": ""}}, text("sum up")]))),
    ],
)
def test_what_a_provider_takes_is_never_complained_about(dialect: str, plain: Json) -> None:
    """Requests as SDKs and frameworks send them, each of which its provider's reference allows."""
    assert complaints(plain, dialect=dialect) == []


WRONG: list[tuple[str, Json, str, str, str]] = [
    (CHAT, {"messages": [HI]}, "missing-field", "$.model", "nothing"),
    (CHAT, chat(HI, model=""), "missing-field", "$.model", '""'),
    (CHAT, chat(HI, model=None), "missing-field", "$.model", "null"),
    (CHAT, {"model": "m"}, "missing-field", "$.messages", "nothing"),
    (CHAT, chat(), "no-messages", "$.messages", "[]"),
    (CHAT, {"model": "m", "messages": "hi"}, "no-messages", "$.messages", '"hi"'),
    (CHAT, chat({"role": "usr", "content": "hi"}), "unknown-role", "$.messages[0].role", '"usr"'),
    (CHAT, chat({"content": "hi"}), "unknown-role", "$.messages[0].role", "nothing"),
    (CHAT, chat({"role": ["user"], "content": "hi"}), "unknown-role", "$.messages[0].role", '["user"]'),
    (CHAT, chat("hi"), "unknown-role", "$.messages[0]", '"hi"'),
    (CHAT, chat(user(None)), "missing-field", "$.messages[0].content", "null"),
    (CHAT, chat({"role": "user"}), "missing-field", "$.messages[0].content", "nothing"),
    (CHAT, chat(HI, assistant(None), HI), "missing-field", "$.messages[1].content", "null"),
    (CHAT, chat(HI, assistant(None, tool_calls=[]), HI), "missing-field", "$.messages[1].content", "null"),
    (CHAT, chat(HI, CALL, {**RESULT, "content": None}), "missing-field", "$.messages[2].content", "null"),
    (CHAT, chat(system(None), HI), "missing-field", "$.messages[0].content", "null"),
    (CHAT, chat(user("")), "empty-text", "$.messages[0].content", '""'),
    (CHAT, chat(user([])), "empty-text", "$.messages[0].content", "[]"),
    (CHAT, chat(user([text("")])), "empty-text", "$.messages[0].content[0].text", '""'),
    (CHAT, chat(HI, {"role": "tool", "content": "42"}), "blank-call-id", "$.messages[1].tool_call_id", "no id"),
    (CHAT, chat(HI, assistant("", tool_calls=[{"function": {"name": "f"}}])), "blank-call-id", "$.messages[1].tool_calls[0].id", "no id"),
    (RESPONSES, {"input": "hi"}, "missing-field", "$.model", "nothing"),
    (RESPONSES, {"model": "m"}, "missing-field", "$.input", "nothing"),
    (RESPONSES, {"model": "m", "input": None}, "missing-field", "$.input", "null"),
    (RESPONSES, {"model": "m", "input": ""}, "empty-text", "$.input", '""'),
    (RESPONSES, responses(), "no-messages", "$.input", "[]"),
    (RESPONSES, {"model": "m", "input": {"role": "user"}}, "no-messages", "$.input", '{"role": "user"}'),
    (
        RESPONSES,
        responses({"role": "tool", "content": "42", "tool_call_id": "x"}, ITEM, OUTPUT),
        "unknown-role",
        "$.input[0].role",
        '"tool"',
    ),
    (RESPONSES, responses({"type": "message", "content": "hi"}), "unknown-role", "$.input[0].role", "nothing"),
    (RESPONSES, responses(user([text("", "input_text")])), "empty-text", "$.input[0].content[0].text", '""'),
    (RESPONSES, responses({"type": "function_call", "name": "f"}), "blank-call-id", "$.input[0].call_id", "no id"),
    (RESPONSES, responses({"type": "function_call_output"}), "blank-call-id", "$.input[0].call_id", "no id"),
    (ANTHROPIC, {"model": "m", "messages": [HI]}, "missing-field", "$.max_tokens", "nothing"),
    (ANTHROPIC, anthropic(), "no-messages", "$.messages", "[]"),
    (ANTHROPIC, anthropic(system("be brief"), HI), "unknown-role", "$.messages[0].role", '"system"'),
    (ANTHROPIC, anthropic(HI, {"role": "developer", "content": "x"}), "unknown-role", "$.messages[1].role", '"developer"'),
    (ANTHROPIC, anthropic(HI, assistant(None), HI), "missing-field", "$.messages[1].content", "null"),
    (ANTHROPIC, anthropic(HI, assistant(""), HI), "empty-text", "$.messages[1].content", '""'),
    (ANTHROPIC, anthropic(HI, assistant([]), HI), "empty-text", "$.messages[1].content", "[]"),
    (ANTHROPIC, anthropic(user("")), "empty-text", "$.messages[0].content", '""'),
    (ANTHROPIC, anthropic(user(" \n")), "empty-text", "$.messages[0].content", '" \\n"'),
    (ANTHROPIC, anthropic(user([])), "empty-text", "$.messages[0].content", "[]"),
    (ANTHROPIC, anthropic(user([text("hi"), text("\t")])), "empty-text", "$.messages[0].content[1].text", '"\\t"'),
    (ANTHROPIC, anthropic(HI, assistant([text("")])), "empty-text", "$.messages[1].content[0].text", '""'),
    (ANTHROPIC, anthropic(HI, system=""), "empty-text", "$.system", '""'),
    (ANTHROPIC, anthropic(HI, system=[text("be brief"), text("")]), "empty-text", "$.system[1].text", '""'),
    (ANTHROPIC, anthropic(HI, system=[text("\n\n")]), "empty-text", "$.system[0].text", '"\\n\\n"'),
    (ANTHROPIC, anthropic(HI, assistant([{"type": "tool_use", "name": "f"}])), "blank-call-id", "$.messages[1].content[0].id", "no id"),
    (ANTHROPIC, anthropic(user([{"type": "tool_result"}])), "blank-call-id", "$.messages[0].content[0].tool_use_id", "no id"),
]


@pytest.mark.parametrize(("dialect", "plain", "rule", "path", "got"), WRONG)
def test_what_a_provider_refuses_is_told_with_its_place(dialect: str, plain: Json, rule: str, path: str, got: str) -> None:
    """One complaint, its path and what stands there; relaxed it is none."""
    found = complaints(plain, dialect=dialect)
    assert [(each.rule, each.path, each.got) for each in found][:1] == [(rule, path, got)]
    assert {each.rule for each in found} == {rule} or rule == "unknown-role"
    assert rule not in {each.rule for each in complaints(plain, [rule], dialect=dialect)}


@pytest.mark.parametrize("plain", [plain for _, plain, rule, _, _ in WRONG if rule in ("missing-field", "no-messages", "unknown-role")])
def test_an_app_s_own_request_owes_none_of_it(plain: Json) -> None:
    """In the process nobody knows a dialect: a request may be anything."""
    assert {each.rule for each in complaints(plain)} <= {"tool-result-without-call"}


def test_every_dialect_that_is_answered_is_known() -> None:
    """What the faces answer is what is judged; another name is a mistake of ours."""
    assert set(ANSWERED) == set(DIALECTS)
    with pytest.raises(KeyError):
        complaints({}, dialect="other")


def test_a_missing_field_and_a_message_are_told_together() -> None:
    """All that is wrong, the fields first."""
    found = complaints({"messages": [{"role": "usr", "content": "hi"}]}, dialect=ANTHROPIC)
    assert [each.path for each in found] == ["$.model", "$.max_tokens", "$.messages[0].role"]
    assert found[2].expected == 'one of ["user", "assistant"]'


def test_an_sdk_is_refused_what_its_provider_refuses() -> None:
    """The same list is no message for an SDK, and fine for an app's own call."""
    record = Record()
    asked: Any = {"model": "m", "messages": []}
    with opened(record):
        with pytest.raises(Exception, match="REQUEST_PROTOCOL"):
            ScriptedModel("hello").openai().chat.completions.create(**asked)
        assert ScriptedModel("hello")(asked).text == "hello"
    assert next((each.code, each.path) for each in record.findings()) == ("REQUEST_PROTOCOL", "$.calls[0].request.messages")
    with testing():
        client = ScriptedModel("hello", relax=["no-messages"]).openai()
        assert client.chat.completions.create(**asked).choices[0].message.content == "hello"


_SHAPES = {
    "openai.chat": {"type": "function", "function": {"name": "s"}},
    "openai.responses": {"type": "function", "name": "s", "parameters": {}},
    "anthropic.messages": {"name": "s", "input_schema": {"type": "object"}},
}
_ASKED = {
    "openai.chat": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "openai.responses": {"model": "m", "input": "hi"},
    "anthropic.messages": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]},
}


@pytest.mark.parametrize("dialect", _SHAPES)
@pytest.mark.parametrize("shape", _SHAPES)
def test_a_tool_has_the_shape_of_its_dialect(dialect: str, shape: str) -> None:
    """A tool as another dialect writes it offers nothing: every provider refuses it."""
    found = complaints({**_ASKED[dialect], "tools": [_SHAPES[shape]]}, dialect=dialect)
    fits = dialect == shape
    assert ([each.rule for each in found] == []) is fits
