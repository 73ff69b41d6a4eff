"""Probes over what lives in the app's own process: a list, a function, log records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from invcheck.errors import Unevaluated
from invcheck.ledger.probe import FAILED, Folder, Watch, Watched
from invcheck.record import Record
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    import logging


class ListProbe:
    """Reads a list to which the app appends its rows; ``list`` is that list, to be given to the app.

    A row is copied when it is first seen, so a later change of the same object shows in ``$.ledger`` and not in the journal.

    >>> usage = ListProbe([])
    >>> usage.list.append({"tokens": 120})
    >>> usage.rows()
    [{'tokens': 120}]
    """

    def __init__(self, items: list[Any]) -> None:
        self.list = items
        self._copies: list[Json] = []
        self._watch: Watch | None = None

    def open(self, record: Record) -> None:
        """Begin to enter rows into ``record``."""
        self._watch = Watch(record, self._copied, lambda: len(self.list) == len(self._copies))

    def rows(self) -> list[Json]:
        """Give a copy of every row, as it is now."""
        return [snapshot(row) for row in self.list]

    def finish(self) -> None:
        """Enter the last rows, with later changes to earlier ones."""
        if self._watch:
            self._watch.look()
            self._watch.finish(self.rows())

    def close(self) -> None:
        """Let go of the record."""
        if self._watch:
            self._watch.close()
            self._watch = None  # which holds a method of ours

    def _copied(self) -> list[Json]:
        copied, number = len(self._copies), len(self.list)
        if copied > number:
            self._copies, copied = [], 0
        if copied < number:
            self._copies.extend([snapshot(row) for row in self.list[copied:]])
        return self._copies


class CallProbe(Watched):
    """Asks a function of the user's; what it gives is the rows when it is a list, else the one row.

    A function with a parameter is given the trial's folder. Whatever it raises is Unevaluated.

    >>> CallProbe(lambda: 100).rows()
    [100]
    """

    def __init__(self, function: Callable[..., object], *, folder: Folder = None) -> None:
        self._function = function
        self._folder = folder

    def _read(self) -> list[Json]:
        try:
            value = self._function(*self._arguments())
        except Exception as error:
            name = getattr(self._function, "__name__", type(self._function).__name__)
            raise Unevaluated(f"{name} raised {type(error).__name__}: {error}", code=FAILED) from error
        plain = snapshot(value)
        return plain if isinstance(plain, list) else [plain]

    def _arguments(self) -> tuple[object, ...]:
        import inspect  # noqa: PLC0415  # a check without such a probe does not pay for it

        asks = any(each.default is each.empty and each.kind in (0, 1) for each in inspect.signature(self._function).parameters.values())
        return ((self._folder() if callable(self._folder) else self._folder),) if asks else ()


class LoggingProbe:
    """Makes a row of every record of a logger that carries extra fields: those fields, or of them the ones named.

    The logger lets INFO through while the probe is open. A record without any of the fields is no row.
    """

    def __init__(self, logger: str, fields: Sequence[str] = ()) -> None:
        self._name = logger
        self._fields = tuple(fields)
        self._rows: list[Json] = []
        self._watch: Watch | None = None
        self._handler: logging.Handler | None = None
        self._level = 0

    def open(self, record: Record) -> None:
        """Begin to listen, and to enter rows into ``record``."""
        import logging  # noqa: PLC0415  # a check without such a probe does not pay for it

        keep = self._keep

        class Listener(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                keep(record)

        self._watch = Watch(record, lambda: self._rows)
        logger = logging.getLogger(self._name)
        self._handler, self._level = Listener(), logger.level
        logger.addHandler(self._handler)
        if not logger.isEnabledFor(logging.INFO):
            logger.setLevel(logging.INFO)

    def rows(self) -> list[Json]:
        """Give the rows heard so far; before `open` nothing is heard, which is Unevaluated."""
        if self._watch is None:
            raise Unevaluated(
                f"log records of {self._name!r} are heard as they happen, so they cannot be a state",
                code=FAILED,
                hint="a logger can be a ledger; a state is a file, a query, a list or a function",
            )
        return list(self._rows)

    def finish(self) -> None:
        """Enter the last rows."""
        if self._watch:
            self._watch.finish()

    def close(self) -> None:
        """Stop listening and give the logger its level back."""
        if self._watch:
            self._watch.close()
        if self._handler:
            import logging  # noqa: PLC0415  # as above

            logger = logging.getLogger(self._name)
            logger.removeHandler(self._handler)
            logger.setLevel(self._level)
            self._handler = None

    def _keep(self, record: logging.LogRecord) -> None:
        given = vars(record)
        names = self._fields or [name for name in given if name not in _standard()]
        row = {name: snapshot(given[name]) for name in names if name in given}
        if row and self._watch:
            self._rows.append(row)
            self._watch.look()


def _standard() -> set[str]:
    """The names that every log record has on this Python."""
    import logging  # noqa: PLC0415  # as above

    return {*vars(logging.makeLogRecord({})), "message", "asctime"}
