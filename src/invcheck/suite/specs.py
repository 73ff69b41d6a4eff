"""The shape of a check file as pydantic models; loaded only where YAML is read or the JSON Schema is printed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from invcheck.faults import KINDS
from invcheck.resolve import is_reference

MAX_TOKENS = 2**53 - 1


class Spec(BaseModel):
    """A mapping without unknown keys, whose values are taken as they are."""

    model_config = ConfigDict(extra="forbid", strict=True)


def _reference(text: str) -> str:
    if not is_reference(text):
        raise PydanticCustomError("REFERENCE_INVALID", 'a reference "module:attribute", such as shop.qa:answer')
    return text


Reference = Annotated[str, AfterValidator(_reference), WithJsonSchema({"type": "string", "pattern": r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$"})]
Name = Annotated[str, Field(min_length=1, pattern=r"^[^\r\n]+$")]
Tokens = Annotated[int, Field(ge=0, le=MAX_TOKENS)]


def _kind(kinds: tuple[str, ...]) -> Any:
    """Choose a spec by the one key that names it, so that a mistake is told of that spec alone.

    A tag begins with a colon: it stands in the path of an error, and must not be taken for a key of the file.
    """

    def chosen(value: object) -> str | None:
        if isinstance(value, str):
            return ":text"
        found = [key for key in kinds if isinstance(value, Mapping) and key in value]
        return f":{found[0]}" if found else None

    words = ", ".join(kinds)
    return Discriminator(chosen, custom_error_type="UNKNOWN_KIND", custom_error_message=f"one of {words}")


def _text_or_mapping(value: object) -> str | None:
    return ":text" if isinstance(value, str) else ":mapping" if isinstance(value, Mapping) else None


def _one_or_more(value: object) -> str | None:
    return ":list" if isinstance(value, list) else ":mapping" if isinstance(value, Mapping) else None


_ONE_OR_MORE = Discriminator(_one_or_more, custom_error_type="UNKNOWN_KIND", custom_error_message="a mapping or a list")
_EITHER = Discriminator(_text_or_mapping, custom_error_type="UNKNOWN_KIND", custom_error_message="a text or a mapping")

# a double


class Usage(Spec):
    """Tokens of a reply, by the OpenTelemetry GenAI names."""

    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    cache_read_input_tokens: Tokens | None = None
    cache_creation_input_tokens: Tokens | None = None
    reasoning_output_tokens: Tokens | None = None


class Step(Spec):
    """What every step may carry."""

    label: str | None = None
    optional: bool = False


class ToolCall(Spec):
    """A call of one of the app's tools."""

    name: str
    arguments: dict[str, Any] = {}
    id: str | None = None


class Reply(Spec):
    """A reply with its text, finish reason, usage, tool calls and reasoning."""

    text: str = ""
    finish: str | None = "stop"
    usage: Usage | None = None
    tool_calls: list[ToolCall] = Field([], alias="tool-calls")
    thinking: str | None = None


class ReplyStep(Step):
    """Answer with a reply."""

    reply: Annotated[Annotated[str, Tag(":text")] | Annotated[Reply, Tag(":mapping")], _EITHER]


class JsonStep(Step):
    """Answer with a value, as JSON text."""

    json_: Any = Field(alias="json")


def _fault_kind(text: str) -> str:
    if text not in KINDS:
        raise PydanticCustomError("UNKNOWN_FAULT", "one of {kinds}", {"kinds": ", ".join(KINDS)})
    return text


FaultKind = Annotated[str, AfterValidator(_fault_kind), WithJsonSchema({"enum": list(KINDS)})]


class Fault(Spec):
    """A misbehaviour of the provider; ``retry-after`` is in seconds."""

    kind: FaultKind
    message: str = ""
    status: Annotated[int, Field(ge=100, le=599)] | None = None
    retry_after: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(None, alias="retry-after")


class FailStep(Step):
    """Fail as the provider fails."""

    fail: Annotated[Annotated[FaultKind, Tag(":text")] | Annotated[Fault, Tag(":mapping")], _EITHER]


class RaiseStep(Step):
    """Raise an exception of the app's own."""

    raise_: Reference = Field(alias="raise")


