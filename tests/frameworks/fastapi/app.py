"""An app on FastAPI that asks its model through a Protocol of its own, given by a dependency."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, NamedTuple, Protocol

from fastapi import Depends, FastAPI
from fastapi.responses import StreamingResponse

LEFT = {"A-17": 3}


class SlowDown(Exception):
    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Said(NamedTuple):
    text: str
    look_up: str | None


class Chat(Protocol):
    async def complete(self, messages: list[str]) -> Said: ...
    def stream(self, messages: list[str]) -> AsyncIterator[str]: ...


def chat() -> Chat:
    raise NotImplementedError("production builds its client here")


Asked = Annotated[Chat, Depends(chat)]
app = FastAPI()


@app.get("/answer")
async def answer(question: str, model: Asked) -> str:
    messages = [question]
    while True:
        try:
            said = await model.complete(messages)
        except SlowDown as error:
            await asyncio.sleep(error.retry_after)
            continue
        if said.look_up is None:
            return said.text
        messages.append(f"{LEFT[said.look_up]} left of {said.look_up}")


@app.get("/parts")
def answer_in_parts(question: str, model: Asked) -> StreamingResponse:
    return StreamingResponse(model.stream([question]), media_type="text/plain")
