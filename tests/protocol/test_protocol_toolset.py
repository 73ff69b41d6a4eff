"""Names of tools that a request does not offer, in a choice as well as in a history, and a choice without tools."""

from __future__ import annotations

import pytest

from invcheck.protocol import complaints
from invcheck.vocabulary import Json

CHAT, RESPONSES, ANTHROPIC = "openai.chat", "openai.responses", "anthropic.messages"
HI: Json = {"role": "user", "content": "hi"}
ITEM: Json = {"type": "function_call", "call_id": "c1", "name": "late", "arguments": "{}"}
OUTPUT: Json = {"type": "function_call_output", "call_id": "c1", "output": "4"}
USE: Json = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "late", "input": {}}]}
USED: Json = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1"}]}
ADDED: Json = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"name": "late"}}}
FUNCTION: Json = {"type": "function", "function": {"name": "a"}}


def asked(dialect: str, choice: Json, **more: Json) -> Json:
    plain: Json = {"model": "m", "max_tokens": 8, "tool_choice": choice, **more}
    return {"input": "hi", **plain} if dialect == RESPONSES else {"messages": [HI], **plain}


@pytest.mark.parametrize(
    ("dialect", "choice"),
    [
        (CHAT, "required"),
        (CHAT, {"type": "function", "function": {"name": "a"}}),
        (CHAT, {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [FUNCTION]}}),
        (RESPONSES, "required"),
        (RESPONSES, {"type": "web_search"}),
        (RESPONSES, {"type": "allowed_tools", "mode": "required", "tools": []}),
        (ANTHROPIC, {"type": "any"}),
        (ANTHROPIC, {"type": "tool", "name": "a"}),
    ],
)
@pytest.mark.parametrize("none", [{}, {"tools": []}, {"tools": None}])
def test_a_call_that_is_wanted_of_no_tool_is_told(dialect: str, choice: Json, none: Json) -> None:
    """On the wire the request says all there is; in the process the app may know of tools without naming them."""
    found = complaints(asked(dialect, choice, **none), dialect=dialect)
    assert [(each.rule, each.path) for each in found] == [("tool-not-offered", "$.tool_choice")]
    assert complaints(asked(dialect, choice, **none)) == []


@pytest.mark.parametrize(
    ("dialect", "plain"),
    [
        (CHAT, asked(CHAT, "auto")),
        (CHAT, asked(CHAT, "none")),
        (CHAT, asked(CHAT, None, tools=[FUNCTION])),
        (CHAT, asked(CHAT, "required", tools=[FUNCTION])),
        (CHAT, asked(CHAT, "required", functions=[{"name": "a"}])),
        (CHAT, asked(CHAT, {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [FUNCTION]}}, tools=[FUNCTION])),
        (CHAT, asked(CHAT, {"type": "allowed_tools", "allowed_tools": "a"}, tools=[FUNCTION])),
        (RESPONSES, asked(RESPONSES, "auto")),
        (RESPONSES, asked(RESPONSES, "required", prompt={"id": "p"})),
        (RESPONSES, asked(RESPONSES, {"type": "web_search"}, tools=[{"type": "web_search"}])),
        (RESPONSES, asked(RESPONSES, {"type": "allowed_tools", "mode": "auto", "tools": []})),
        (
            RESPONSES,
            asked(
                RESPONSES,
                {
                    "type": "allowed_tools",
                    "mode": "auto",
                    "tools": [{"type": "mcp", "server_label": "x"}, {"type": "function", "name": "a"}],
                },
                tools=[{"type": "function", "name": "a"}, {"type": "web_search"}],
            ),
        ),
        (
            RESPONSES,
            {"model": "m", "input": [{"type": "additional_tools", "role": "developer", "tools": []}, HI], "tool_choice": "required"},
        ),
        (ANTHROPIC, asked(ANTHROPIC, {"type": "auto"})),
        (ANTHROPIC, asked(ANTHROPIC, {"type": "none"})),
        (ANTHROPIC, asked(ANTHROPIC, {"type": "any"}, mcp_servers=[{"type": "url", "url": "x", "name": "y"}])),
    ],
)
def test_a_choice_that_can_be_met_is_fine(dialect: str, plain: Json) -> None:
    """A choice that wants nothing, or whose tools stand in the request, in a stored prompt, on a server or in the history."""
    assert complaints(plain, dialect=dialect) == []


@pytest.mark.parametrize(
    ("choice", "path"),
    [
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [FUNCTION, {"type": "function", "function": {"name": "b"}}]},
            },
            "$.tool_choice.allowed_tools.tools[1]",
        ),
        ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "custom", "name": "b"}, "a"]}, "$.tool_choice.tools[0]"),
        ({"type": "tool", "name": "b"}, "$.tool_choice"),
        ({"type": "custom", "custom": {"name": "b"}}, "$.tool_choice"),
    ],
)
@pytest.mark.parametrize("dialect", [None, CHAT])
def test_a_choice_names_tools_that_are_offered(choice: Json, path: str, dialect: str | None) -> None:
    """Also within allowed_tools, in both places where OpenAI's dialects write it."""
    found = complaints(asked(CHAT, choice, tools=[FUNCTION]), dialect=dialect)
    assert [(each.rule, each.path, each.got) for each in found] == [("tool-not-offered", path, '"b"')]


@pytest.mark.parametrize(
    "plain",
    [
        {"input": [{"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "late"}]}, HI, ITEM, OUTPUT]},
        {"input": [HI, {"type": "tool_search_output", "tools": [{"type": "function", "name": "late"}]}, ITEM, OUTPUT]},
        {"messages": [HI, {"role": "system", "content": [ADDED]}, USE, USED]},
        {
            "messages": [
                HI,
                {"role": "assistant", "content": [{"type": "tool_search_tool_result", "tool_use_id": "s"}, *USE["content"]]},
                USED,
            ]
        },
    ],
)
def test_tools_that_a_history_offers_on_its_way_are_known(plain: Json) -> None:
    """Where a conversation adds tools, the list that it begins with is not all there is."""
    tools: Json = {"tools": [{"name": "a"}]}
    assert complaints({**plain, **tools}) == []
    bare = {key: [HI, *([ITEM, OUTPUT] if key == "input" else [USE, USED])] for key in plain}
    assert [each.rule for each in complaints({**bare, **tools})] == ["tool-not-offered"]
