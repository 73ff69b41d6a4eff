"""An app on LangChain: a loop that runs the tools which the model asks for."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.tools import tool


@tool
def left(sku: str) -> int:
    """Say how many of an article are left."""
    return {"A-17": 3}[sku]


def answer(question: str, llm: BaseChatModel) -> str:
    asking, messages = llm.bind_tools([left]), list[AnyMessage]([HumanMessage(question)])
    while True:
        said = asking.invoke(messages)
        if not said.tool_calls:
            return said.text
        messages += [said, *(left.invoke(call) for call in said.tool_calls)]


async def answer_in_parts(question: str, llm: BaseChatModel) -> list[str]:
    return [part.text async for part in llm.astream(question) if part.text]
