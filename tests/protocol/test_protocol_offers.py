"""Replies that call tools: what a request did not offer, no model can call."""

from __future__ import annotations

from typing import Any

import pytest

from invcheck import Counts, ScriptedModel, ScriptedModelError, reply, testing, tool_call
from invcheck.record import Record, opened
from invcheck.vocabulary import Verdict

SEARCH = {"type": "function", "function": {"name": "search"}}
ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize("tools", [[{"type": "function", "function": {"name": "refund"}}], [{"name": "refund"}]])
def test_a_reply_that_calls_what_was_not_offered_is_refused(tools: Any) -> None:
    """In process where the request has tools: the call is refused, and stays a finding although the app swallows it."""
    record = Record()
    with opened(record):
        model = ScriptedModel(reply(tool_calls=[tool_call("search")]))
        with pytest.raises(ScriptedModelError, match='calls "search", which the request does not offer'):
            model({**ASKED, "tools": tools})
        assert model.counts == Counts(refused=1)
    (finding,) = record.findings()
    assert (finding.code, finding.verdict, finding.path) == ("TOOL_NOT_OFFERED", Verdict.BROKEN, "$.calls[0].request.tools")


def test_an_sdk_request_without_tools_offers_none() -> None:
    """On the wire the request says all there is: an app that forgot its tools is told at once."""
    record = Record()
    with opened(record):
        client = ScriptedModel(reply(tool_calls=[tool_call("search")])).openai()
        with pytest.raises(Exception, match="TOOL_NOT_OFFERED"):
            client.chat.completions.create(**ASKED)
    assert [finding.code for finding in record.findings()] == ["TOOL_NOT_OFFERED"]


def test_what_cannot_be_told_is_no_finding() -> None:
    """An app's own request without tools, hosted tools with names of their own, an offered tool, and a relaxed rule are fine."""
    with testing():
        step = reply(tool_calls=[tool_call("search")])
        model = ScriptedModel(step, step, step)
        model(ASKED)
        model({**ASKED, "tools": [SEARCH]})
        model({**ASKED, "tools": [{"type": "mcp", "server_label": "x"}]})
        for more in ({"prompt": {"id": "pmpt_1"}}, {"mcp_servers": [{"name": "x"}]}):
            ScriptedModel(step)({**ASKED, "tools": [{"name": "other"}], **more})
        ScriptedModel(step, relax=["tool-not-offered"]).openai().chat.completions.create(**ASKED)
