"""pydantic-ai: the provider of its OpenAI model takes a client, and the double gives one."""

from __future__ import annotations

from app import answer, answer_in_parts
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from invcheck import Calls, Equals, Fault, Reply, ScriptedModel, ToolCall, ToolCalled, Trial, Waits, check

LIMITED = Fault("rate-limit", retry_after=20)
LOOK_UP = Reply((ToolCall("left", {"sku": "A-17"}),), finish="tool_calls")
EXPECT = (
    Calls(attempted=3, served=2, failed=1),
    Waits([20]),
    ToolCalled("left", count=1),
    Equals("$.calls[2].request.messages[3].content", "3"),
)


def asked(double: ScriptedModel) -> OpenAIChatModel:
    return OpenAIChatModel("gpt-5", provider=OpenAIProvider(openai_client=double.async_openai()))


@check(expect=[*EXPECT, Equals("$.output", "There are 3 left.")])
def a_429_is_waited_for_and_the_tool_is_run(trial: Trial) -> str:
    double = ScriptedModel(LIMITED, LOOK_UP, "There are 3 left.", chunks="words")
    return answer("How many A-17 are there?", asked(double))


@check(expect=[*EXPECT, Equals("$.output", ["There ", "are ", "3 ", "left."])])
async def the_answer_arrives_in_parts(trial: Trial) -> list[str]:
    double = ScriptedModel(LIMITED, LOOK_UP, "There are 3 left.", chunks="words")
    return await answer_in_parts("How many A-17 are there?", asked(double))
