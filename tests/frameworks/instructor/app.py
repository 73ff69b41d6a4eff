"""An app on instructor that reads a pydantic model out of a text."""

from __future__ import annotations

from instructor import AsyncInstructor, Instructor
from pydantic import BaseModel


class Stock(BaseModel):
    sku: str
    left: int


def extract(text: str, client: Instructor) -> Stock:
    messages = [{"role": "user", "content": text}]
    return client.chat.completions.create(model="gpt-5", response_model=Stock, max_retries=2, messages=messages)


async def extract_in_parts(text: str, client: AsyncInstructor) -> list[Stock]:
    messages = [{"role": "user", "content": text}]
    parts = client.chat.completions.create_partial(model="gpt-5", response_model=Stock, messages=messages)
    return [part async for part in parts]
