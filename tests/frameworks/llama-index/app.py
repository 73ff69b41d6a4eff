"""An app on LlamaIndex: an agent with one tool, and a completion in parts."""

from __future__ import annotations

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms.function_calling import FunctionCallingLLM


def left(sku: str) -> int:
    """Say how many of an article are left."""
    return {"A-17": 3}[sku]


async def answer(question: str, llm: FunctionCallingLLM) -> str:
    agent = FunctionAgent(tools=[left], llm=llm, streaming=False)
    return str(await agent.run(question))


def answer_in_parts(question: str, llm: FunctionCallingLLM) -> list[str]:
    return [part.delta for part in llm.stream_complete(question) if part.delta]
