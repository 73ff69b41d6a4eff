"""Where tickets are kept: one per idempotency key, and a dead letter for what no retry could help."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

_SCHEMA = """
CREATE TABLE IF NOT EXISTS ticket (key TEXT PRIMARY KEY, text TEXT NOT NULL, label TEXT NOT NULL, team TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS dead_letter (key TEXT PRIMARY KEY, text TEXT NOT NULL, reason TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A ticket that was sorted."""

    key: str
    text: str
    label: str
    team: str


class TicketStore:
    """Tickets and dead letters in a SQLite file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with closing(self._connect()) as connection:
            connection.executescript(_SCHEMA)

    def find(self, key: str) -> Ticket | None:
        """Give the ticket of this key, None where there is none."""
        with closing(self._connect()) as connection:
            found = connection.execute("SELECT key, text, label, team FROM ticket WHERE key = ?", (key,)).fetchone()
        return Ticket(*found) if found else None

    def add(self, ticket: Ticket) -> Ticket:
        """Keep the ticket and give the one that is kept: of two with one key, the first."""
        with closing(self._connect()) as connection, connection:
            connection.execute("INSERT OR IGNORE INTO ticket VALUES (:key, :text, :label, :team)", asdict(ticket))
        return self.find(ticket.key) or ticket

    def bury(self, key: str, text: str, reason: str) -> None:
        """Keep what could not be sorted, for a person to read."""
        with closing(self._connect()) as connection, connection:
            connection.execute("INSERT OR REPLACE INTO dead_letter VALUES (?, ?, ?)", (key, text, reason))

    def _connect(self) -> sqlite3.Connection:
        import sqlite3  # noqa: PLC0415  # only what keeps tickets loads it

        return sqlite3.connect(self._path)
