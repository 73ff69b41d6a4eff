"""The shape of ``model`` in a check file: the double that stands in for the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from invcheck.protocol import RULES
from invcheck.resolve import is_reference
from invcheck.suite.answered import Fault, FaultKind, Seconds, Sizes, TextOrReply, ToolCall, Usage
from invcheck.suite.shapes import EITHER, ONE_OR_MORE, Name, Reference, Spec, by_key, one_of


def _expectation(when: Any) -> Any:
    from invcheck.sources.matching import matcher  # noqa: PLC0415  # few steps say what they expect

    try:
        matcher(when)
    except ValueError as error:
        raise PydanticCustomError("WHEN_INVALID", "what a request may be ({told})", {"told": str(error)}) from None
    return when


Expectation = Annotated[Annotated[str, Tag(":text")] | Annotated[dict[str, Any], Tag(":mapping")], EITHER]


class Step(Spec):
    """What every step may carry."""

    home = "in the step itself, beside what it answers"

    label: str | None = None
    optional: bool = False
    when: Annotated[Expectation, AfterValidator(_expectation)] | None = None


class ReplyStep(Step):
    """Answer with a reply."""

    reply: TextOrReply


class JsonStep(Step):
    """Answer with a value, as JSON text."""

    json_: Any = Field(alias="json")


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


Rule = Annotated[str, one_of("UNKNOWN_RULE", RULES), WithJsonSchema({"type": "string", "enum": list(RULES)})]


class Model(Spec):
    """What every double may carry: how replies are made and handed over, exceptions by kind of fault, its lanes, and what it tolerates."""

    home = "in `model`, beside its script"

    usage: Usage | None = None
    raises: dict[FaultKind, Reference] | None = None
    returns: Reference | None = None
    lane_by: str | None = Field(None, alias="lane-by")
    attributes: dict[str, Any] | None = None
    chunks: Sizes | None = None
    latency: Seconds = 0.0
    pace: Seconds = 0.0
    cached: bool = False
    keep: Annotated[int, Field(ge=1)] | None = None
    relax: list[Rule] | None = None


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


def _several(value: object) -> str | None:
    return ":list" if isinstance(value, list) else ":mapping" if isinstance(value, Mapping) else ":text" if isinstance(value, str) else None


Files = Annotated[
    Annotated[str, Tag(":text")] | Annotated[list[str], Tag(":list"), Field(min_length=1)],
    Discriminator(_several, custom_error_type="UNKNOWN_KIND", custom_error_message="a file or a list of files"),
]


class Recordings(Spec):
    """Fixture files of recordings, which of them, and how a request is matched with one."""

    home = "in `replay`"

    file: Files
    only: list[Name] | None = None
    ignore: list[Name] = Field([])
    strict: bool = True
    optional: bool = False


class ReplayModel(Model):
    """A double that answers with recordings."""

    replay: Annotated[
        Annotated[str, Tag(":text")] | Annotated[list[str], Field(min_length=1), Tag(":list")] | Annotated[Recordings, Tag(":mapping")],
        Discriminator(_several, custom_error_type="UNKNOWN_KIND", custom_error_message="a file, a list of files or a mapping"),
    ]


AnyModel = Annotated[
    Annotated[ScriptModel, Tag(":script")]
    | Annotated[LanesModel, Tag(":lanes")]
    | Annotated[DriftingModel, Tag(":drifting")]
    | Annotated[ReplayModel, Tag(":replay")],
    by_key(("script", "lanes", "drifting", "replay")),
]
