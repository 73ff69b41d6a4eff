"""pydantic-ai without a double: the gate is shut, so this check breaks."""

from __future__ import annotations

from app import answer
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from invcheck import Calls, Trial, check


@check(expect=[Calls(0)])
def a_real_client_is_refused(trial: Trial) -> str:
    return answer("How many A-17 are there?", OpenAIChatModel("gpt-5", provider=OpenAIProvider(api_key="none")))
