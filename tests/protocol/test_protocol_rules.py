"""What breaks the protocol of a request, in each dialect, and what does not although it looks so."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck import ScriptedModel, testing
from invcheck.errors import DoubleError, ScriptedModelError
from invcheck.protocol import RULES, complaints, refusal, relaxed_rules, tools_of
from invcheck.record import Record, opened
from invcheck.vocabulary import Counts, Json

Turn = tuple[str, Sequence[str], Sequence[str]]
"""What the user says, the ids of the calls that follow, and those of the results in their order."""

HI = {"role": "user", "content": "hi"}
BYE = {"role": "user", "content": "bye"}


def chat(turns: Sequence[Turn]) -> Json:
    """OpenAI chat completions."""
    messages: list[Json] = [{"role": "system", "content": "be brief"}]
    for said, calls, results in turns:
        messages.append({"role": "user", "content": said})
        if calls:
            made = [{"id": each, "type": "function", "function": {"name": "search", "arguments": "{}"}} for each in calls]
            messages.append({"role": "assistant", "content": None, "tool_calls": made})
        messages += [{"role": "tool", "tool_call_id": each, "content": ""} for each in results]
    return {"model": "m", "messages": messages, "tools": [{"type": "function", "function": {"name": "search"}}]}


def responses(turns: Sequence[Turn]) -> Json:
    """OpenAI responses."""
    items: list[Json] = []
    for said, calls, results in turns:
        items.append({"type": "message", "role": "user", "content": [{"type": "input_text", "text": said}]})
        items += [{"type": "function_call", "call_id": each, "name": "search", "arguments": "{}"} for each in calls]
        items += [{"type": "function_call_output", "call_id": each, "output": ""} for each in results]
    return {"model": "m", "input": items, "tools": [{"type": "function", "name": "search"}, {"type": "web_search"}]}


def blocks(turns: Sequence[Turn]) -> Json:
    """Anthropic messages; the results and what the user says next share one message."""
    messages: list[Json] = []
    for said, calls, results in turns:
        last = messages[-1] if messages and messages[-1]["role"] == "user" else {"role": "user", "content": []}
        if not messages or messages[-1] is not last:
            messages.append(last)
        last["content"].append({"type": "text", "text": said})
        if calls:
            made: list[Json] = [{"type": "tool_use", "id": each, "name": "search", "input": {}} for each in calls]
            messages.append({"role": "assistant", "content": [{"type": "thinking", "thinking": ""}, *made]})
        if results:
            messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": each, "content": ""} for each in results]})
    return {"model": "m", "max_tokens": 8, "messages": messages, "tools": [{"name": "search"}]}


def own(turns: Sequence[Turn]) -> Json:
    """An app's own list under a name of its own, with flat calls, as one positional argument."""
    messages: list[Json] = []
    for said, calls, results in turns:
        messages.append({"role": "user", "content": said})
        if calls:
            messages.append({"role": "assistant", "tool_calls": [{"id": each, "name": "search", "arguments": {}} for each in calls]})
        messages += [{"role": "tool", "tool_call_id": each, "content": "42"} for each in results]
    return {"args": [messages, {"temperature": 0}]}


DIALECTS = [chat, responses, blocks, own]
Dialect = Callable[[Sequence[Turn]], Json]


def rules(plain: Json, *relaxed: str) -> list[str]:
    """The rules that a request breaks."""
    return [each.rule for each in complaints(plain, relaxed)]


@st.composite
def conversations(draw: st.DrawFn) -> list[tuple[str, list[str], list[str]]]:
    """Whole conversations: every call answered, parallel ones in any order."""
    turns, n = [], 0
    for _ in range(draw(st.integers(1, 4))):
        count = draw(st.integers(0, 3))
        ids = [f"c{n + place}" for place in range(count)]
        n += count
        turns.append((draw(st.text(min_size=1)), ids, list(draw(st.permutations(ids)))))
    return turns


