"""The shape of what is read beside the output: the app's ledger and its other states."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field, Tag
from pydantic_core import PydanticCustomError

from invcheck.suite.shapes import Name, Reference, Spec, by_key


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
    fields: list[str] = Field([])


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
    by_key(("sqlite", "sql", "jsonl", "logging", "list", "call")),
]


def _state(probe: object) -> object:
    if isinstance(probe, LoggingProbe):
        raise PydanticCustomError("NO_STATE", "a state that can be read before the app runs; log records can only be a ledger")
    return probe


Probes: TypeAlias = dict[Name, Annotated[AnyProbe, AfterValidator(_state)]]
