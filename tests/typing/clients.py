"""What a type checker knows of the providers' clients over a double; checked, never run."""

from typing import assert_type

from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, OpenAI

from invcheck import ScriptedModel

model = ScriptedModel()
assert_type(model.openai(max_retries=0), OpenAI)
assert_type(model.async_openai(timeout=3.0), AsyncOpenAI)
assert_type(model.anthropic(lane="a"), Anthropic)
assert_type(model.async_anthropic(), AsyncAnthropic)
