"""The shape of a check in a check file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from invcheck.suite.shapes import EITHER, Name, Reference, Spec


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


class Audit(Spec):
    """What an audit of the check leaves aside."""

    ignore: list[str] = Field([], description="What may differ from run to run, such as $.ledger[*].created_at.")


AnyClock = Annotated[Annotated[Literal["real"], Tag(":text")] | Annotated[ClockStart, Tag(":mapping")], EITHER]


AllowText = Annotated[
    str, WithJsonSchema({"type": "string", "pattern": r"^(tcp:(localhost|127(\.\d+){3}|\[[0-9A-Fa-f:.]+\]):[1-9]\d*|unix:/.+)$"})
]


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
    """One check: an app, its inputs, how the model behaves, and what must hold.

    ``model``, ``ledger`` and ``probes`` have shapes of their own, which only a file that has the key pays for.
    """

    home = "in the check itself"

    check: Name = Field(description="The check's name, unique in its file.")
    app: Reference = Field(description="The function that is run, as module:function.")
    model: Any = Field(None, description="The double that stands in for the model.")
    runs: Annotated[int, Field(ge=1)] = Field(1, description="How many seeds each case is run under.")
    cases: AnyCases = Field(description="The inputs: a list, a JSON Lines file or a CSV file.")
    parse: Literal["json"] | None = Field(None, description="Put the value that the output's text spells at $.output.")
    expect: list[Any] = Field(description="The assertions, each a mapping of one key.")
    tags: list[Name] = Field([], description="Words by which checks are selected.")
    ledger: Any = Field(None, description="Where the app writes its usage rows.")
    probes: Any = Field(None, description="States that are read right before and right after the app.")
    setup: Reference | None = Field(None, description="A function of the trial that is called before the app.")
    clock: AnyClock | None = Field(None, description="The clock: virtual unless it says real.")
    allow: list[AllowText] = Field([], description="What its trials may reach of this machine, such as tcp:127.0.0.1:5432.")
    audit: Audit | None = Field(None, description="What `run --audit` leaves aside.")
