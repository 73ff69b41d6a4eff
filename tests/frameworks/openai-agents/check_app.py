"""openai-agents: both its OpenAI models take a client, and the double gives one."""

from __future__ import annotations

from agents import OpenAIChatCompletionsModel, OpenAIResponsesModel
from app import answer, answer_in_parts

from invcheck import Calls, Contains, Equals, Fault, Reply, ScriptedModel, ToolCall, ToolCalled, Trial, Waits, check

LIMITED = Fault("rate-limit", retry_after=20)
LOOK_UP = Reply((ToolCall("left", {"sku": "A-17"}),), finish="tool_calls")
EXPECT = (Calls(attempted=3, served=2, failed=1), Waits([20]), ToolCalled("left", count=1))


@check(expect=[*EXPECT, Contains("$.calls[2].request.input[*].output", all=["3"]), Equals("$.output", "There are 3 left.")])
def a_429_is_waited_for_and_the_tool_is_run(trial: Trial) -> str:
    double = ScriptedModel(LIMITED, LOOK_UP, "There are 3 left.", chunks="words")
    return answer("How many A-17 are there?", OpenAIResponsesModel("gpt-5", openai_client=double.async_openai()))


@check(expect=[*EXPECT, Equals("$.calls[2].request.messages[2].content", "3"), Equals("$.output", ["There ", "are ", "3 ", "left."])])
async def the_answer_arrives_in_parts(trial: Trial) -> list[str]:
    double = ScriptedModel(LIMITED, LOOK_UP, "There are 3 left.", chunks="words")
    return await answer_in_parts("How many A-17 are there?", OpenAIChatCompletionsModel("gpt-5", openai_client=double.async_openai()))
