"""LlamaIndex without a double: the gate is shut, so this check breaks."""

from __future__ import annotations

from app import answer_in_parts
from llama_index.llms.openai import OpenAI

from invcheck import Calls, Trial, check


@check(expect=[Calls(0)])
def a_real_client_is_refused(trial: Trial) -> list[str]:
    return answer_in_parts("How many A-17 are there?", OpenAI("gpt-4o", api_key="none"))
