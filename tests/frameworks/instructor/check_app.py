"""instructor: `from_openai` wraps a client, and the double gives one; an answer that does not fit is asked for again."""

from __future__ import annotations

from typing import Any

from app import extract, extract_in_parts
from instructor import from_openai

from invcheck import Calls, Contains, Equals, Fault, Reply, ScriptedModel, ToolCall, Trial, Waits, check

LIMITED = Fault("rate-limit", retry_after=20)


def stock(left: object, tool: str = "Stock") -> Reply:
    return Reply((ToolCall(tool, {"sku": "A-17", "left": left}),), finish="tool_calls")


@check(
    expect=[
        Calls(attempted=3, served=2, failed=1),
        Waits([20, 0]),  # what the 429 asks for; instructor itself asks again after no pause
        Contains("$.calls[2].request.messages[2].content", any=["should be a valid integer"]),
        Equals("$.output", {"sku": "A-17", "left": 3}),
    ]
)
def a_429_is_waited_for_and_a_wrong_answer_is_told(trial: Trial) -> dict[str, Any]:
    double = ScriptedModel(LIMITED, stock("many"), stock(3))
    return extract("We have three of A-17.", from_openai(double.openai())).model_dump()


@check(expect=[Calls(attempted=2, served=1, failed=1), Waits([20]), Equals("$.output[-1]", {"sku": "A-17", "left": 3})])
async def the_answer_arrives_in_parts(trial: Trial) -> list[dict[str, Any]]:
    double = ScriptedModel(LIMITED, stock(3, tool="PartialStock"))  # the name that instructor offers for parts
    parts = await extract_in_parts("We have three of A-17.", from_openai(double.async_openai()))
    return [part.model_dump() for part in parts]
