"""Probes: what they see, when it is entered in the record, and what they refuse."""

from __future__ import annotations

import logging
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.errors import Unevaluated, UsageError
from invcheck.ledger import CallProbe, JsonLinesProbe, ListProbe, LoggingProbe, Probe, SqliteProbe, SqlProbe, probe
from invcheck.ledger.probe import added
from invcheck.record import Record
from invcheck.vocabulary import Json

QUERY = "SELECT feature, tokens FROM usage ORDER BY id"


def write(file: Path, *tokens: int) -> None:
    """Append rows to a usage ledger in SQLite, as an app would."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE IF NOT EXISTS usage (id INTEGER PRIMARY KEY, feature TEXT, tokens INTEGER)")
        connection.executemany("INSERT INTO usage (feature, tokens) VALUES ('qa', ?)", [(each,) for each in tokens])


def qa(tokens: int) -> Json:
    """The row that `write` makes of a number."""
    return {"feature": "qa", "tokens": tokens}


def kinds(record: Record) -> list[str]:
    """The kinds of the journal's entries, in order."""
    return [str(entry["kind"]) for entry in record.journal]


@pytest.fixture
def record() -> Record:
    """A fresh record."""
    return Record()


# the order of rows and other events


def test_a_row_stands_between_the_events_around_it(record: Record, tmp_path: Path) -> None:
    """What the app wrote between two events is entered between them; what it wrote last, at the end."""
    usage = SqliteProbe("usage.sqlite", QUERY, folder=tmp_path)
    usage.open(record)
    record.note("call", n=0)
    write(tmp_path / "usage.sqlite", 1)
    record.note("call", n=1)
    write(tmp_path / "usage.sqlite", 2, 3)
    usage.finish()
    usage.close()
    assert kinds(record) == ["call", "row", "call", "row", "row"]
    assert record.ledger == [qa(1), qa(2), qa(3)]


def test_rows_from_before_are_not_the_apps(record: Record, tmp_path: Path) -> None:
    """Rows that stand when the probe is opened are neither in the journal nor in the ledger."""
    write(tmp_path / "usage.sqlite", 1, 2)
    usage = SqliteProbe(tmp_path / "usage.sqlite", QUERY)
    usage.open(record)
    record.wait(1)
    write(tmp_path / "usage.sqlite", 2)
    usage.finish()
    assert kinds(record) == ["wait", "row"]
    assert record.ledger == [qa(2)]
    assert usage.rows() == [qa(1), qa(2), qa(2)]


def test_a_changed_row_shows_in_the_ledger(record: Record, tmp_path: Path) -> None:
    """A row that is settled later stands twice in the journal and once, as it ended, in the ledger."""
    usage = SqliteProbe(tmp_path / "usage.sqlite", QUERY)
    usage.open(record)
    write(tmp_path / "usage.sqlite", 1, 5)
    record.wait(1)
    with closing(sqlite3.connect(tmp_path / "usage.sqlite")) as connection, connection:
        connection.execute("UPDATE usage SET tokens = 2 WHERE tokens = 1")
    usage.finish()
    assert [entry["row"] for entry in record.journal if entry["kind"] == "row"] == [qa(1), qa(5), qa(2)]
    assert record.ledger == [qa(2), qa(5)]


def test_a_closed_probe_looks_no_more(record: Record) -> None:
    """After close nothing is entered; closing twice is nothing."""
    usage = ListProbe([])
    usage.open(record)
    usage.close()
    usage.close()
    usage.list.append("late")
    record.wait(1)
    assert kinds(record) == ["wait"]


def test_looking_may_itself_cause_events(record: Record) -> None:
    """A state function that waits is not asked again because of its own wait."""
    asked: list[int] = []

    def state() -> list[int]:
        asked.append(1)
        record.wait(0)
        return [7]

    every = CallProbe(state)
    every.open(record)
    record.wait(1)
    assert record.waits == [0, 1, 0]
    assert len(asked) == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: ListProbe([]),
        lambda: CallProbe(lambda: 1),
        lambda: LoggingProbe("shop.none"),
        lambda: SqliteProbe("x", QUERY),
        lambda: JsonLinesProbe("x"),
        lambda: SqlProbe("sqlite:///x", QUERY),
    ],
)
def test_every_probe_is_one(make: Callable[[], Probe], record: Record) -> None:
    """Each satisfies the Protocol; finish and close before open are nothing; after open a source that is absent has no rows."""
    each = make()
    assert isinstance(each, Probe)
    each.finish()
    each.close()
    each.open(record)
    assert each.rows() in ([], [1])
    each.close()


