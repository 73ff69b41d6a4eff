"""The shape of what is read beside the output: the app's ledger and its other states."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field, Tag

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

Probes: TypeAlias = dict[Name, AnyProbe]
