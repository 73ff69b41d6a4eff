"""FastAPI: ``dependency_overrides`` puts a port of the double where the app's own client would be."""

from __future__ import annotations

from typing import Any

from app import Chat, Said, SlowDown, app, chat
from fastapi.testclient import TestClient

from invcheck import Calls, Equals, Fault, Reply, ScriptedModel, ToolCall, Trial, Waits, check


def get(path: str, double: ScriptedModel) -> Any:
    port = double.port(Chat, returns={"complete": said}, raises={"rate-limit": SlowDown})
    app.dependency_overrides[chat] = lambda: port
    with TestClient(app) as client:
        return client.get(path, params={"question": "How many A-17 are there?"})


def said(reply: Reply) -> Said:
    return Said(reply.text, reply.tool_calls[0].arguments["sku"] if reply.tool_calls else None)


@check(
    expect=[
        Calls(attempted=3, served=2, failed=1),
        Waits([20]),
        Equals("$.calls[2].request.messages[1]", "3 left of A-17"),
        Equals("$.output", "There are 3 left."),
    ]
)
def a_429_is_waited_for_and_the_tool_is_run(trial: Trial) -> Any:
    look_up = Reply((ToolCall("left", {"sku": "A-17"}),), finish="tool_calls")
    return get("/answer", ScriptedModel(Fault("rate-limit", retry_after=20), look_up, "There are 3 left.")).json()


@check(expect=[Calls(1), Equals("$.output", "There are 3 left.")])
def the_answer_arrives_in_parts(trial: Trial) -> Any:
    return get("/parts", ScriptedModel("There are 3 left.")).text
