"""How our doubles speak the help desk's language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checks.helpdesk.errors import BadRequest, RateLimited
from checks.helpdesk.llm import ChatModel, Completion, ToolCall, Usage
from invcheck import Reply, ScriptedModel

USAGE = {"input_tokens": 100, "output_tokens": 20}
RAISES = {"rate-limit": RateLimited, "bad-request": BadRequest, "timeout": TimeoutError, "connection": ConnectionError}


def scripted(*steps: Any, relax: Sequence[str] = ()) -> ChatModel:
    """A model that answers these, in this order; ``relax`` names rules of the protocol that its own answers make the app break."""
    return ScriptedModel(*steps, usage=USAGE, relax=relax).port(ChatModel, raises=RAISES)


def completion(reply: Reply) -> Completion:
    """What our adapter makes of such a reply: what the model declines is read as its text."""
    used = reply.usage and Usage(reply.usage.input_tokens or 0, reply.usage.output_tokens or 0)
    calls = tuple(ToolCall(call.id or "", call.name, call.arguments) for call in reply.tool_calls)
    return Completion(reply.text or reply.refusal, reply.finish, used, calls)
