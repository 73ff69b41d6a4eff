"""The usage ledger: one row for every reply that we pay for."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from checks.helpdesk.llm import Completion, Usage
from checks.helpdesk.pricing import cost

if TYPE_CHECKING:
    import sqlite3

Row: TypeAlias = dict[str, Any]


class Ledger(Protocol):
    """Whatever rows can be appended to: a list in a script, `SqliteLedger` in production."""

    def append(self, row: Row, /) -> object:
        """Enter one row."""
        ...


def row(feature: str, completion: Completion, *, ok: bool, tier: str = "standard") -> Row:
    """Give the row of one reply; ``cost`` is text, since a float would not add up to what we pay."""
    used = completion.usage or Usage()
    return {
        "feature": feature,
        "ok": ok,
        "tokens": used.input_tokens + used.output_tokens,
        "cost": str(cost(used, tier)),
    }


class SqliteLedger:
    """The ledger in a SQLite file; every row is committed at once, so that a crash loses none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with closing(self._connect()) as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS usage"
                " (id INTEGER PRIMARY KEY, feature TEXT NOT NULL, ok INTEGER NOT NULL, tokens INTEGER NOT NULL, cost TEXT NOT NULL)"
            )

    def append(self, row: Row, /) -> None:
        """Enter one row."""
        with closing(self._connect()) as connection, connection:
            connection.execute("INSERT INTO usage (feature, ok, tokens, cost) VALUES (:feature, :ok, :tokens, :cost)", row)

    def _connect(self) -> sqlite3.Connection:
        import sqlite3  # noqa: PLC0415  # a desk with another ledger does not load it

        return sqlite3.connect(self._path)
