"""An agent with one tool: it settles a complaint, and may pay a refund for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from checks.helpdesk.client import Client
from checks.helpdesk.llm import ChatModel, Completion, Message, Tool, ToolCall
from checks.helpdesk.prompts import render
from checks.helpdesk.usage import Ledger

REFUND = Tool(
    name="refund",
    description="Pay the money of an order back.",
    parameters={
        "type": "object",
        "properties": {"order": {"type": "string"}, "amount": {"type": "string", "pattern": "^[0-9]+[.][0-9]{2}$"}},
        "required": ["order", "amount"],
        "additionalProperties": False,
    },
)
MOST_TURNS = 4
GAVE_UP = "A colleague will settle this with you."

_AMOUNT = re.compile("[0-9]+[.][0-9]{2}")


def settle(complaint: str, model: ChatModel, ledger: Ledger, refund: Callable[..., object]) -> str:
    """Give what the customer is told; ``refund(order=..., amount=...)`` is called for every valid call of the tool."""
    client = Client(model, ledger)
    messages = [Message("system", render("agent")), Message("user", complaint)]
    for _ in range(MOST_TURNS):
        reply = client.ask("agent", messages, tools=[REFUND], accept=_is_usable)
        if not reply.tool_calls:
            return reply.text
        messages.append(Message("assistant", reply.text, tool_calls=reply.tool_calls))
        messages += [Message("tool", _result(call, refund), tool_call_id=call.id) for call in reply.tool_calls]
    return GAVE_UP


def _is_usable(reply: Completion) -> bool:
    return bool(reply.tool_calls) or reply.finish != "length"


def _result(call: ToolCall, refund: Callable[..., object]) -> str:
    if call.name != REFUND.name:
        return f"there is no tool {call.name}"
    if not _valid(call.arguments):
        return 'refund needs an order and an amount such as "25.00", and nothing else'
    refund(**call.arguments)
    return "done"


def _valid(arguments: Mapping[str, Any]) -> bool:
    return (
        arguments.keys() == {"order", "amount"}
        and isinstance(arguments["order"], str)
        and isinstance(arguments["amount"], str)
        and _AMOUNT.fullmatch(arguments["amount"]) is not None
    )
