"""How many requests a tenant may make."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from checks.helpdesk.errors import QuotaExceeded

if TYPE_CHECKING:
    import sqlite3


class Quota:
    """A counter for each tenant in a SQLite file; it never passes ``limit``, whoever asks at the same time."""

    def __init__(self, path: Path, limit: int = 100) -> None:
        self._path = path
        self._limit = limit
        with closing(self._connect()) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS quota (tenant TEXT PRIMARY KEY, used INTEGER NOT NULL)")

    def take(self, tenant: str) -> int:
        """Count one request and give how many there were; QuotaExceeded, and nothing counted, where none is left."""
        with closing(self._connect()) as connection, connection:
            connection.execute("INSERT OR IGNORE INTO quota VALUES (?, 0)", (tenant,))
            counted = connection.execute(
                "UPDATE quota SET used = used + 1 WHERE tenant = ? AND used < ? RETURNING used", (tenant, self._limit)
            ).fetchall()
        if not counted:
            raise QuotaExceeded(f"{tenant} has used all of its {self._limit} requests")
        return int(counted[0][0])

    def _connect(self) -> sqlite3.Connection:
        import sqlite3  # noqa: PLC0415  # only what counts requests loads it

        return sqlite3.connect(self._path)
