"""The one shape in which the help desk knows a language model; a provider's adapter stands elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for one of the tools it was offered."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; ``tool_call_id`` names the call that a tool message answers."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """What the model is offered; ``parameters`` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model answered; ``finish`` is ``"length"`` where it was cut."""

    text: str = ""
    finish: str | None = "stop"
    usage: Usage | None = None
    tool_calls: tuple[ToolCall, ...] = ()


class ChatModel(Protocol):
    """Raises RateLimited, BadRequest, TimeoutError or ConnectionError."""

    def complete(self, messages: Sequence[Message], *, max_tokens: int = 512, tools: Sequence[Tool] = ()) -> Completion:
        """Answer a conversation."""
        ...
