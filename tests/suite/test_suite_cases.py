"""Cases in files: each row is one, and a row that cannot be read is told with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from invcheck.suite import Case
from invcheck.suite.checkfile import read_file
from invcheck.vocabulary import Place


def read(root: Path, spec: str, rows: str | bytes = "", name: str = "rows") -> tuple[tuple[Case, ...], list[str]]:
    """Read the cases of a check beside a data file: cases, and mistakes as CODE place."""
    (root / "checks").mkdir(exist_ok=True)
    data = rows.encode() if isinstance(rows, str) else rows
    (root / "checks" / name).write_bytes(data)
    (root / "checks" / "a.yaml").write_text(
        f"check: a\napp: a:b\nexpect: [calls: 1]\ncases: {{{spec}}}\n".replace("[calls: 1]", "[{calls: 1}]")
    )
    checks, errors = read_file(root, "checks/a.yaml")
    return (checks[0].cases if checks else ()), [f"{error.code} {error.place}" for error in errors]


def plain(cases: tuple[Case, ...]) -> list[tuple[str, object]]:
    """Give id and input of each case."""
    return [(case.id, case.input) for case in cases]


def test_a_json_lines_row_is_a_case(tmp_path: Path) -> None:
    """It is {id, input}, or the input itself with its id taken out; the line names a row without one."""
    rows = (
        '{"id": "a", "input": {"q": 1}}\n\n{"id": 70, "q": 2}\r\n{"q": 3}\n{"input": [1]}\n"text"\n{"id": null, "q": 4}\n{"id": true}\n[5]'
    )
    cases, mistakes = read(tmp_path, "jsonl: rows", rows)
    assert mistakes == []
    assert plain(cases) == [
        ("a", {"q": 1}),
        ("70", {"q": 2}),
        ("4", {"q": 3}),
        ("5", [1]),
        ("6", "text"),
        ("7", {"id": None, "q": 4}),
        ("8", {"id": True}),
        ("9", [5]),
    ]


def test_a_csv_row_is_a_case_of_texts(tmp_path: Path) -> None:
    """The first row names the columns; quotes may hold commas and line breaks; an empty line is no row."""
    cases, mistakes = read(tmp_path, "csv: rows", 'id,question,n\r\na,"How, then?",1\n\nb,"two\nlines",\n')
    assert mistakes == []
    assert plain(cases) == [("a", {"question": "How, then?", "n": "1"}), ("b", {"question": "two\nlines", "n": ""})]
    assert [case.place for case in cases] == [Place("checks/rows", 2, 1), Place("checks/rows", 4, 1)]
    assert plain(read(tmp_path, "csv: rows", "\ufeffquestion\nWhy?\n")[0]) == [("2", {"question": "Why?"})]


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"])
def test_only_line_breaks_end_a_row_of_csv(tmp_path: Path, mark: str) -> None:
    """RFC 4180 knows CR LF; what Unicode or Python calls a line's end too is a character of the value."""
    cases, mistakes = read(tmp_path, "csv: rows", f'id,q\nx,a{mark}b\r\ny,"c\r\nd{mark}"\n')
    assert mistakes == []
    assert plain(cases) == [("x", {"q": f"a{mark}b"}), ("y", {"q": f"c\r\nd{mark}"})]
    assert [case.place for case in cases] == [Place("checks/rows", 2, 1), Place("checks/rows", 3, 1)]


@pytest.mark.parametrize("last", ["1", "12.5", "-3e7", " 4 "])
def test_a_number_at_the_end_may_be_cut_off(tmp_path: Path, last: str) -> None:
    """A number does not say where it ends: without its line break it may be the beginning of another one."""
    _, mistakes = read(tmp_path, "jsonl: rows", f"7\n{last}")
    assert mistakes == ["ROW_INVALID checks/a.yaml:4:16", "ROW_INVALID checks/rows:2:1"]
    assert "may be cut off" in read_file(tmp_path, "checks/a.yaml")[1][1].message
    assert plain(read(tmp_path, "jsonl: rows", f"7\n{last}\n")[0])[0] == ("1", 7)
    assert plain(read(tmp_path, "jsonl: rows", '7\n{"q": 1}')[0]) == [("1", 7), ("2", {"q": 1})]


