"""JUnit XML in the xunit2 dialect plus ``file``: what GitLab, GitHub's readers and Jenkins take; the door to junitparser.

A suite is a check file, a test case is a case of a check; *failure* is a broken claim, *error* what could not be
judged, *skipped* what stays unjudged. There are no durations: they would differ from run to run.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from invcheck.errors import InvcheckError
from invcheck.report.explain import body, heading, problem, told
from invcheck.report.gathered import Report
from invcheck.report.visible import cut, visible, visible_xml
from invcheck.vocabulary import Finding, Place, Result, Verdict, case_name

BODY_LIMIT = 20_000
"""Code points of one case's text; readers of these files choke on megabytes."""


def encode(report: Report) -> bytes:
    """Give the report as JUnit XML in UTF-8; control characters of any origin are spelled out, as ``#x1B``."""
    import junitparser  # noqa: PLC0415  # only a run that writes this needs it

    whole: Any = junitparser.JUnitXml("invcheck")
    problems = [(error.place.file if error.place else "invcheck", error) for error in report.problems]
    files = sorted({_file(case.result) for case in report.cases} | {file for file, _ in problems})
    results = {file: list(cases) for file, cases in groupby(sorted((case.result for case in report.cases), key=_file), key=_file)}
    for file in files:
        suite = junitparser.TestSuite(visible(file))
        suite.add_property("seed", str(report.started.seed))
        suite.add_testcases([_case(junitparser, result) for result in results.get(file, ())])
        own = [error for where, error in problems if where == file]
        suite.add_testcases([_problem(junitparser, file, n, error) for n, error in enumerate(own, start=1)])
        whole.add_testsuite(suite)
    whole.update_statistics()
    for element in whole._elem.iter():  # noqa: SLF001  # the parser offers no way to leave a duration out
        element.attrib.pop("time", None)
    text: bytes = whole.tostring()
    return b"<?xml version='1.0' encoding='UTF-8'?>\n" + text + b"\n"


def _file(result: Result) -> str:
    """The check's own file, also where its cases stand in another one."""
    return result.check.split("::", 1)[0]


def _case(library: Any, result: Result) -> Any:
    file = _file(result)
    name = case_name(result.check.split("::", 1)[-1], result.case)
    case = _named(library, result.place if result.place.file == file else Place(file), name)
    findings = told(result)
    if result.verdict is Verdict.BROKEN:
        case.result = [_filled(library.Failure, findings, _text(result, findings))]
    elif result.verdict is Verdict.ERRORED:
        case.result = [_filled(library.Error, findings, _text(result, findings))]
    elif result.verdict is Verdict.UNJUDGED:
        case.result = [library.Skipped("nothing could be said of it")]
    return case


def _named(library: Any, place: Place, name: str) -> Any:
    case = library.TestCase(visible(name), visible(place.file))
    case._elem.set("file", visible(place.file))  # noqa: SLF001  # the dialect's extra attribute
    if place.line is not None:
        case._elem.set("line", str(place.line))  # noqa: SLF001  # the dialect's extra attribute
    return case


def _filled(kind: Any, findings: Iterable[Finding], text: str) -> Any:
    first = next(iter(findings), None)
    entry = kind(visible_xml(cut(heading(first), 200)) if first else "", first.code if first else "")
    entry.text = text
    return entry


def _text(result: Result, findings: Iterable[Finding]) -> str:
    lines = []
    for finding in findings:
        lines += [visible_xml(heading(finding)), *(f"  {line}" for line in body(result, finding, visible_xml))]
    return cut("\n".join(lines), BODY_LIMIT) + "\n"


def _problem(library: Any, file: str, n: int, error: InvcheckError) -> Any:
    case = _named(library, error.place or Place(file), f"(cannot be used, {n})")
    entry = library.Error(visible_xml(cut(error.message, 200)), error.code)
    entry.text = cut(visible_xml(problem(error)), BODY_LIMIT) + "\n"
    case.result = [entry]
    return case
