"""What every probe can be asked, and how the rows behind one are entered in order with calls, waits and effects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import Protocol, TypeAlias, runtime_checkable

from invcheck.canonical import canonical
from invcheck.errors import Unevaluated
from invcheck.record import Record
from invcheck.vocabulary import Json

MISSING = "PROBE_MISSING"
"""The code of the error of a probe whose file or table does not stand."""

FAILED = "PROBE_FAILED"
"""The code of the error of a probe that found something it cannot read."""

Folder: TypeAlias = Path | Callable[[], Path] | None
"""A trial's own folder, or how to get it: it is made when somebody first asks."""


@runtime_checkable
class Probe(Protocol):
    """Reads the app's own rows.

    As a ledger it is opened with the trial's record: rows that stand already are not the app's, every later one is
    entered before the next event of the journal, and `finish` makes ``$.ledger`` the rows as they stand at the end.
    As a state it is never opened, and `rows` is asked before and after.
    """

    def open(self, record: Record) -> None:
        """Begin to enter rows into ``record``."""

    def rows(self) -> list[Json]:
        """Give all rows of this moment; Unevaluated where they cannot be read.

        Once opened, a file or table that does not stand yet has no rows.
        """

    def finish(self) -> None:
        """Enter the last rows; now a file or table that does not stand is Unevaluated."""

    def close(self) -> None:
        """Let go of the record and of everything held; a second time changes nothing."""


class Watch:
    """Enters the rows that appear behind ``read`` in a record, each once, before the event that follows it.

    Where ``still`` says that nothing can have come, rows are not read before an event.
    """

    def __init__(self, record: Record, read: Callable[[], list[Json]], still: Callable[[], bool] | None = None) -> None:
        self._record = record
        self._read = read
        self._lock = RLock()
        self._looking = False
        self._still = still
        self._before = self._seen = [*standing(read)]
        record.before_event.append(self.look)

    def look(self) -> None:
        """Enter what is new; what cannot be read in this moment is left to the next look, and to `finish`, which tells."""
        if self._still is not None and self._still():
            return
        with self._lock:
            if self._looking:  # reading may itself cause an event
                return
            self._looking = True
            try:
                self._enter(self._read())
            except Unevaluated:
                return
            finally:
                self._looking = False

    def finish(self, rows: list[Json] | None = None) -> None:
        """Enter what is left, and give the ledger the rows as they stand now, with later changes to them."""
        with self._lock:
            rows = self._read() if rows is None else rows
            self._enter(rows)
            self._record.ledger[:] = added(self._before, rows)

    def _enter(self, rows: list[Json]) -> None:
        if rows == self._seen:
            return
        for row in added(self._seen, rows):
            self._record.row(row)
        self._seen = [*rows]

    def close(self) -> None:
        """Stop looking."""
        looks = self._record.before_event
        if self.look in looks:
            looks.remove(self.look)


class Watched(ABC):
    """What probes share that can read all their rows at any moment: the watch over them."""

    _watch: Watch | None = None

    def open(self, record: Record) -> None:
        """Begin to enter rows into ``record``."""
        self._watch = Watch(record, self._read)

    def rows(self) -> list[Json]:
        """Give all rows of this moment; once opened, a file or table that does not stand yet has none."""
        return standing(self._read) if self._watch else self._read()

    def finish(self) -> None:
        """Enter the last rows; now a file or table that does not stand is Unevaluated."""
        if self._watch:
            self._watch.finish()

    def close(self) -> None:
        """Let go of the record."""
        if self._watch:
            self._watch.close()
            self._watch = None  # which holds a method of ours

    @abstractmethod
    def _read(self) -> list[Json]:
        """Give all rows of this moment, or say in Unevaluated why not."""


def standing(read: Callable[[], list[Json]]) -> list[Json]:
    """Give the rows, none where their file or table does not stand."""
    try:
        return read()
    except Unevaluated as error:
        if error.code != MISSING:
            raise
        return []


def added(before: list[Json], after: list[Json]) -> list[Json]:
    """Give what of ``after`` is not in ``before``, in order; of equal rows, as many as are more.

    >>> added([{"n": 1}], [{"n": 1}, {"n": 1}, {"n": 2}])
    [{'n': 1}, {'n': 2}]
    """
    if after[: len(before)] == before:
        return after[len(before) :]
    old = Counter(map(canonical, before))
    new = []
    for row in after:
        key = canonical(row)
        if old[key]:
            old[key] -= 1
        else:
            new.append(row)
    return new


def located(path: str | Path, folder: Folder) -> Path:
    """Give where a probe's file stands: in the trial's own folder, else in the project; the former when in neither."""
    if folder is None or Path(path).is_absolute():
        return Path(path)
    own = (folder() if callable(folder) else folder) / path
    return Path(path) if Path(path).exists() and not own.exists() else own


def shown(path: str | Path) -> str:
    """Give the path as a message may hold it: an absolute one is of this machine, so only its name is told."""
    return Path(path).name if Path(path).is_absolute() else Path(path).as_posix()