def test_a_data_file_without_rights_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs its own check only."""

    def read_bytes(path: Path) -> bytes:
        if path.name == "rows":
            raise PermissionError(13, "Permission denied")
        return b"check: a\napp: a:b\nexpect: [{calls: 1}]\ncases: {jsonl: rows}\n"

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    assert read(tmp_path, "jsonl: rows", "1\n") == ((), ["UNREADABLE_FILE checks/a.yaml:4:16"])


@pytest.mark.parametrize("empty", ["", " ", "\t", "a\nb"])
def test_an_id_is_a_text_of_one_line(tmp_path: Path, empty: str) -> None:
    """A case is selected and reported by its id, so it has to be something: in the check, in a row, in a column."""
    spelled = json.dumps(empty)
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "b.yaml").write_text(f"check: a\napp: a:b\nexpect: [{{calls: 1}}]\ncases: [{{id: {spelled}, input: 1}}]\n")
    errors = read_file(tmp_path, "checks/b.yaml")[1]
    assert [f"{error.code} {error.place}" for error in errors] == ["WRONG_TYPE checks/b.yaml:4:9"]
    assert errors[0].message.startswith("a case's id must be a text of one line that is not empty, got ")
    assert read(tmp_path, "jsonl: rows", f'{{"id": {spelled}, "q": 1}}\n')[1] == ["WRONG_TYPE checks/rows:1:1"]
    assert read(tmp_path, "csv: rows", f'id,q\n"{empty}",1\n')[1] == ["WRONG_TYPE checks/rows:2:1"]


@pytest.mark.parametrize(
    ("spec", "rows", "expected"),
    [
        ("csv: rows", "a\nx\0y\n", ["ROW_INVALID checks/a.yaml:4:14", "ROW_INVALID checks/rows:2:2"]),
        ("jsonl: nope", "", ["MISSING_FILE checks/a.yaml:4:16"]),
        ("csv: ''", "", ["MISSING_FILE checks/a.yaml:4:14"]),
        ("jsonl: ../../rows", "", ["OUTSIDE_PROJECT checks/a.yaml:4:16"]),
        ("jsonl: rows", "", ["NO_CASE checks/a.yaml:4:8"]),
        ("csv: rows", "a,b\n", ["NO_CASE checks/a.yaml:4:8"]),
        ("csv: rows", "", ["NO_CASE checks/a.yaml:4:8"]),
        ("jsonl: rows", '{"q": 1}\n{"q": ', ["ROW_INVALID checks/a.yaml:4:16", "ROW_INVALID checks/rows:2:1"]),
        ("jsonl: rows", '{"q": 1, "q": 2}\n', ["ROW_INVALID checks/a.yaml:4:16", "ROW_INVALID checks/rows:1:1"]),
        ("jsonl: rows", "1\nx\n3 4\n", ["ROW_INVALID checks/a.yaml:4:16", "ROW_INVALID checks/rows:2:1", "ROW_INVALID checks/rows:3:3"]),
        (
            "csv: rows",
            "a,b\n1\n1,2\n1,2,3\n",
            ["ROW_INVALID checks/a.yaml:4:14", "ROW_INVALID checks/rows:2:1", "ROW_INVALID checks/rows:4:1"],
        ),
        ("csv: rows", "a,a\n1,2\n", ["ROW_INVALID checks/a.yaml:4:14", "ROW_INVALID checks/rows:1:1"]),
        ("csv: rows", "a, \n1,2\n", ["ROW_INVALID checks/a.yaml:4:14", "ROW_INVALID checks/rows:1:1"]),
        ("csv: rows", 'a\n"b" c\n', ["ROW_INVALID checks/a.yaml:4:14", "ROW_INVALID checks/rows:2:1"]),
        ("jsonl: rows", b"\xff", ["NOT_UTF8 checks/a.yaml:4:16", "NOT_UTF8 checks/rows:1:1"]),
        ("jsonl: rows", '{"id": "a"}\n{"id": "a"}\n', ["DUPLICATE_NAME checks/rows:2:1"]),
        ("jsonl: rows", '{"id": 2}\n{}\n', ["DUPLICATE_NAME checks/rows:2:1"]),
        ("jsonl: rows, csv: rows", "", ["UNKNOWN_KEY checks/a.yaml:4:22"]),
        ("jsonl: 5", "", ["WRONG_TYPE checks/a.yaml:4:16"]),
    ],
)
def test_a_data_file_that_cannot_be_read_is_told(tmp_path: Path, spec: str, rows: str | bytes, expected: list[str]) -> None:
    """Every wrong row with its line, and the check that needs the file."""
    cases, mistakes = read(tmp_path, spec, rows)
    assert mistakes == expected
    assert cases == ()


def test_a_file_that_is_cut_off_says_so(tmp_path: Path) -> None:
    """The last line without an end is the commonest defect of a log."""
    read(tmp_path, "jsonl: rows", '{"q": 1}\n{"q": ')
    errors = read_file(tmp_path, "checks/a.yaml")[1]
    assert str(errors[1]) == "checks/rows:2:1: line 2: this is no JSON\n  hint: the file looks cut off: its last line has no end"
    assert errors[0].message == "1 row of checks/rows cannot be read"


def test_a_file_full_of_wrong_rows_is_told_in_part(tmp_path: Path) -> None:
    """Twenty rows one by one, the rest as a number."""
    _, mistakes = read(tmp_path, "jsonl: rows", "x\n" * 50)
    assert len(mistakes) == 21
    assert read_file(tmp_path, "checks/a.yaml")[1][0].message == "50 rows of checks/rows cannot be read (the first 20 are told)"


def test_the_name_is_relative_to_the_check_file(tmp_path: Path) -> None:
    """A folder above is fine as long as it is the project's."""
    (tmp_path / "rows.jsonl").write_text("1\n")
    assert plain(read(tmp_path, "jsonl: ../rows.jsonl")[0]) == [("1", 1)]