@given(st.lists(st.integers(0, 3)), st.lists(st.integers(0, 3)))
def test_added_is_what_is_more(before: list[int], more: list[int]) -> None:
    """Whatever order rows come in, what is added is what the multiset gained; appended rows come back as they are."""
    assert added(before, before + more) == more
    assert sorted(added(before, more + before)) == sorted(more)


# lists


def test_a_list_row_is_copied_when_seen(record: Record) -> None:
    """A later change of the same object shows in the ledger, not in the journal."""
    usage = ListProbe([{"n": 0}])
    usage.open(record)
    usage.list.append({"n": 1, "cost": Decimal("0.10"), "day": date(2030, 1, 1), "raw": b"\x00"})
    record.wait(1)
    usage.list[1]["n"] = 2
    usage.finish()
    assert record.journal[0] == {"kind": "row", "row": {"n": 1, "cost": "0.10", "day": "2030-01-01", "raw": {"$bytes": "AA=="}}}
    assert [row["n"] for row in record.ledger] == [2]


def test_appended_rows_are_the_ledger(record: Record) -> None:
    """Rows that nobody changes stand in the journal and in the ledger alike."""
    usage = ListProbe(["old"])
    usage.open(record)
    usage.list.append("a")
    record.wait(1)
    usage.list.append("b")
    usage.finish()
    assert (kinds(record), record.ledger) == (["row", "wait", "row"], ["a", "b"])


def test_a_list_may_shrink(record: Record) -> None:
    """Rows that the app took out again are not in the ledger; the journal keeps that they were there."""
    usage = ListProbe([])
    usage.open(record)
    usage.list += ["a", "b"]
    record.wait(1)
    usage.list.clear()
    record.wait(1)
    usage.list.append("c")
    usage.finish()
    assert [entry.get("row") for entry in record.journal] == ["a", "b", None, None, "c"]
    assert record.ledger == ["c"]


# functions


def test_a_function_gives_rows_or_one_value(tmp_path: Path) -> None:
    """A list is the rows, anything else the one row; a parameter is given the folder."""
    assert CallProbe(lambda: [1, 2]).rows() == [1, 2]
    assert CallProbe(lambda: {"used": 100}).rows() == [{"used": 100}]
    assert CallProbe(lambda folder: folder.name, folder=lambda: tmp_path).rows() == [tmp_path.name]
    assert CallProbe(lambda folder: folder.name, folder=tmp_path).rows() == [tmp_path.name]
    assert CallProbe(lambda folder=None: folder, folder=tmp_path).rows() == [None]


def test_a_function_that_raises_is_told(record: Record) -> None:
    """Its error is Unevaluated at the end, and none of the app's in the middle."""
    broken = False

    def state() -> list[int]:
        if broken:
            raise ValueError("no")
        return []

    every = CallProbe(state)
    every.open(record)
    broken = True
    record.wait(1)
    with pytest.raises(Unevaluated, match="state raised ValueError: no"):
        every.finish()
    with pytest.raises(Unevaluated):
        CallProbe(state).open(record)


# SQLite


def test_a_sqlite_file_may_come_late_but_must_come(record: Record, tmp_path: Path) -> None:
    """No file, then no table, are no rows yet; at the end each is told. Never opened, a state must stand at once."""
    usage = SqliteProbe("usage.sqlite", QUERY, folder=tmp_path)
    with pytest.raises(Unevaluated, match=r"usage\.sqlite does not exist"):
        usage.rows()
    usage.open(record)
    assert usage.rows() == []
    record.wait(1)
    with pytest.raises(Unevaluated, match=r"usage\.sqlite does not exist"):
        usage.finish()
    sqlite3.connect(tmp_path / "usage.sqlite").close()
    (tmp_path / "usage.sqlite").touch()
    assert usage.rows() == []
    with pytest.raises(Unevaluated, match="no such table: usage"):
        usage.finish()
    assert list(tmp_path.iterdir()) == [tmp_path / "usage.sqlite"]


