"""An app on openai-agents: an agent with one tool; tracing, which would phone home, is off."""

from __future__ import annotations

from agents import Agent, Model, Runner, function_tool, set_tracing_disabled

set_tracing_disabled(True)


@function_tool
def left(sku: str) -> int:
    """Say how many of an article are left."""
    return {"A-17": 3}[sku]


def answer(question: str, model: Model) -> str:
    return Runner.run_sync(Agent(name="Stock", tools=[left], model=model), question).final_output


async def answer_in_parts(question: str, model: Model) -> list[str]:
    run = Runner.run_streamed(Agent(name="Stock", tools=[left], model=model), question)
    raw = [event.data async for event in run.stream_events() if event.type == "raw_response_event"]
    return [event.delta for event in raw if event.type == "response.output_text.delta"]
