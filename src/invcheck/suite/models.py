"""The shape of ``model`` in a check file: the double that stands in for the model."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from invcheck.faults import KINDS
from invcheck.resolve import is_reference
from invcheck.suite.shapes import EITHER, ONE_OR_MORE, Name, Reference, Spec, Tokens, by_key


class Usage(Spec):
    """Tokens of a reply, by the OpenTelemetry GenAI names."""

    home = "in `usage`"

    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    cache_read_input_tokens: Tokens | None = None
    cache_creation_input_tokens: Tokens | None = None
    reasoning_output_tokens: Tokens | None = None


class Step(Spec):
    """What every step may carry."""

    home = "in the step itself, beside what it answers"

    label: str | None = None
    optional: bool = False


class ToolCall(Spec):
    """A call of one of the app's tools."""

    home = "in `tool-call`"

    name: str
    arguments: dict[str, Any] = Field({})
    id: str | None = None


class Reply(Spec):
    """A reply with its text, finish reason, usage, tool calls and reasoning."""

    home = "in `reply`"

    text: str = ""
    finish: str | None = "stop"
    usage: Usage | None = None
    tool_calls: list[ToolCall] = Field([], alias="tool-calls")
    thinking: str | None = None


class ReplyStep(Step):
    """Answer with a reply."""

    reply: Annotated[Annotated[str, Tag(":text")] | Annotated[Reply, Tag(":mapping")], EITHER]


class JsonStep(Step):
    """Answer with a value, as JSON text."""

    json_: Any = Field(alias="json")


def _fault_kind(text: str) -> str:
    if text not in KINDS:
        raise PydanticCustomError("UNKNOWN_FAULT", "one of {kinds}", {"kinds": ", ".join(KINDS)})
    return text


FaultKind = Annotated[str, AfterValidator(_fault_kind), WithJsonSchema({"type": "string", "enum": list(KINDS)})]


class Fault(Spec):
    """A misbehaviour of the provider; ``retry-after`` is in seconds."""

    home = "in `fail: {kind: ...}`"

    kind: FaultKind
    message: str = ""
    status: Annotated[int, Field(ge=100, le=599)] | None = None
    retry_after: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(None, alias="retry-after")


class FailStep(Step):
    """Fail as the provider fails."""

    fail: Annotated[Annotated[FaultKind, Tag(":text")] | Annotated[Fault, Tag(":mapping")], EITHER]


class RaiseStep(Step):
    """Raise an exception of the app's own."""

    raise_: Reference = Field(alias="raise")


class ToolCallStep(Step):
    """Answer with a tool call, or several at once."""

    tool_call: Annotated[Annotated[ToolCall, Tag(":mapping")] | Annotated[list[ToolCall], Tag(":list")], ONE_OR_MORE] = Field(
        alias="tool-call"
    )


class CallStep(Step):
    """Answer with what a function of the request gives."""

    call: Reference


STEPS = ("reply", "json", "fail", "raise", "tool-call", "call", "then-always")


class ThenAlwaysStep(Spec):
    """Answer this way to every further call; it is a script's last step."""

    then_always: AnyStep = Field(alias="then-always")
    label: str | None = None


AnyStep = Annotated[
    Annotated[str, Tag(":text")]
    | Annotated[ReplyStep, Tag(":reply")]
    | Annotated[JsonStep, Tag(":json")]
    | Annotated[FailStep, Tag(":fail")]
    | Annotated[RaiseStep, Tag(":raise")]
    | Annotated[ToolCallStep, Tag(":tool-call")]
    | Annotated[CallStep, Tag(":call")]
    | Annotated[ThenAlwaysStep, Tag(":then-always")],
    by_key(STEPS),
]


def _script(steps: list[Any]) -> list[Any]:
    for index, step in enumerate(steps):
        if isinstance(step, ThenAlwaysStep) and index < len(steps) - 1:
            raise PydanticCustomError("SCRIPT_INVALID", "then-always as the last step of the script")
        if isinstance(step, ThenAlwaysStep) and isinstance(step.then_always, ThenAlwaysStep):
            raise PydanticCustomError("SCRIPT_INVALID", "a plain step inside then-always")
    return steps


Script = Annotated[list[AnyStep], AfterValidator(_script)]


class Model(Spec):
    """What every double may carry: default usage, exceptions by kind of fault, how replies become values, and its lanes."""

    home = "in `model`, beside its script"

    usage: Usage | None = None
    raises: dict[FaultKind, Reference] | None = None
    returns: Reference | None = None
    lane_by: str | None = Field(None, alias="lane-by")
    attributes: dict[str, Any] | None = None


class ScriptModel(Model):
    """A double that answers step by step."""

    script: Script


class LanesModel(Model):
    """A double with a script for each agent, model or session."""

    lanes: dict[Name, Script] = Field(min_length=1)


def _schema_text(text: str) -> str:
    if not text.endswith(".json") and not is_reference(text):
        message = 'a reference "module:Model", a JSON Schema file such as schemas/answer.json, or a JSON Schema'
        raise PydanticCustomError("REFERENCE_INVALID", message)
    return text


SchemaText = Annotated[str, AfterValidator(_schema_text)]


class DriftingSchema(Spec):
    """Drift within a JSON Schema, written here or in a file, or a pydantic model's."""

    schema_: Annotated[Annotated[SchemaText, Tag(":text")] | Annotated[dict[str, Any], Tag(":mapping")], EITHER] = Field(alias="schema")


class DriftingModel(Model):
    """A double that answers differently for every seed."""

    drifting: Annotated[Annotated[Reference, Tag(":text")] | Annotated[DriftingSchema, Tag(":mapping")], EITHER]


AnyModel = Annotated[
    Annotated[ScriptModel, Tag(":script")] | Annotated[LanesModel, Tag(":lanes")] | Annotated[DriftingModel, Tag(":drifting")],
    by_key(("script", "lanes", "drifting")),
]
