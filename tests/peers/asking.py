"""The unmodified clients: one question through each SDK, whole or streamed; only the pause before another try is cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.peers.rows import Row

KEY = "none"
DIALECTS = ("chat", "responses", "messages")
"""OpenAI's two and Anthropic's one."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What an app sees: the class of the error that it gets, or the text; and how many requests its client sent for it."""

    error: str | None
    text: str | None
    attempts: int

    def __str__(self) -> str:
        return f"{self.error or 'no error'}, {self.attempts}"


Ask = Callable[..., Seen]
"""Asks a ``client`` that is given, else one built with the keywords."""


def question(row: Row, dialect: str) -> str:
    """Give what the client says in a row; no question is a part of another, since a peer may look for parts.

    >>> question(Row("a reply", ()), "chat")
    '[chat: a reply]'
    """
    return f"[{dialect}: {row.name}]"


def asker(row: Row, dialect: str) -> Ask:
    """Give what asks a row's question through the SDK of a dialect."""
    ask = {"chat": _chat, "responses": _responses, "messages": _messages}[dialect]
    return partial(_seen, ask, row, question(row, dialect))


def _seen(ask: Callable[..., tuple[Any, Callable[[], str]]], row: Row, text: str, **options: Any) -> Seen:
    client, said = ask(row, text, **options)
    client._calculate_retry_timeout = lambda *_: 0.0
    sent: list[object] = []
    client._client.event_hooks = {"request": [sent.append]}
    try:
        text = said()
    except Exception as error:  # noqa: BLE001  # which class it is, is the claim
        return Seen(type(error).__name__, None, len(sent))
    finally:
        client.close()
    return Seen(None, text, len(sent))


def _chat(row: Row, text: str, *, client: Any = None, **options: Any) -> tuple[Any, Callable[[], str]]:
    import openai  # noqa: PLC0415  # each client costs a second

    asked = client or openai.OpenAI(api_key=KEY, **options)

    def said() -> str:
        made = asked.chat.completions.create(model="gpt-5", messages=[{"role": "user", "content": text}], stream=row.streams)
        if not row.streams:
            return made.choices[0].message.content
        return "".join(chunk.choices[0].delta.content or "" for chunk in made if chunk.choices)

    return asked, said


def _responses(row: Row, text: str, *, client: Any = None, **options: Any) -> tuple[Any, Callable[[], str]]:
    import openai  # noqa: PLC0415  # as above

    asked = client or openai.OpenAI(api_key=KEY, **options)

    def said() -> str:
        made = asked.responses.create(model="gpt-5", input=text, stream=row.streams)
        if not row.streams:
            return made.output_text
        return "".join(event.delta for event in made if event.type == "response.output_text.delta")

    return asked, said


def _messages(row: Row, text: str, *, client: Any = None, **options: Any) -> tuple[Any, Callable[[], str]]:
    import anthropic  # noqa: PLC0415  # as above

    asked = client or anthropic.Anthropic(api_key=KEY, **options)

    def said() -> str:
        messages = [{"role": "user", "content": text}]
        made = asked.messages.create(model="claude-double", max_tokens=64, messages=messages, stream=row.streams)
        if not row.streams:
            return "".join(block.text for block in made.content)
        return "".join(event.delta.text for event in made if event.type == "content_block_delta")

    return asked, said
