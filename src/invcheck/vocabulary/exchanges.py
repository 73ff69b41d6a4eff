"""What passes between an app and a model: requests get outcomes, which are replies or faults, in chunks where they stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from invcheck.vocabulary.plain import Json


class State(StrEnum):
    """What became of one call of a double; *attempted* is the sum of the four."""

    SERVED = "served"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply, by the OpenTelemetry GenAI names; ``input_tokens`` includes what came from a cache.

    Every number is an integer from 0 to 2**53 - 1, or None where the provider does not say.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    reasoning_output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A block of plain text in a reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A block of reasoning in a reply; it is no part of the reply's ``text``."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A block that asks the app to call one of its tools; ``arguments`` is frozen plain JSON."""

    name: str
    arguments: Mapping[str, Json]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A block in which the model declines, in its own words; it is no part of the reply's ``text``."""

    text: str


Block: TypeAlias = Text | Thinking | ToolCall | Refusal

Chunking: TypeAlias = str | int | tuple[str, ...]
"""How a stream cuts a reply: "whole", "words", "keyed" (sizes derived from the request), n code points, or the parts themselves."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How a reply is handed over: cut how, and when; ``latency`` (before anything) and ``pace`` (between chunks) in virtual seconds.

    What is not streamed arrives when its last chunk would have.
    """

    chunking: Chunking | None = None
    latency: float = 0.0
    pace: float = 0.0


@dataclass(frozen=True, slots=True)
class Framing:
    """Lawful oddities of a streamed body on the wire (WHATWG HTML §9.2, server-sent events); no other face shows them.

    ``newline`` ends lines; ``comments`` and ``pings`` stand before every event; ``done`` is the end marker of the dialect
    ("[DONE]", "message_stop"); ``headers`` are sent with the reply.
    """

    newline: str = "\n"
    comments: bool = False
    pings: bool = False
    done: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answers: blocks, a finish reason and usage, each of which may be absent when a test wants that.

    ``value`` carries a reply in the user's own type, for faces that hand it over as it is; ``delivery`` and ``framing`` say
    how it travels, where that is not the double's own way.

    >>> Reply((Text("Hello, "), Text("world"))).text
    'Hello, world'
    """

    blocks: tuple[Block, ...] = ()
    finish: str | None = "stop"
    usage: Usage | None = None
    value: object = None
    delivery: Delivery | None = None
    framing: Framing | None = None

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join([block.text for block in self.blocks if isinstance(block, Text)])

    @property
    def thinking(self) -> str:
        """The thinking blocks, joined."""
        return "".join([block.text for block in self.blocks if isinstance(block, Thinking)])

    @property
    def refusal(self) -> str:
        """The refusal blocks, joined."""
        return "".join([block.text for block in self.blocks if isinstance(block, Refusal)])

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple([block for block in self.blocks if isinstance(block, ToolCall)])

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Fault:
    """A misbehaviour as data, so that every face can render it: an exception, a status with headers, half a stream.

    ``kind`` is one of ``invcheck.faults.KINDS``; ``retry_after`` is in seconds. ``headers`` and ``body`` are what a wire
    face sends instead of the dialect's own error. A fault of delivery (cut, truncated, stream-error, stall) breaks
    ``reply`` once ``after`` bytes were sent: of the body on the wire, of the text in process.
    """

    kind: str
    message: str = ""
    status: int | None = None
    retry_after: float | None = None
    headers: Mapping[str, str] | None = None
    body: str | None = None
    reply: Reply | None = None
    after: int | str | None = None
    seconds: float | None = None


Outcome: TypeAlias = Reply | Fault


@dataclass(frozen=True, slots=True)
class ToolPart:
    """A part of the JSON text of a tool call's arguments; the first part of the ``index``-th call (from 0) also names it."""

    index: int
    arguments: str = ""
    name: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a reply as a stream hands it over, correlated with its request by ``request_id``.

    It holds a part of one block: of its text, its thinking or its refusal, a whole tool call, or a ``part`` of one.
    """

    request_id: str
    text: str = ""
    tool_call: ToolCall | None = None
    thinking: str = ""
    refusal: str = ""
    part: ToolPart | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call of a double: its ordinal in that double (from 0), the frozen request, and what became of it.

    ``outcome`` is None while a call was cancelled or refused; ``error`` names the exception that the app was given.
    """

    n: int
    lane: str | None
    request: Mapping[str, Json]
    outcome: Outcome | None
    state: State
    error: str | None = None
    method: str | None = None
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """How many calls a double saw; ``attempted`` is the sum of the other four.

    >>> Counts(served=1, refused=2).attempted
    3
    """

    served: int = 0
    failed: int = 0
    cancelled: int = 0
    refused: int = 0

    @property
    def attempted(self) -> int:
        """All calls, whatever became of them."""
        return self.served + self.failed + self.cancelled + self.refused
