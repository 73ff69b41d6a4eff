"""How our doubles speak the help desk's language."""

from __future__ import annotations

from typing import Any

from checks.helpdesk.errors import BadRequest, RateLimited
from checks.helpdesk.llm import ChatModel
from invcheck import ScriptedModel

USAGE = {"input_tokens": 100, "output_tokens": 20}
RAISES = {"rate-limit": RateLimited, "bad-request": BadRequest, "timeout": TimeoutError, "connection": ConnectionError}


def scripted(*steps: Any) -> ChatModel:
    """A model that answers these, in this order."""
    return ScriptedModel(*steps, usage=USAGE).port(ChatModel, raises=RAISES)
