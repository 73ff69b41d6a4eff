"""instructor without a double: the gate is shut, so this check breaks."""

from __future__ import annotations

from typing import Any

from app import extract
from instructor import from_openai
from openai import OpenAI

from invcheck import Calls, Trial, check


@check(expect=[Calls(0)])
def a_real_client_is_refused(trial: Trial) -> Any:
    return extract("We have three of A-17.", from_openai(OpenAI(api_key="none")))
