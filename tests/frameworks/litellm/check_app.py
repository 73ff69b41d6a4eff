"""litellm: `completion` takes an OpenAI client, and the double gives one; what it asks by itself is led to a served double."""

from __future__ import annotations

from app import answer, answer_in_parts, answer_of_another

from invcheck import Calls, Equals, Fault, Reply, ScriptedModel, ToolCall, ToolCalled, Trial, Waits, check

LIMITED = Fault("rate-limit", retry_after=20)


@check(
    expect=[
        Calls(attempted=3, served=2, failed=1),
        Waits([20]),
        ToolCalled("left", count=1),
        Equals("$.calls[2].request.messages[2].content", "3"),
        Equals("$.output", "There are 3 left."),
    ]
)
def a_429_is_waited_for_and_the_tool_is_run(trial: Trial) -> str:
    look_up = Reply((ToolCall("left", {"sku": "A-17"}),), finish="tool_calls")
    return answer("How many A-17 are there?", ScriptedModel(LIMITED, look_up, "There are 3 left.", chunks="words").openai())


@check(expect=[Calls(attempted=2, served=1, failed=1), Waits([20]), Equals("$.output", ["There ", "are ", "3 ", "left."])])
async def the_answer_arrives_in_parts(trial: Trial) -> list[str]:
    return await answer_in_parts("How many A-17 are there?", ScriptedModel(LIMITED, "There are 3 left.", chunks="words").async_openai())


@check(expect=[Calls(1), Equals("$.output", "There are 3 left.")])
async def its_own_transport_asks_a_served_double(trial: Trial) -> str:
    with ScriptedModel("There are 3 left.").serve() as served:
        return await answer_of_another("How many A-17 are there?", api_base=served.anthropic, api_key="none")
