"""What GitHub Actions shows beside the code: annotations, and a fence that keeps a model's text from giving orders."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from posixpath import join, normpath

from invcheck.errors import InvcheckError
from invcheck.report.explain import body, heading, name, told
from invcheck.report.gathered import Report
from invcheck.report.reach import warnings
from invcheck.report.visible import cut, visible
from invcheck.vocabulary import Finding, Place, Result, Verdict

SHOWN = 9
"""Annotations of one kind that are shown per step are ten: nine, and one that counts the rest."""

_LIMIT = 4_000


def encode(report: Report, *, prefix: str = "") -> str:
    """Give one ``::error`` line for each of the worst findings: broken ones first, then errored, then problems; then warnings.

    ``prefix`` is the project's folder in the repository. No text of any origin can end its line or begin a command.
    """
    found = [(case.result, finding) for case in report.cases for finding in told(case.result)]
    worst = [_finding(result, finding, prefix) for result, finding in found if finding.verdict is Verdict.BROKEN]
    worst += [_finding(result, finding, prefix) for result, finding in found if finding.verdict is Verdict.ERRORED]
    worst += [_problem(error, prefix) for error in report.problems]
    if len(worst) > SHOWN:
        left = len(worst) - SHOWN
        worst = [*worst[:SHOWN], command(None, prefix, "invcheck", f"{left} more: see the log or the step summary")]
    reaching = [command(None, prefix, "invcheck", text, level="warning") for text in warnings([case.result for case in report.cases])]
    return "".join(line + "\n" for line in [*worst, *reaching])


def _finding(result: Result, finding: Finding, prefix: str) -> str:
    text = "\n".join([visible(heading(finding)), *body(result, finding)])
    return command(finding.place or result.place, prefix, name(result), text)


def _problem(error: InvcheckError, prefix: str) -> str:
    hint = f"\nhint: {error.hint}" if error.hint else ""
    return command(error.place, prefix, error.code, "\n".join(map(visible, f"{error.message}{hint}".split("\n"))))


def command(place: Place | None, prefix: str, title: str, message: str, *, level: str = "error") -> str:
    r"""Give one workflow command, escaped as its reader unescapes it.

    >>> command(Place("a,b.yaml", 3), "sub", "50 %", "one\n::two")
    '::error file=sub/a%2Cb.yaml,line=3,title=50 %25::one%0A::two'
    """
    properties = [f"{key}={_property(str(value))}" for key, value in _where(place, prefix)]
    return f"::{level} {','.join([*properties, f'title={_property(visible(title))}'])}::{_data(cut(message, _LIMIT))}"


def _where(place: Place | None, prefix: str) -> Iterator[tuple[str, str | int]]:
    if place is not None:
        yield "file", visible(normpath(join(prefix, place.file)))
        if place.line is not None:
            yield "line", place.line
        if place.column is not None:
            yield "col", place.column


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def fenced(text: str) -> str:
    """Give the text between marks that switch workflow commands off; the mark is the text's own digest.

    No text can hold its own digest, so nothing in it can switch them on again, and equal runs print equal bytes.
    """
    mark = sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
    return f"::stop-commands::{mark}\n{text}::{mark}::\n"