class ToolCallStep(Step):
    """Answer with a tool call, or several at once."""

    tool_call: Annotated[Annotated[ToolCall, Tag(":mapping")] | Annotated[list[ToolCall], Tag(":list")], _ONE_OR_MORE] = Field(
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
    _kind(STEPS),
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


class DriftingSchema(Spec):
    """Drift within a JSON Schema, or a pydantic model's."""

    schema_: Annotated[Annotated[Reference, Tag(":text")] | Annotated[dict[str, Any], Tag(":mapping")], _EITHER] = Field(alias="schema")


class DriftingModel(Model):
    """A double that answers differently for every seed."""

    drifting: Annotated[Annotated[Reference, Tag(":text")] | Annotated[DriftingSchema, Tag(":mapping")], _EITHER]


AnyModel = Annotated[
    Annotated[ScriptModel, Tag(":script")] | Annotated[LanesModel, Tag(":lanes")] | Annotated[DriftingModel, Tag(":drifting")],
    _kind(("script", "lanes", "drifting")),
]

# what is read beside the output


class SqliteProbe(Spec):
    """Rows of a query on an SQLite file."""

    sqlite: str
    query: str


class SqlProbe(Spec):
    """Rows of a query on a database URL."""

    sql: str
    query: str


class JsonLinesProbe(Spec):
    """Rows of a JSON Lines file."""

    jsonl: str


class LoggingProbe(Spec):
    """Records of a logger."""

    logging: str
    fields: list[str] = []


class ListProbe(Spec):
    """Items of a list that the app appends to."""

    list: Reference


class CallProbe(Spec):
    """What a function gives."""

    call: Reference


AnyProbe = Annotated[
    Annotated[Reference, Tag(":text")]
    | Annotated[SqliteProbe, Tag(":sqlite")]
    | Annotated[SqlProbe, Tag(":sql")]
    | Annotated[JsonLinesProbe, Tag(":jsonl")]
    | Annotated[LoggingProbe, Tag(":logging")]
    | Annotated[ListProbe, Tag(":list")]
    | Annotated[CallProbe, Tag(":call")],
    _kind(("sqlite", "sql", "jsonl", "logging", "list", "call")),
]


def _moment(text: str) -> str:
    try:
        zone = datetime.fromisoformat(text).tzinfo
    except ValueError:
        zone = None
    if zone is None:
        raise PydanticCustomError("WRONG_TYPE", "a moment with its zone, such as 2030-01-01T00:00:00Z")
    return text


class ClockStart(Spec):
    """A virtual clock that starts at a moment."""

    start: Annotated[str, AfterValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})]


AnyClock = Annotated[Annotated[Literal["real"], Tag(":text")] | Annotated[ClockStart, Tag(":mapping")], _EITHER]

# a check


class InlineCase(Spec):
    """One input, with an id that is unique in its check."""

    id: str | int | None = None
    input: Any = None


class JsonLinesCases(Spec):
    """One case a line of a JSON Lines file, relative to the check file."""

    jsonl: str


class CsvCases(Spec):
    """One case a row of a CSV file with a header, relative to the check file."""

    csv: str


def _cases_kind(value: object) -> str | None:
    if isinstance(value, Mapping):
        return next((f":{key}" for key in ("jsonl", "csv") if key in value), None)
    return ":inline" if isinstance(value, list) else None


AnyCases = Annotated[
    Annotated[list[InlineCase], Tag(":inline")] | Annotated[JsonLinesCases, Tag(":jsonl")] | Annotated[CsvCases, Tag(":csv")],
    Discriminator(
        _cases_kind,
        custom_error_type="UNKNOWN_KIND",
        custom_error_message="a list of cases, or one of jsonl, csv",
    ),
]


class CheckSpec(Spec):
    """One check: an app, its inputs, how the model behaves, and what must hold."""

    check: Name = Field(description="The check's name, unique in its file.")
    app: Reference = Field(description="The function that is run, as module:function.")
    model: AnyModel | None = Field(None, description="The double that stands in for the model.")
    runs: Annotated[int, Field(ge=1)] = Field(1, description="How many seeds each case is run under.")
    cases: AnyCases = Field(description="The inputs: a list, a JSON Lines file or a CSV file.")
    parse: Literal["json"] | None = Field(None, description="Put the value that the output's text spells at $.output.")
    expect: list[Any] = Field(description="The assertions, each a mapping of one key.")
    tags: list[Name] = Field([], description="Words by which checks are selected.")
    ledger: AnyProbe | None = Field(None, description="Where the app writes its usage rows.")
    probes: dict[Name, AnyProbe] = Field({}, description="States that are read right before and right after the app.")
    setup: Reference | None = Field(None, description="A function of the trial that is called before the app.")
    clock: AnyClock | None = Field(None, description="The clock: virtual unless it says real.")


class FileSpec(Spec):
    """Several checks in one file."""

    checks: list[CheckSpec] = Field(min_length=1)


ThenAlwaysStep.model_rebuild()
