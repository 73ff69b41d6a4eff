"""A run as JSON Lines: a header, a line for each case and each problem as they come, and an end.

Every line is complete when it is written, so a run that is killed leaves a valid prefix; what has no end was cut off.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from typing import Any

from invcheck import errors, results
from invcheck.canonical import canonical
from invcheck.errors import InvcheckError, UsageError
from invcheck.events import CaseDone, Ended, Event, Problem, Progress, Started, Summary
from invcheck.report.canonical import VERSION
from invcheck.report.gathered import Report
from invcheck.vocabulary import Json, Place


def line(event: Event) -> str | None:
    """Give an event as one line that ends with a newline, or None where it is not for the record."""
    if isinstance(event, Progress):
        return None
    return canonical(_plain(event)).decode() + "\n"


def _plain(event: Started | CaseDone | Problem | Ended) -> Json:
    if isinstance(event, Started):
        return {"kind": "run", "invcheck": VERSION, **_fields(event)}
    if isinstance(event, CaseDone):
        return {"kind": "case", "n": event.n, **results.plain(event.result)}
    if isinstance(event, Problem):
        error = event.error
        place = _fields(error.place) if error.place else None
        return _some(
            {
                "kind": "problem",
                "type": type(error).__name__,
                "code": error.code,
                "message": error.message,
                "hint": error.hint,
                "place": place,
            }
        )
    return {"kind": "end", **_fields(event.summary)}


def _fields(value: Any) -> dict[str, Json]:
    return _some({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})


def _some(fields: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in fields.items() if value is not None}


def read(lines: Iterable[str], name: str) -> Iterator[Event]:
    """Give the events that a stream of lines holds; ``name`` is the file's name for errors.

    Raises UsageError, code REPORT_FILE, with the line's number for a line that is cut off or is none of ours.
    """
    for number, text in enumerate(lines, start=1):
        try:
            yield _event(text)
        except (UsageError, KeyError, TypeError, ValueError) as error:
            what = error.message if isinstance(error, InvcheckError) else "this is no line of a run's report"
            raise UsageError(what, code="REPORT_FILE", place=Place(name, number)) from error


def _event(text: str) -> Event:
    if not text.endswith("\n"):
        raise UsageError("the line is cut off", code="REPORT_FILE")
    fields = dict(json.loads(text))  # our own text: halves of surrogate pairs that a case showed are told as they were
    kind = fields.pop("kind")
    if kind == "run":
        if fields.pop("invcheck") != VERSION:
            raise UsageError(f"this report has another version than {VERSION}")
        shard = fields.pop("shard", None)
        return Started(**fields, shard=None if shard is None else (int(shard[0]), int(shard[1])))
    if kind == "case":
        return CaseDone(fields.pop("n"), results.build(fields))
    if kind == "problem":
        return Problem(_error(fields))
    if kind == "end":
        return Ended(Summary(**fields))
    raise UsageError(f"a line of kind {kind!r} is none of ours")


def _error(fields: dict[str, Json]) -> InvcheckError:
    place, kind = fields.pop("place", None), getattr(errors, fields.pop("type"), InvcheckError)
    error: InvcheckError = kind(fields["message"], code=fields["code"], hint=fields.get("hint"), place=Place(**place) if place else None)
    return error


def encode(report: Report) -> bytes:
    """Give a whole report in the form in which a run is streamed: header, problems, cases, end."""
    problems: list[Event] = [Problem(error) for error in report.problems]
    events = [report.started, *problems, *report.cases, Ended(report.summary)]
    return "".join(text for event in events if (text := line(event))).encode()
