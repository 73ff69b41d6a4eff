"""The cases of a YAML check: written in it, or rows of a JSON Lines or CSV file beside it."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from invcheck.errors import CheckFileError, NotJson
from invcheck.jsontext import loads
from invcheck.suite.entries import ROW, Case, stranger
from invcheck.vocabulary import Json, Place
from invcheck.yamltext import decode

if TYPE_CHECKING:
    from invcheck.suite.mistakes import At, Mistakes

_SHOWN = 20
"""How many wrong rows of one file are told one by one."""


def cases(spec: Json, at: At, root: Path, mistakes: Mistakes) -> tuple[Case, ...]:
    """Give the cases that ``spec`` (already of the right shape) names; what is wrong goes to ``mistakes``.

    A row of a file is ``{id, input}``, or else the input itself: its ``id`` is taken out and names the case, the line
    number does where there is none. Every value of a CSV row is a text.
    """
    found: list[Case] | None
    if isinstance(spec, list):
        found = [
            Case(str(_given(item.get("id"), index + 1)), item.get("input"), mistakes.place((*at, index))) for index, item in enumerate(spec)
        ]
    else:
        kind, name = next(iter(spec.items()))
        found = _from_file(kind, name, (*at, kind), root, mistakes)
        if found is None:
            return ()
    if not found:
        mistakes.add("NO_CASE", "the check has no case", at, hint="a check without a case would prove nothing")
    for case in found:
        if case.fault:
            mistakes.found.append(
                CheckFileError(case.fault, code="WRONG_TYPE", place=case.place, hint="leave it out where its number will do")
            )
    _unique(found, mistakes)
    return tuple(found)


def _given(name: Json, number: int) -> Json:
    return number if name is None else name


def _from_file(kind: str, name: str, at: At, root: Path, mistakes: Mistakes) -> list[Case] | None:
    """The rows of a data file; None where the file itself is the mistake, or one of its rows."""
    path = (root / PurePosixPath(mistakes.file).parent / name).resolve()
    if not path.is_relative_to(root.resolve()):
        mistakes.add("OUTSIDE_PROJECT", f"{name!r} lies outside of the project", at, hint="data files stand in the project's folder")
        return None
    if not path.is_file():
        mistakes.add("MISSING_FILE", f"there is no file {name!r}", at, hint="the name is relative to the check file")
        return None
    file = path.relative_to(root.resolve()).as_posix()
    wrong: list[CheckFileError] = []
    try:
        text = decode(path.read_bytes(), file)
    except CheckFileError as error:
        mistakes.found.append(error)
        mistakes.add("NOT_UTF8", f"{file} cannot be read", at)
        return None
    except OSError as error:
        mistakes.add("UNREADABLE_FILE", f"{file} cannot be read: {error.strerror}", at)
        return None
    rows = _json_lines(text, file, wrong) if kind == "jsonl" else _csv(text, file, wrong)
    found = [_row(row, place, wrong) for row, place in rows]
    if wrong:
        mistakes.found += wrong[:_SHOWN]
        first = f" (the first {_SHOWN} are told)" if len(wrong) > _SHOWN else ""
        mistakes.add("ROW_INVALID", f"{len(wrong)} {'rows' if len(wrong) > 1 else 'row'} of {file} cannot be read{first}", at)
    return None if wrong else found


def _row(row: Json, place: Place, wrong: list[CheckFileError]) -> Case:
    line = place.line or 0
    if isinstance(row, Mapping) and (strange := stranger(row)) is not None:
        wrong.append(CheckFileError(f"line {line}: unknown key {strange!r}", code="UNKNOWN_KEY", place=place, hint=ROW))
    if not isinstance(row, Mapping):
        return Case(str(line), row, place)
    name = row.get("id") if isinstance(row.get("id"), str | int) and not isinstance(row.get("id"), bool) else None
    rest = row if name is None else {key: value for key, value in row.items() if key != "id"}
    value = rest["input"] if rest.keys() == {"input"} else dict(rest)
    return Case(str(_given(name, line)), value, place)


def _json_lines(text: str, file: str, wrong: list[CheckFileError]) -> Iterator[tuple[Json, Place]]:
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        cut = number == len(lines)  # whole files end with a line break
        try:
            row = loads(line.rstrip("\r"))
        except NotJson as error:
            hint = "the file looks cut off: its last line has no end" if cut else "each line holds one JSON value"
            column = error.fields.get("column") or 1
            wrong.append(
                CheckFileError(f"line {number}: {error.message}", code="ROW_INVALID", place=Place(file, number, column), hint=hint)
            )
            continue
        if cut and type(row) in (int, float):
            message, hint = f"line {number}: the number may be cut off", "end the last line with a line break"
            wrong.append(CheckFileError(message, code="ROW_INVALID", place=Place(file, number, 1), hint=hint))
        else:
            yield row, Place(file, number, 1)


def _csv(text: str, file: str, wrong: list[CheckFileError]) -> Iterator[tuple[Json, Place]]:
    if "\0" in text:
        before = text[: text.index("\0")]
        place = Place(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
        wrong.append(CheckFileError(f"line {place.line}: this is no CSV: it holds a NUL", code="ROW_INVALID", place=place))
        return
    # not splitlines, for which a form feed or U+2028 in a value would be a line's end
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    while True:
        place = Place(file, reader.line_num + 1, 1)
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            wrong.append(CheckFileError(f"line {place.line}: this is no CSV: {error}", code="ROW_INVALID", place=place))
            return
        if not row:
            continue
        if header is None:
            header = row
            fault = _header_fault(header)
            if fault:
                wrong.append(CheckFileError(fault, code="ROW_INVALID", place=place, hint="the first row names the columns"))
                return
        elif len(row) != len(header):
            message = f"line {place.line}: {len(row)} values for {len(header)} columns"
            wrong.append(CheckFileError(message, code="ROW_INVALID", place=place, hint="quote a value that holds a comma"))
        else:
            yield dict(zip(header, row, strict=True)), place


def _header_fault(header: list[str]) -> str | None:
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        return f"the column {twice[0]!r} stands twice"
    return "a column has no name" if not all(name.strip() for name in header) else None


def _unique(found: list[Case], mistakes: Mistakes) -> None:
    first: dict[str, Case] = {}
    for case in found:
        if case.id in first:
            known = first[case.id].place
            mistakes.found.append(
                CheckFileError(
                    f"the case id {case.id!r} stands twice: first at {known}",
                    code="DUPLICATE_NAME",
                    place=case.place,
                    hint="each case needs an id of its own",
                )
            )
        first.setdefault(case.id, case)
