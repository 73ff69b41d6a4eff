"""LangChain without a double: the gate is shut, so this check breaks."""

from __future__ import annotations

from app import answer
from langchain_openai import ChatOpenAI

from invcheck import Calls, Trial, check


@check(expect=[Calls(0)])
def a_real_client_is_refused(trial: Trial) -> str:
    return answer("How many A-17 are there?", ChatOpenAI(model="gpt-5", api_key="none"))
