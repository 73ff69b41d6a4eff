"""Probes over files that the app writes: a SQLite database, a JSON Lines log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from invcheck import jsontext
from invcheck.errors import NotJson, Unevaluated
from invcheck.ledger.probe import FAILED, MISSING, Folder, Watch, Watched, located, shown
from invcheck.record import Record
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    import sqlite3


class _FileProbe(Watched):
    """What both file probes share: where the file stands."""

    def __init__(self, path: str | Path, folder: Folder) -> None:
        self._path = path
        self._folder = folder

    def _found(self) -> Path:
        file = located(self._path, self._folder)
        if not file.is_file():
            hint = "a path is relative to the trial's own folder, else to the project; "
            hint += "is this the file that the app writes?" if self._watch else "a state is read before the app runs: let a setup make it"
            raise Unevaluated(f"{shown(self._path)} does not exist", code=MISSING, hint=hint)
        return file


class SqliteProbe(_FileProbe):
    """Reads a SQLite file by a query, over a read-only connection of its own: only what the app committed is seen.

    A row is an object by column name. It never waits for a lock of the app's.
    """

    def __init__(self, path: str | Path, query: str, *, folder: Folder = None) -> None:
        super().__init__(path, folder)
        self._query = query

    def _read(self) -> list[Json]:
        import sqlite3  # noqa: PLC0415  # a check without such a probe does not pay for it

        file = self._found()
        try:
            connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=0)
            try:
                return _objects(connection.execute(self._query))
            finally:
                connection.close()
        except (sqlite3.Error, sqlite3.Warning) as error:
            gone = str(error).startswith("no such table")
            raise Unevaluated(
                f"{shown(self._path)}: {error}",
                code=MISSING if gone else FAILED,
                hint="the app still holds a write transaction: commit before it returns" if "locked" in str(error) else None,
            ) from error


def _objects(cursor: sqlite3.Cursor) -> list[Json]:
    names = [column[0] for column in cursor.description or ()]
    return [snapshot(dict(zip(names, row, strict=True))) for row in cursor.fetchall()]


class JsonLinesProbe(_FileProbe):
    """Reads a file of one strict JSON value a line; a bad line is Unevaluated and named by its number.

    While the trial runs, a last line without its line feed is still being written, and no row yet.
    """

    def __init__(self, path: str | Path, *, folder: Folder = None) -> None:
        super().__init__(path, folder)

    def open(self, record: Record) -> None:
        """Begin to enter rows into ``record``."""
        self._watch = Watch(record, self._read_ended)

    def finish(self) -> None:
        """Enter the last rows; a file that does not stand, or a line that is cut, is Unevaluated."""
        if self._watch:
            self._watch.finish(self._read())

    def _read(self) -> list[Json]:
        *lines, rest = self._lines()
        rows = [self._value(line, number) for number, line in enumerate(lines, 1)]
        return [*rows, self._value(rest, len(lines) + 1, last=True)] if rest else rows

    def _read_ended(self) -> list[Json]:
        return [self._value(line, number) for number, line in enumerate(self._lines()[:-1], 1)]

    def _lines(self) -> list[bytes]:
        return self._found().read_bytes().split(b"\n")

    def _value(self, line: bytes, number: int, *, last: bool = False) -> Json:
        try:
            return jsontext.loads(line.decode("utf-8"))
        except (UnicodeDecodeError, NotJson) as error:
            what = error.message if isinstance(error, NotJson) else "the line is not UTF-8"
            cut = " (the last line is truncated: it has no line feed)" if last else ""
            raise Unevaluated(f"{shown(self._path)}:{number}: {what}{cut}", code=FAILED, line=number) from error
