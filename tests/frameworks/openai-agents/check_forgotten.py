"""openai-agents without a double: the gate is shut, so this check breaks."""

from __future__ import annotations

from agents import OpenAIResponsesModel
from app import answer
from openai import AsyncOpenAI

from invcheck import Calls, Trial, check


@check(expect=[Calls(0)])
def a_real_client_is_refused(trial: Trial) -> str:
    return answer("How many A-17 are there?", OpenAIResponsesModel("gpt-5", openai_client=AsyncOpenAI(api_key="none")))
