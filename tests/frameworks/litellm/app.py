"""An app on litellm: a loop that runs the tool which the model asks for; it takes litellm's own price list, not the newest."""

from __future__ import annotations

import json
import os
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # litellm fetches the newest while it is imported, unless this says no

import litellm  # as above

LEFT = {"A-17": 3}
TOOL = {
    "type": "function",
    "function": {
        "name": "left",
        "description": "Say how many of an article are left.",
        "parameters": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]},
    },
}


def answer(question: str, client: Any) -> str:
    messages: list[Any] = [{"role": "user", "content": question}]
    while True:
        said = litellm.completion("openai/gpt-5", messages, tools=[TOOL], client=client).choices[0].message
        if not said.tool_calls:
            return said.content
        messages += [said.model_dump(), *map(result, said.tool_calls)]


def result(call: Any) -> dict[str, str]:
    sku = json.loads(call.function.arguments)["sku"]
    return {"role": "tool", "tool_call_id": call.id, "content": str(LEFT[sku])}


async def answer_in_parts(question: str, client: Any) -> list[str]:
    messages = [{"role": "user", "content": question}]
    parts = await litellm.acompletion("openai/gpt-5", messages, client=client, stream=True)
    return [text async for part in parts if (text := part.choices[0].delta.content)]


async def answer_of_another(question: str, **settings: str) -> str:
    said = await litellm.acompletion("anthropic/claude-double", [{"role": "user", "content": question}], **settings)
    return said.choices[0].message.content
