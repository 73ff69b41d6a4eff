"""FastAPI without a double: the gate is shut, so this check breaks."""

from __future__ import annotations

from typing import Any

import httpx2
from app import app, chat
from fastapi.testclient import TestClient

from invcheck import Calls, Trial, check


class Real:
    async def complete(self, messages: list[str]) -> Any:
        async with httpx2.AsyncClient(base_url="http://model.invalid") as client:
            return await client.post("/complete", json=messages)


@check(expect=[Calls(0)])
def a_real_client_is_refused(trial: Trial) -> Any:
    app.dependency_overrides[chat] = Real
    with TestClient(app) as client:
        return client.get("/answer", params={"question": "How many A-17 are there?"}).json()