def test_an_uncommitted_row_is_not_seen(record: Record, tmp_path: Path) -> None:
    """Only what is committed is a row, and reading never holds the app up."""
    write(tmp_path / "usage.sqlite")
    usage = SqliteProbe("usage.sqlite", QUERY, folder=lambda: tmp_path)
    usage.open(record)
    with closing(sqlite3.connect(tmp_path / "usage.sqlite", isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("INSERT INTO usage (feature, tokens) VALUES ('qa', 1)")
        record.wait(1)
        with pytest.raises(Unevaluated, match="locked") as told:
            usage.finish()
        assert "commit before it returns" in str(told.value)
        connection.execute("COMMIT")
    usage.finish()
    assert kinds(record) == ["wait", "row"]


@pytest.mark.parametrize("query", ["SELECT", "SELECT nothing FROM usage", "DELETE FROM usage", "SELECT 1; SELECT 2"])
def test_a_query_that_fails_or_writes_is_refused(query: str, record: Record, tmp_path: Path) -> None:
    """The connection is read-only, a wrong query is an error with the file's name and without its folder."""
    write(tmp_path / "usage.sqlite", 1)
    with pytest.raises(Unevaluated, match=r"^usage\.sqlite: "):
        SqliteProbe(tmp_path / "usage.sqlite", query).open(record)
    assert SqliteProbe(tmp_path / "usage.sqlite", QUERY).rows() == [qa(1)]


def test_wal_files_are_read(record: Record, tmp_path: Path) -> None:
    """A database in write-ahead mode is read while the app holds it open."""
    with closing(sqlite3.connect(tmp_path / "usage.sqlite")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        usage = SqliteProbe("usage.sqlite", QUERY, folder=tmp_path)
        usage.open(record)
        write(tmp_path / "usage.sqlite", 1)
        record.wait(1)
    assert record.ledger == [qa(1)]


def test_the_trials_folder_comes_before_the_project(record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is the trial's file, else the project's."""
    own = tmp_path / "trial"
    own.mkdir()
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "usage.sqlite", 1)
    usage = SqliteProbe("usage.sqlite", QUERY, folder=own)
    assert usage.rows() == [qa(1)]
    write(own / "usage.sqlite", 2)
    assert usage.rows() == [qa(2)]


# JSON Lines


def test_json_lines_are_rows_once_they_end(record: Record, tmp_path: Path) -> None:
    """A line is a row when its line feed is written; the last may lack it at the end."""
    file = tmp_path / "usage.jsonl"
    usage = JsonLinesProbe("usage.jsonl", folder=tmp_path)
    usage.open(record)
    assert usage.rows() == []
    file.write_text('{"n": 1}\n{"n": ')
    record.wait(1)
    assert record.ledger == [{"n": 1}]
    file.write_text('{"n": 1}\n{"n": 2}')
    usage.finish()
    assert record.ledger == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'{"n": 1}\n{"n": 2', r"usage\.jsonl:2: .*truncated"),
        (b'{"n": 1}\n\n{"n": 2}\n', r"usage\.jsonl:2: the text is empty"),
        (b'{"n": 1, "n": 2}\n', r"usage\.jsonl:1: the key \"n\" stands twice"),
        (b'{"n": NaN}\n', r"usage\.jsonl:1: NaN"),
        (b'"\xff"\n', r"usage\.jsonl:1: the line is not UTF-8"),
    ],
)
def test_a_bad_line_is_named(data: bytes, told: str, record: Record, tmp_path: Path) -> None:
    """Strict lines: cut, blank, twice the same key, NaN, not UTF-8, each with its number."""
    usage = JsonLinesProbe("usage.jsonl", folder=tmp_path)
    usage.open(record)
    (tmp_path / "usage.jsonl").write_bytes(data)
    record.wait(1)
    with pytest.raises(Unevaluated, match=told):
        usage.finish()


def test_a_json_lines_file_must_come(record: Record, tmp_path: Path) -> None:
    """A file that never came is told."""
    usage = JsonLinesProbe("usage.jsonl", folder=tmp_path)
    usage.open(record)
    with pytest.raises(Unevaluated, match="does not exist"):
        usage.finish()


# logging


def test_log_records_with_extra_fields_are_rows(record: Record) -> None:
    """Every extra field by default; a record without any is no row; INFO comes through, and the level comes back."""
    logger = logging.getLogger("shop.usage")
    logger.setLevel(logging.WARNING)
    usage = LoggingProbe("shop.usage")
    usage.open(record)
    logger.info("served", extra={"tokens": 120, "at": datetime(2030, 1, 1, tzinfo=UTC)})
    record.wait(1)
    logger.info("nothing of ours")
    logger.warning("also %s", "served", extra={"tokens": 7})
    usage.finish()
    usage.close()
    usage.close()
    logger.info("late", extra={"tokens": 9})
    assert kinds(record) == ["row", "wait", "row"]
    assert record.ledger == [{"tokens": 120, "at": "2030-01-01T00:00:00+00:00"}, {"tokens": 7}]
    assert (logger.level, logger.handlers) == (logging.WARNING, [])


def test_named_fields_are_taken(record: Record) -> None:
    """Named fields may be standard ones; a logger that is loud already keeps its level while it is heard."""
    logger = logging.getLogger("shop.loud")
    logger.setLevel(logging.DEBUG)
    usage = LoggingProbe("shop.loud", ["levelname", "tokens"])
    usage.open(record)
    assert logger.level == logging.DEBUG
    logger.debug("served", extra={"tokens": 1, "model": "m"})
    logger.debug("served")
    usage.close()
    logger.setLevel(logging.NOTSET)
    assert usage.rows() == [{"levelname": "DEBUG", "tokens": 1}, {"levelname": "DEBUG"}]


def test_a_log_is_no_state() -> None:
    """Records cannot be read before they were listened for."""
    with pytest.raises(Unevaluated, match="cannot be a state"):
        LoggingProbe("shop").rows()


# SQLAlchemy


def test_any_database_by_its_address(record: Record, tmp_path: Path) -> None:
    """Rows through SQLAlchemy; what the query does is rolled back, and no empty file is made."""
    usage = SqlProbe("sqlite:///usage.sqlite", QUERY, folder=tmp_path)
    with pytest.raises(Unevaluated, match=r"usage\.sqlite does not exist"):
        usage.rows()
    usage.open(record)
    assert usage.rows() == []
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / "usage.sqlite", 1)
    usage.finish()
    assert record.ledger == [qa(1)]
    usage.close()
    usage.close()
    with pytest.raises(Unevaluated, match="no such table: other"):
        SqlProbe("sqlite:///usage.sqlite", "SELECT * FROM other", folder=tmp_path).rows()
    SqlProbe("sqlite:///usage.sqlite", "DELETE FROM usage RETURNING id", folder=tmp_path).rows()
    assert usage.rows() == [qa(1)]
    usage.close()


def test_a_database_in_memory_is_empty() -> None:
    """An address without a file is left as it is."""
    assert SqlProbe("sqlite://", "SELECT 1 AS one").rows() == [{"one": 1}]


def test_sqlalchemy_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without SQLAlchemy the message says what to install."""
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(Unevaluated, match=r"invcheck\[sql\]"):
        SqlProbe("sqlite://", "SELECT 1").rows()


# from a check file


def found(name: str) -> object:
    """What the names of these tests stand for."""
    return {"shop:rows": [{"n": 1}], "shop:count": lambda: 3, "shop:text": "no"}[name]


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ({"sqlite": "u.sqlite", "query": QUERY}, SqliteProbe),
        ({"sql": "sqlite://", "query": QUERY}, SqlProbe),
        ({"jsonl": "u.jsonl"}, JsonLinesProbe),
        ({"logging": "shop"}, LoggingProbe),
        ({"logging": "shop", "fields": ["tokens"]}, LoggingProbe),
        ({"list": "shop:rows"}, ListProbe),
        ({"call": "shop:count"}, CallProbe),
        ("shop:count", CallProbe),
        (lambda: 3, CallProbe),
    ],
)
def test_a_spec_names_its_probe(spec: Any, kind: type, tmp_path: Path) -> None:
    """Every kind that a check file can name."""
    assert type(probe(spec, tmp=tmp_path, load=found)) is kind


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"sqlit": "u"}, "did you mean sqlite"),
        ({"zzz": "u"}, "there are: call, jsonl, list, logging, sql, sqlite"),
        ({}, "unknown kind"),
        ({"sqlite": "u", "jsonl": "v"}, "one kind, got sqlite and jsonl"),
        ({"sqlite": "u"}, "needs 'query'"),
        ({"sqlite": "u", "query": 1}, "query must be text"),
        ({"jsonl": 1}, "jsonl must be text"),
        ({"jsonl": "u", "query": "q"}, "unknown key 'query'"),
        ({"logging": "a", "field": ["x"]}, "did you mean fields"),
        ({"logging": "a", "fields": "x"}, "list of names"),
        ({"list": "shop:count"}, "not a list"),
        ({"call": "shop:text"}, "not a function"),
        (5, "a probe is a mapping"),
    ],
)
def test_a_wrong_spec_is_refused(spec: Json, told: str, tmp_path: Path) -> None:
    """Whatever names no probe is a usage error that says what was meant."""
    with pytest.raises(UsageError, match=told):
        probe(spec, tmp=tmp_path, load=found)
