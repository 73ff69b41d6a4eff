"""The bytes that are compared: equal for any number of jobs, any shard split, any order, machine and Python version.

They hold no clock, duration, host, absolute path, line number, layer of the gate, nor speech (messages and hints).
Every case stands in a line of its own, so that a change shows as one.
"""

from __future__ import annotations

from invcheck.canonical import canonical
from invcheck.errors import InvcheckError
from invcheck.events import summarise
from invcheck.report.gathered import Report
from invcheck.report.provenance import replayed
from invcheck.vocabulary import Finding, Json, Result

VERSION = 1
"""The version of this form and of the streamed one; it moves when a reader of the old one would go wrong."""


def encode(report: Report) -> bytes:
    """Give the canonical report: one JSON document with sorted keys that ends with a newline."""
    cases = sorted((case.result for case in report.cases), key=lambda result: (result.check, result.case))
    problems = sorted({canonical(_problem(error)) for error in report.problems})
    # an interrupted or stopped run is known by its status alone: how far it came depends on the machine
    status = summarise(cases, report.problems, interrupted=report.summary.interrupted).status
    parts = [
        b'{"cases":' + _lines([canonical(_case(result)) for result in cases]),
        b'"invcheck":' + canonical(VERSION),
        b'"kind":"report"',
        b'"problems":' + _lines(problems),
        b'"seed":' + canonical(report.started.seed),
        b'"status":' + canonical(status) + b"}",
    ]
    return b",\n".join(parts) + b"\n"


def _lines(items: list[bytes]) -> bytes:
    return b"[" + b"".join(b"\n" + item + b"," for item in items)[:-1] + b"\n]" if items else b"[]"


def _case(result: Result) -> Json:
    fields: dict[str, Json] = {
        "case": result.case,
        "check": result.check,
        "findings": [_finding(finding) for finding in result.findings],
        "runs": result.runs,
        "seed": result.seed,
        "tags": sorted(result.tags),
        "trials": {str(verdict): count for verdict, count in result.trials.items() if count},
        "verdict": str(result.verdict),
    }
    if replayed(result):
        fields["replies"] = dict(result.replies)
    if result.allowed:
        fields["allowed"] = list(result.allowed)
    return fields if result.distinct is None else {**fields, "distinct": result.distinct}


def _finding(finding: Finding) -> Json:
    fields = {
        "assertion": finding.assertion,
        "because": finding.because,
        "call": finding.call,
        "claim": finding.claim,
        "code": finding.code,
        "count": finding.count,
        "expected": finding.expected,
        "got": finding.got,
        "path": finding.path,
        "seed": finding.seed,
        "verdict": str(finding.verdict),
    }
    if not finding.alone:
        fields["alone"] = False
    return {key: value for key, value in fields.items() if value is not None}


def _problem(error: InvcheckError) -> Json:
    return {"code": error.code, "file": error.place.file if error.place else None, "message": error.message, "status": error.exit}