@pytest.mark.parametrize("dialect", DIALECTS)
@given(conversations())
def test_a_whole_conversation_is_never_complained_about(dialect: Dialect, turns: list[Turn]) -> None:
    """Parallel calls, results in any order, null content, silent tools: whatever pairs is fine."""
    assert complaints(dialect(turns)) == []


@pytest.mark.parametrize("dialect", DIALECTS)
@given(conversations(), st.data())
def test_a_missing_result_is_told_and_nothing_else(dialect: Dialect, turns: list[tuple[str, list[str], list[str]]], data: Any) -> None:
    """Take any one result away: the call is unanswered, at the end of the history as well as within it."""
    every = [(turn, each) for turn in turns for each in turn[2]]
    if every:
        turn, gone = data.draw(st.sampled_from(every))
        turn[2].remove(gone)
        found = complaints(dialect(turns))
        assert [each.rule for each in found] == ["unanswered-call"]
        assert len(complaints(dialect(turns), ["unanswered-call"])) == 0


@pytest.mark.parametrize("dialect", DIALECTS)
@given(conversations(), st.data())
def test_a_missing_call_is_told_and_nothing_else(dialect: Dialect, turns: list[tuple[str, list[str], list[str]]], data: Any) -> None:
    """Take any one call away: its result answers none."""
    every = [(turn, each) for turn in turns for each in turn[1]]
    if every:
        turn, gone = data.draw(st.sampled_from(every))
        turn[1].remove(gone)
        assert rules(dialect(turns)) == ["tool-result-without-call"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("again", "left"), [(["c1"], []), (["c1", "c1"], []), ([], ["unanswered-call"])])
def test_an_id_that_two_calls_share_is_told_once(dialect: Dialect, again: list[str], left: list[str]) -> None:
    """Over the whole history; that its results cannot be told apart is no second complaint, that one has none is."""
    turns: list[Turn] = [("a", ["c1"], ["c1"]), ("b", ["c1"], again)]
    assert rules(dialect(turns)) == ["duplicate-call-id", *left]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_id_is_told_for_call_and_result(dialect: Dialect, blank: str) -> None:
    """That nothing pairs then follows from it, and is not told as well."""
    assert rules(dialect([("a", [blank], ["c1"])])) == ["blank-call-id"]
    assert rules(dialect([("a", ["c1"], [blank])])) == ["blank-call-id"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_second_result_for_one_call_is_told(dialect: Dialect) -> None:
    """A call has one result."""
    found = complaints(dialect([("a", ["c1", "c2"], ["c1", "c2", "c1"])]))
    assert [each.rule for each in found] == ["tool-result-without-call"]
    assert "again" in found[0].message
    assert found[0].expected == "one result for each call"


@pytest.mark.parametrize("dialect", [chat, responses, blocks])
def test_a_tool_that_is_not_offered_is_told(dialect: Dialect) -> None:
    """Where the request says which tools there are; tools that earlier requests offered are known."""
    request = dialect([("a", ["c1"], ["c1"])])
    request["tools"] = [{"name": "refund"}]
    found = complaints(request)
    assert [each.rule for each in found] == ["tool-not-offered"]
    assert (found[0].got, "refund" in found[0].expected) == ('"search"', True)
    assert complaints(request, offered={"search"}) == []
    assert complaints(request, ["tool-not-offered"]) == []
    del request["tools"]
    assert complaints(request) == []


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"prompt": "hi"},
        {"prompt": "", "tools": [{"name": "x"}], "tool_choice": "auto"},
        {"messages": []},
        {"messages": "hi"},
        {"messages": ["hi", {"role": "user", "content": "x"}, None]},
        {"messages": [{"role": "user"}, {"role": "assistant", "content": "y"}]},
        {"input": "hi"},
        {"rows": [{"id": "", "type": "call"}, {"role": "admin", "content": ""}]},
        {"rows": [{"role": ["user"], "type": {"a": 1}, "content": {"b": 2}}, {"role": {}, "content": [1, "x", {"type": []}]}]},
        {"args": [1, "x", [1], {"rows": [1]}]},
        {"data": {"rows": [{"x": 1}], "text": "y"}},
        {"content": [{"type": "text", "text": ""}]},
    ],
)
def test_what_is_no_chat_is_never_complained_about(plain: Json) -> None:
    """Requests of any shape pass, whatever stands in them."""
    assert complaints(plain) == []


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["role", "content", "type", "id", "tool_calls", "function_call", "call_id", "name", "x"]), inner
            )
        ),
        max_leaves=12,
    )
)
def test_reading_a_request_never_raises(value: Json) -> None:
    """Anything may stand anywhere, also what cannot be hashed."""
    for plain in (
        {"messages": [{"role": "assistant", "content": value, "tool_calls": value, "function_call": value}, value]},
        {"input": [{"type": "function_call", "call_id": value, "name": value}, {"type": value, "role": value}]},
        {"messages": [{"role": "tool", "tool_call_id": value, "content": [value], "name": value}], "tools": value, "tool_choice": value},
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": value}]}], "tools": [value]},
    ):
        assert all(each.rule in RULES for each in complaints(plain))


