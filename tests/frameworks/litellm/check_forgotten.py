"""litellm without a double: the gate is shut, also for its own aiohttp transport, so these checks break."""

from __future__ import annotations

from typing import Any

from app import answer, litellm

from invcheck import Calls, Trial, check


@check(expect=[Calls(0)])
def a_real_client_is_refused(trial: Trial) -> str:
    litellm.api_key = "none"
    return answer("How many A-17 are there?", None)


@check(expect=[Calls(0)])
async def its_own_transport_is_refused(trial: Trial) -> Any:
    return await litellm.acompletion("openai/gpt-5", [{"role": "user", "content": "How many?"}], api_key="none")
