"""The one door to SQLAlchemy: rows of any database that it speaks to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from invcheck.errors import Unevaluated
from invcheck.ledger.probe import FAILED, MISSING, Folder, Watched, located, shown
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

_GONE = ("no such table", "does not exist", "doesn't exist")


class SqlProbe(Watched):
    """Reads a database by its SQLAlchemy URL and a query; whatever the query does is rolled back.

    A relative SQLite file stands in the trial's folder, else in the project. It needs the extra ``invcheck[sql]``.
    """

    def __init__(self, url: str, query: str, *, folder: Folder = None) -> None:
        self._url = url
        self._query = query
        self._folder = folder
        self._engine: Engine | None = None

    def close(self) -> None:
        """Let go of the record and of every connection."""
        super().close()
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    def _read(self) -> list[Json]:
        try:
            import sqlalchemy  # noqa: PLC0415  # 1.4 s that only this probe may cost
        except ImportError as error:
            raise Unevaluated("a ledger of kind sql needs SQLAlchemy", code=FAILED, hint="pip install 'invcheck[sql]'") from error
        try:
            self._engine = self._engine or sqlalchemy.create_engine(self._address(), poolclass=sqlalchemy.NullPool)
            with self._engine.connect() as connection, connection.begin() as transaction:
                rows = connection.execute(sqlalchemy.text(self._query)).mappings().all()
                transaction.rollback()
        except sqlalchemy.exc.SQLAlchemyError as error:
            what = str(getattr(error, "orig", None) or error).split("\n")[0]
            raise Unevaluated(f"the query failed: {what}", code=MISSING if any(each in what for each in _GONE) else FAILED) from error
        return [snapshot(dict(row)) for row in rows]

    def _address(self) -> URL:
        import sqlalchemy  # noqa: PLC0415  # as above

        url = sqlalchemy.make_url(self._url)
        if url.get_backend_name() != "sqlite" or not url.database or url.database == ":memory:":
            return url
        file = located(url.database, self._folder)
        if not Path(file).is_file():  # the driver would make an empty one
            raise Unevaluated(f"{shown(url.database)} does not exist", code=MISSING)
        return url.set(database=str(file))