CALL = {"role": "assistant", "content": "let me see", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "search"}}]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "42"}
USE = {"role": "assistant", "content": [{"type": "text", "text": "hm"}, {"type": "tool_use", "id": "c1", "name": "search", "input": {}}]}
USED = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1"}, {"type": "text", "text": "and now?"}]}
ITEM = {"type": "function_call", "call_id": "c1", "name": "search", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "42"}


@pytest.mark.parametrize(
    "plain",
    [
        {"input": [OUTPUT], "previous_response_id": "resp_1"},
        {"input": [OUTPUT], "conversation": "conv_1"},
        {"input": [{"type": "item_reference", "id": "fc_1"}, OUTPUT]},
        {"input": [ITEM, {"type": "message", "role": "assistant", "content": "I look it up"}, OUTPUT]},
        {
            "input": [{"type": "web_search_call", "id": "ws_1"}, {"type": "mcp_call", "id": "m", "name": "x"}, HI],
            "tools": [{"type": "mcp"}],
        },
        {"input": [{"type": "custom_tool_call", "call_id": "c1", "name": "code"}, {"type": "custom_tool_call_output", "call_id": "c1"}]},
        {
            "messages": [
                HI,
                {
                    "role": "assistant",
                    "content": [
                        {"type": "server_tool_use", "id": "s1", "name": "web_search"},
                        {"type": "web_search_tool_result", "tool_use_id": "s1"},
                    ],
                },
            ]
        },
        {"messages": [HI, USE, {"role": "assistant", "content": "wait"}, USED]},
        {
            "messages": [
                HI,
                {**USE, "content": [*USE["content"], {"type": "tool_use", "id": "c2", "name": "search"}]},
                USED,
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c2"}]},
            ]
        },
        {"messages": [HI, {"role": "assistant", "content": "{"}]},
        {"messages": [HI, {"role": "assistant", "content": ""}]},
        {"messages": [HI, {"role": "assistant", "content": "", "refusal": "no"}, HI]},
        {"messages": [HI, {"role": "assistant", "content": None, "tool_calls": None}, HI]},
        {"messages": [HI, {"role": "assistant", "content": None, "tool_calls": [{"type": "code_interpreter", "id": "x"}, "x"]}, HI]},
        {
            "messages": [
                HI,
                {"role": "assistant", "content": "", "function_call": {"name": "f"}},
                {"role": "function", "name": "f", "content": ""},
            ]
        },
        {"messages": [HI, {"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}, {"role": "tool", "content": "4"}, HI]},
        {"messages": [HI, {"role": "assistant", "content": "Action: f"}, {"role": "tool", "content": [{"type": "text", "text": ""}]}]},
        {"messages": [HI, {"role": "assistant", "tool_calls": [{"id": 7, "name": "f"}]}, {"role": "tool", "tool_call_id": 7}]},
        {
            "messages": [
                HI,
                {"role": "assistant", "tool_calls": [{"id": "c1", "name": "f"}]},
                {"role": "tool", "content": [USED["content"][0]]},
            ]
        },
        {"messages": [HI, CALL, {"role": "function", "tool_call_id": "c1", "name": "search", "content": "4"}]},
        {"messages": [HI], "examples": [HI, CALL]},
        {"earlier": [HI, CALL], "later": [RESULT, HI]},
        {"messages": [HI, CALL, RESULT], "tools": [{"type": "something_new"}]},
        {"messages": [HI, CALL, RESULT], "tools": [7]},
        {"messages": [HI, CALL, RESULT], "tools": []},
        {"messages": [HI, CALL, RESULT], "tools": {"search": {}}},
        {"messages": [HI, CALL, RESULT], "tools": ["search"], "tool_choice": {"type": "function", "function": {"name": "search"}}},
        {"messages": [HI, CALL, RESULT], "functions": [{"name": "search"}], "tool_choice": "required"},
        {"messages": [HI], "tools": [{"name": "a"}], "tool_choice": {"type": "allowed_tools", "name": "x"}},
        {"messages": [HI], "tool_choice": {"type": "function", "function": {"name": "x"}}},
        {"messages": [HI], "tools": [{"name": "a"}], "tool_choice": {"type": "function", "function": None}},
        {"input": [ITEM, OUTPUT], "tools": [{"type": "namespace", "name": "shop", "tools": [{"type": "function", "name": "search"}]}]},
        {"input": [ITEM, OUTPUT], "tools": [{"type": "namespace", "name": "shop", "tools": [{"type": "tool_search"}]}]},
        {"input": [{**ITEM, "namespace": "shop"}, OUTPUT], "tools": [{"name": "x"}]},
        {
            "messages": [HI, {"role": "assistant", "content": [{**USE["content"][1], "toolset_name": "computer"}]}, USED],
            "tools": [{"name": "x"}],
        },
        {"messages": [{"text": "hi"}, {"role": "user", "content": [{"text": "hi"}, {"image": "x", "text": ""}]}]},
    ],
)
def test_what_only_looks_wrong_is_fine(plain: Json) -> None:
    """Calls that the provider runs or keeps, prefill, dialects without ids, parts of histories, tools that cannot be told."""
    assert complaints(plain) == []


@pytest.mark.parametrize(
    ("plain", "rule", "path", "got"),
    [
        ({"messages": [HI, CALL, HI]}, "unanswered-call", "$.messages[1].tool_calls[0].id", "user at $.messages[2]"),
        (
            {"messages": [HI, CALL, HI, RESULT]},
            "unanswered-call",
            "$.messages[1].tool_calls[0].id",
            "its result only at $.messages[3].tool_call_id",
        ),
        ({"messages": [HI, CALL, {"x": 1}]}, "unanswered-call", "$.messages[1].tool_calls[0].id", "something at $.messages[2]"),
        ({"messages": [HI, CALL]}, "unanswered-call", "$.messages[1].tool_calls[0].id", "the history ends without it"),
        (
            {"messages": [HI, CALL, {"role": "system", "content": "x"}, RESULT]},
            "unanswered-call",
            "$.messages[1].tool_calls[0].id",
            "its result only at $.messages[3].tool_call_id",
        ),
        ({"messages": [HI, USE, BYE]}, "unanswered-call", "$.messages[1].content[1].id", "the history ends without it"),
        (
            {"messages": [HI, USE, BYE, {"role": "assistant", "content": "x"}, USED]},
            "unanswered-call",
            "$.messages[1].content[1].id",
            "its result only at $.messages[4].content[0].tool_use_id",
        ),
        ({"input": [ITEM, HI]}, "unanswered-call", "$.input[0].call_id", "the history ends without it"),
        (
            {"input": [OUTPUT, ITEM]},
            "tool-result-without-call",
            "$.input[0].call_id",
            "the call comes behind its result, at $.input[1].call_id",
        ),
        ({"messages": [HI, RESULT]}, "tool-result-without-call", "$.messages[1].tool_call_id", "no call"),
        (
            {"messages": [HI, CALL, RESULT, {**RESULT, "tool_call_id": "c9"}]},
            "tool-result-without-call",
            "$.messages[3].tool_call_id",
            'only calls with the ids ["c1"]',
        ),
        ({"messages": [USED]}, "tool-result-without-call", "$.messages[0].content[0].tool_use_id", "no call"),
        (
            {"messages": [HI, {"role": "assistant", "function_call": {"name": "f"}}, HI]},
            "unanswered-call",
            "$.messages[1].function_call.name",
            "user at $.messages[2]",
        ),
        ({"messages": [HI, {"role": "function", "content": "4"}]}, "tool-result-without-call", "$.messages[1].name", "none"),
        ({"messages": [HI, {"role": "function", "name": "f", "content": "4"}]}, "tool-result-without-call", "$.messages[1].name", "none"),
        ({"messages": [HI, CALL, {"role": "tool", "content": "42"}]}, "blank-call-id", "$.messages[2].tool_call_id", "no id"),
        ({"messages": [HI, {"role": "assistant", "content": ""}, BYE]}, "empty-text", "$.messages[1].content", '""'),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}, "empty-text", "$.messages[0].content[0].text", '""'),
        ({"messages": [HI, {"role": "assistant", "content": [{"text": ""}]}, BYE]}, "empty-text", "$.messages[1].content[0].text", '""'),
        (
            {"input": [{"role": "assistant", "content": [{"type": "output_text", "text": ""}]}, HI]},
            "empty-text",
            "$.input[0].content[0].text",
            '""',
        ),
        ({"request": {"messages": [HI, CALL]}}, "unanswered-call", "$.request.messages[1].tool_calls[0].id", "the history ends without it"),
        ({"my history": [HI, CALL]}, "unanswered-call", "$['my history'][1].tool_calls[0].id", "the history ends without it"),
        ({"args": [{"messages": [HI, CALL]}]}, "unanswered-call", "$.args[0].messages[1].tool_calls[0].id", "the history ends without it"),
        (
            {"messages": [HI], "tools": [{"name": "a"}], "tool_choice": {"type": "tool", "name": "b"}},
            "tool-not-offered",
            "$.tool_choice",
            '"b"',
        ),
        (
            {
                "messages": [HI],
                "functions": [{"name": "a"}],
                "tools": [{"type": "function", "function": {"name": "c"}}],
                "tool_choice": {"type": "function", "function": {"name": "b"}},
            },
            "tool-not-offered",
            "$.tool_choice",
            '"b"',
        ),
        ({"messages": [HI, CALL, {**RESULT, "name": "other"}], "tools": ["search"]}, "tool-not-offered", "$.messages[2]", '"other"'),
        (
            {"messages": [HI, {**CALL, "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "x"}}]}, RESULT], "tools": ["y"]},
            "tool-not-offered",
            "$.messages[1].tool_calls[0]",
            '"x"',
        ),
    ],
)
def test_each_breach_is_told_with_its_place(plain: Json, rule: str, path: str, got: str) -> None:
    """One complaint: the rule, the path into the request, and what stands there."""
    found = complaints(plain)
    assert [(each.rule, each.path, each.got) for each in found] == [(rule, path, got)]
    assert complaints(plain, [rule]) == []
    assert complaints(plain, [each for each in RULES if each != rule]) == found


def test_calls_without_ids_pair_by_name_and_place() -> None:
    """The dialect from before ids: a result right behind its call, of the same function, once."""
    call, result = {"role": "assistant", "function_call": {"name": "f"}}, {"role": "function", "name": "f", "content": "4"}
    assert rules({"messages": [HI, call, {**result, "name": "g"}]}) == ["unanswered-call", "tool-result-without-call"]
    assert rules({"messages": [HI, call, result, result]}) == ["tool-result-without-call"]
    assert rules({"messages": [HI, call, call, result]}) == ["unanswered-call"]
    assert rules({"messages": [HI, call, result, call, result]}) == []


UNNAMED = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f"}}]}
FOUND = {"role": "tool", "content": "42"}


@pytest.mark.parametrize(
    ("messages", "rule", "at"),
    [
        ([HI, FOUND], "tool-result-without-call", "$.messages[1].tool_call_id"),
        ([FOUND], "tool-result-without-call", "$.messages[0].tool_call_id"),
        ([HI, {"role": "assistant", "content": "hello"}, HI, FOUND], "tool-result-without-call", "$.messages[3].tool_call_id"),
        ([HI, FOUND, UNNAMED, FOUND], "tool-result-without-call", "$.messages[1].tool_call_id"),
        ([HI, UNNAMED], "unanswered-call", "$.messages[1].tool_calls[0].id"),
        ([HI, UNNAMED, FOUND, UNNAMED], "unanswered-call", "$.messages[3].tool_calls[0].id"),
        ([HI, {"role": "assistant", "content": [{"type": "tool_use", "name": "f"}]}, HI], "blank-call-id", "$.messages[1].content[0].id"),
        ([{"role": "user", "content": [{"type": "tool_result"}]}], "blank-call-id", "$.messages[0].content[0].tool_use_id"),
        ([HI, {"type": "function_call", "name": "f"}], "blank-call-id", "$.messages[1].call_id"),
    ],
)
def test_what_no_id_is_needed_to_see_is_told(messages: Json, rule: str, at: str) -> None:
    """A result that nobody asked for, a call that ends the history, and blocks whose dialect always has ids."""
    assert [(each.rule, each.path) for each in complaints({"messages": messages})] == [(rule, at)]


@pytest.mark.parametrize(
    "messages",
    [
        [HI, UNNAMED, FOUND],
        [HI, UNNAMED, FOUND, FOUND, {"role": "assistant", "content": "42"}, HI],
        [HI, UNNAMED, {"role": "user", "content": "Observation: 42"}],
        [HI, {"role": "assistant", "content": "<call>f()</call>"}, FOUND, FOUND],
        [HI, {"role": "model", "parts": ["f()"]}, FOUND],
        [HI, {"role": "ai", "content": "f()"}, HI, FOUND],
    ],
)
def test_an_app_s_own_dialect_pairs_by_order_or_in_its_texts(messages: Json) -> None:
    """Without ids, a call that any assistant before the result may have made is enough."""
    assert complaints({"messages": messages}) == []


def test_a_complaint_names_call_and_tool() -> None:
    """The message alone says what is wrong, in words."""
    found = complaints({"messages": [HI, CALL, {**RESULT, "name": "other"}], "tools": ["x"]})
    assert [each.message for each in found] == [
        "the call of search at $.messages[1].tool_calls[0].id names a tool that is not offered",
        "the result of other at $.messages[2].tool_call_id names a tool that is not offered",
    ]
    assert complaints({"messages": [HI, CALL]})[0].message == "the call of search at $.messages[1].tool_calls[0] is left without its result"
    nameless = {"role": "assistant", "tool_calls": [{"id": "c1"}]}
    assert complaints({"messages": [HI, nameless]})[0].message == "the call at $.messages[1].tool_calls[0] is left without its result"


def test_only_names_of_rules_can_be_relaxed() -> None:
    """A typo is refused, with what there is; one name may stand alone."""
    assert relaxed_rules("empty-text") == {"empty-text"}
    assert relaxed_rules(RULES) == set(RULES)
    with pytest.raises(DoubleError, match="no rule 'empty-texts'") as caught:
        relaxed_rules(["empty-texts"])
    assert "blank-call-id, duplicate-call-id" in str(caught.value)


def test_tools_are_told_by_every_dialect_and_only_where_all_can_be() -> None:
    """None where none are offered, and where one of them may go by any name."""
    assert tools_of({"tools": [{"function": {"name": "a"}}, {"name": "b"}, {"type": "custom", "custom": {"name": "c"}}, "d"]}) == set(
        "abcd"
    )
    assert tools_of({"tools": [{"type": "web_search_preview"}, {"type": "mcp"}]}) is None
    assert tools_of({"tools": [{"type": "tool_search"}, {"name": "a"}]}) is None
    assert tools_of({}) is None


def test_a_namespace_offers_what_it_holds() -> None:
    """By the names of its tools, where all of them can be told; no other tool is looked into."""
    inner = [{"type": "function", "name": "a"}]
    assert tools_of({"tools": [{"type": "namespace", "name": "shop", "tools": inner}]}) == {"a"}
    assert tools_of({"tools": [{"type": "namespace", "name": "shop", "tools": [*inner, {"type": "tool_search"}]}]}) is None
    assert tools_of({"tools": [{"type": "namespace", "name": "shop", "tools": None}]}) == {"shop"}
    assert tools_of({"tools": [{"type": "bundle", "name": "shop", "tools": inner}]}) == {"shop"}


def test_a_refusal_tells_the_first_complaint_and_counts_the_rest() -> None:
    """Rule, path into the observation, expected and got are fields; it pickles."""
    found = complaints({"messages": [HI, CALL, {"role": "tool", "tool_call_id": "c9", "content": "4"}, BYE]})
    assert [each.rule for each in found] == ["tool-result-without-call", "unanswered-call"]
    error = pickle.loads(pickle.dumps(refusal(found, n=4, call="call 2", lane="a")))
    assert error.code == "REQUEST_PROTOCOL"
    assert error.message.startswith("call 2 breaks the protocol of requests: the result at $.messages[2].tool_call_id answers no call")
    assert error.message.endswith("(and 1 more)")
    assert error.fields["rule"] == "tool-result-without-call"
    assert error.fields["at"] == "$.calls[4].request.messages[2].tool_call_id"
    assert (error.fields["path"], error.fields["lane"]) == ("$.messages[2].tool_call_id", "a")
    assert "more" not in refusal(found[:1], n=0, call="call 1").message


def test_a_double_refuses_such_a_request_and_keeps_its_step() -> None:
    """By default, without taking a step; an except in the app hides nothing, and a rule can be relaxed."""
    record = Record()
    with opened(record):
        model = ScriptedModel("hello")
        with pytest.raises(ScriptedModelError) as caught:
            model({"messages": [HI, RESULT]})
        assert caught.value.code == "REQUEST_PROTOCOL"
        assert (model.pending, model.counts) == (1, Counts(refused=1))
        assert model({"messages": [HI]}).text == "hello"
    assert [(each.code, each.path) for each in record.findings()] == [("REQUEST_PROTOCOL", "$.calls[0].request.messages[1].tool_call_id")]
    with testing():
        assert ScriptedModel("hello", relax=["tool-result-without-call"])({"messages": [HI, RESULT]}).text == "hello"


def test_a_handoff_between_agents_of_one_double_is_fine() -> None:
    """The second agent's history names a tool that only the first one's requests offered."""
    with testing():
        model = ScriptedModel("to refunds", "done", "no")
        model({"messages": [HI], "tools": ["search"]})
        model({"messages": [HI, CALL, RESULT], "tools": ["refund"]})
        assert model.counts == Counts(served=2)
        other = ScriptedModel("x", relax=["tool-not-offered"])
        other({"messages": [HI, CALL, RESULT], "tools": ["refund"]})
        model("bye")
