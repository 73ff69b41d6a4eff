"""The help desk's own adapter, on the fixtures that the checks replay and on real bytes from a served double."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checks.doubles import completion as in_words_of_the_app
from checks.helpdesk.__main__ import main
from checks.helpdesk.agent import REFUND
from checks.helpdesk.errors import BadRequest, ModelError, RateLimited
from checks.helpdesk.http import over_http
from checks.helpdesk.llm import Completion, Message, ToolCall, Usage
from checks.helpdesk.provider import ChatCompletions, completion
from invcheck import Fault, Reply, ScriptedModel, Text, testing
from invcheck.faces.server import Served, Server
from invcheck.sources import fixtures, tool_call
from invcheck.sources.recording import Fixture
from invcheck.vocabulary import Refusal

FIXTURES = sorted((Path(__file__).parents[2] / "checks" / "fixtures").glob("*.jsonl"))
LINES = [each for file in FIXTURES for each in fixtures.read(file)]
HELLO = [Message("system", "Be brief."), Message("user", "hello")]


def adapter(served: Served, seconds: float = 10.0) -> ChatCompletions:
    """The adapter over the standard library's own client."""
    return ChatCompletions(over_http(f"{served.openai}/chat/completions", "key", seconds=seconds), "desk-small")


@pytest.mark.parametrize("fixture", LINES, ids=str)
def test_the_adapter_reads_what_the_double_replays(fixture: Fixture) -> None:
    """One line feeds both: the adapter reads from the provider's bytes what the double says in our words."""
    assert isinstance(fixture.outcome, Reply)
    assert completion(json.dumps(fixture.body).encode()) == in_words_of_the_app(fixture.outcome)


def test_the_fixtures_say_where_they_come_from() -> None:
    """Both files together: 7 lines, all hand-written as chat completions, until real ones are recorded."""
    assert [(each.provenance.kind, each.dialect) for each in LINES] == [("hand-written", "openai.chat")] * 7
    assert {each.label for each in LINES} == {"refund", "cut", "declined", "pays"}


REPLIES = {
    "text": (Reply((Text("hé"),), usage=None), Completion("hé")),
    "cut": (Reply((Text("bil"),), "length"), Completion("bil", "length")),
    "refusal": (Reply((Refusal("I cannot."),)), Completion("I cannot.")),
    "tool": (
        Reply((tool_call("refund", {"order": "A-17"}, id="c1"), tool_call("look_up", id="c2")), "tool_calls"),
        Completion("", "tool_calls", tool_calls=(ToolCall("c1", "refund", {"order": "A-17"}), ToolCall("c2", "look_up", {}))),
    ),
}


@pytest.mark.parametrize("name", REPLIES)
def test_the_adapter_reads_what_a_served_double_answers(name: str) -> None:
    """Over a loopback port, through the client of the standard library."""
    reply, read = REPLIES[name]
    with testing(), Server(ScriptedModel(reply, usage={"input_tokens": 7, "output_tokens": 3})) as served:
        got = adapter(served).complete(HELLO, max_tokens=9, tools=[REFUND, replace(REFUND, name="look_up")])
    assert got == Completion(read.text, read.finish, Usage(7, 3), read.tool_calls)


def test_the_adapter_sends_what_the_app_says() -> None:
    """Messages, tools, a tool's result, and no tools where there are none."""
    called = Message("assistant", "", tool_calls=(ToolCall("c1", "refund", {"order": "A-17", "amount": "25.00"}),))
    with testing(), Server(model := ScriptedModel("a", "b")) as served:
        adapter(served).complete([*HELLO, called, Message("tool", "done", tool_call_id="c1")], tools=[REFUND])
        adapter(served).complete(HELLO, max_tokens=8)
        first, second = model.requests
    assert first["model"] == "desk-small"
    assert first["tools"][0]["function"]["parameters"]["required"] == ["order", "amount"]
    assert first["messages"][2]["tool_calls"][0]["function"] == {"name": "refund", "arguments": '{"order": "A-17", "amount": "25.00"}'}
    assert first["messages"][3] == {"role": "tool", "content": "done", "tool_call_id": "c1"}
    assert (second["max_tokens"], "tools" in second) == (8, False)


@pytest.mark.parametrize(("fault", "error", "says"), [
    (Fault("rate-limit", "slow down"), RateLimited, "slow down"),
    (Fault("bad-request", "prompt too long"), BadRequest, "prompt too long"),
    (Fault("unavailable"), ConnectionError, "service unavailable"),
    (Fault("overloaded", body="<html>busy</html>"), ConnectionError, "status 529"),
])  # fmt: skip
def test_the_adapter_raises_what_the_app_knows(fault: Fault, error: type[Exception], says: str) -> None:
    """By the status; a body that is no JSON is told by its status alone."""
    with testing(), Server(ScriptedModel(fault)) as served, pytest.raises(error, match=says):
        adapter(served).complete(HELLO)


def test_a_provider_that_is_not_there_or_silent() -> None:
    """A port that nobody listens on is a ConnectionError; one that never answers a TimeoutError."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        served = Served(silent.getsockname()[1])
        with pytest.raises(TimeoutError):
            adapter(served, seconds=0.001).complete(HELLO)


BROKEN: list[Any] = [
    "no JSON", "[]", "{}", '{"choices": []}', '{"choices": [{"message": null, "finish_reason": "stop"}]}',
    '{"choices": [{"message": {"content": "a"}}]}',
    '{"choices": [{"message": {"tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "[]"}}]}, "finish_reason": "stop"}]}',
    '{"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}}',
]  # fmt: skip


@pytest.mark.parametrize("body", BROKEN, ids=range(len(BROKEN)))
def test_what_cannot_be_read_is_a_model_error(body: str) -> None:
    """Whatever is wrong with the provider's JSON, the app knows one error for it, which it does not retry."""
    with pytest.raises(ModelError, match="cannot be read"):
        completion(body.encode())


def test_usage_may_be_absent() -> None:
    """Some providers do not say."""
    body = b'{"choices": [{"message": {"content": "a"}, "finish_reason": null}]}'
    assert completion(body) == Completion("a", None)


def test_the_help_desk_answers_from_a_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own command, over its own adapter, with its own quota and ledger."""
    answer = '{"answer": "Within 30 days.", "cites": ["d1"]}'
    with testing(), Server(ScriptedModel(answer)) as served:
        monkeypatch.setenv("HELPDESK_URL", f"{served.openai}/chat/completions")
        monkeypatch.setenv("HELPDESK_KEY", "key")
        assert main(tmp_path, "How do I get a refund?") == answer
    assert {path.name for path in tmp_path.iterdir()} == {"quota.sqlite", "usage.sqlite"}
