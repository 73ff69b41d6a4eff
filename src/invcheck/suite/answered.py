"""The shape of a reply and of a fault in a check file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

from invcheck.faults import KINDS
from invcheck.suite.shapes import EITHER, Spec, Tokens, one_of


class Usage(Spec):
    """Tokens of a reply, by the OpenTelemetry GenAI names."""

    home = "in `usage`"

    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    cache_read_input_tokens: Tokens | None = None
    cache_creation_input_tokens: Tokens | None = None
    reasoning_output_tokens: Tokens | None = None


class ToolCall(Spec):
    """A call of one of the app's tools."""

    home = "in `tool-call`"

    name: str
    arguments: dict[str, Any] = Field({})
    id: str | None = None


class TextBlock(Spec):
    """A block of plain text."""

    text: str


class ThinkingBlock(Spec):
    """A block of reasoning."""

    thinking: str


class RefusalBlock(Spec):
    """A block in which the model declines."""

    refusal: str


class ToolCallBlock(Spec):
    """A block that calls a tool."""

    tool_call: ToolCall = Field(alias="tool-call")


_BLOCKS = ("text", "thinking", "refusal", "tool-call")


def _block(value: object) -> str | None:
    """A block of text is written as that text, or as a mapping of its one key."""
    if isinstance(value, str):
        return ":plain"
    return next((f":{key}" for key in _BLOCKS if isinstance(value, Mapping) and key in value), None)


Block = Annotated[
    Annotated[str, Tag(":plain")]
    | Annotated[TextBlock, Tag(":text")]
    | Annotated[ThinkingBlock, Tag(":thinking")]
    | Annotated[RefusalBlock, Tag(":refusal")]
    | Annotated[ToolCallBlock, Tag(":tool-call")],
    Discriminator(_block, custom_error_type="UNKNOWN_KIND", custom_error_message=f"one of {', '.join(_BLOCKS)}"),
]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Sizes = Literal["whole", "words", "keyed"] | Annotated[int, Field(ge=1)]

Chunks = Annotated[
    Annotated[list[str], Tag(":list")] | Annotated[Sizes, Tag(":size")],
    Discriminator(lambda value: ":list" if isinstance(value, list) else ":size"),
]


class Framing(Spec):
    """Lawful oddities of a streamed body, which only a wire shows."""

    home = "in `framing` of a reply"

    newline: Literal["lf", "crlf", "cr"] = "lf"
    comments: bool = False
    pings: bool = False
    done: bool = True
    headers: dict[str, str] = Field({})


def _alone(blocks: list[Any] | None, info: ValidationInfo) -> list[Any] | None:
    beside = [key.replace("_", "-") for key in ("text", "tool_calls", "thinking", "refusal") if info.data.get(key)]
    if blocks is not None and beside:
        raise PydanticCustomError("REPLY_INVALID", "blocks alone, without {beside} beside them", {"beside": beside[0]})
    return blocks


def _joined(chunks: Any, info: ValidationInfo) -> Any:
    text, blocks = info.data.get("text"), info.data.get("blocks")
    if not isinstance(chunks, list) or text is None:
        return chunks
    if blocks is not None:
        text = "".join(block if isinstance(block, str) else block.text for block in blocks if isinstance(block, str | TextBlock))
    from invcheck.sources.written import unjoined  # noqa: PLC0415  # few replies say how they are cut

    index = unjoined(chunks, text)
    if index is not None:
        told = "its end is missing" if index == len(chunks) else f"the one with index {index} does not continue it"
        raise PydanticCustomError("CHUNKS_DIFFER", "chunks that join to the text: {told}", {"told": told})
    return chunks


class Reply(Spec):
    """A reply with its text, finish reason, usage, tool calls, reasoning and refusal, or all of it in blocks; and how it travels."""

    home = "in `reply`"

    text: str = ""
    finish: str | None = "stop"
    usage: Usage | None = None
    tool_calls: list[ToolCall] = Field([], alias="tool-calls")
    thinking: str | None = None
    refusal: str | None = None
    blocks: Annotated[list[Block] | None, AfterValidator(_alone)] = None
    chunks: Annotated[Chunks, AfterValidator(_joined)] | None = None
    latency: Seconds = 0.0
    pace: Seconds = 0.0
    framing: Framing | None = None


TextOrReply = Annotated[Annotated[str, Tag(":text")] | Annotated[Reply, Tag(":mapping")], EITHER]


FaultKind = Annotated[str, one_of("UNKNOWN_FAULT", [*KINDS]), WithJsonSchema({"type": "string", "enum": list(KINDS)})]


class Fault(Spec):
    """A misbehaviour of the provider; times are in seconds, ``after`` in bytes of the ``reply`` that it breaks."""

    home = "in `fail: {kind: ...}`"

    kind: FaultKind
    message: str = ""
    status: Annotated[int, Field(ge=100, le=599)] | None = None
    retry_after: Seconds | None = Field(None, alias="retry-after")
    headers: dict[str, str] | None = None
    body: str | None = None
    reply: TextOrReply | None = None
    after: Literal["character"] | Annotated[int, Field(ge=0)] | None = None
    seconds: Seconds | None = None
