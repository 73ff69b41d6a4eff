"""An app on pydantic-ai: an agent with one tool."""

from __future__ import annotations

from pydantic_ai import Agent
from pydantic_ai.models import Model

agent = Agent(instructions="Answer from the stock list.")


@agent.tool_plain
def left(sku: str) -> int:
    """Say how many of an article are left."""
    return {"A-17": 3}[sku]


def answer(question: str, model: Model) -> str:
    return agent.run_sync(question, model=model).output


async def answer_in_parts(question: str, model: Model) -> list[str]:
    async with agent.run_stream(question, model=model) as run:
        return [part async for part in run.stream_text(delta=True, debounce_by=None)]
