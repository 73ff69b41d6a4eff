"""One run that shows everything a report has to speak of."""

from __future__ import annotations

import pytest

from invcheck.errors import CheckFileError
from invcheck.events import CaseDone, Ended, Event, Problem, Progress, Started, summarise
from invcheck.report import Report
from invcheck.vocabulary import Finding, Place, Result, Verdict

QA = Place("checks/qa.yaml", 1, 1)

SUBSET = Finding(
    code="SUBSET", verdict=Verdict.BROKEN, message="a cited id was never retrieved",
    claim="subset: of=$.output.cites[*] in=$.input.doc_ids[*]",
    path="$.output.cites[1]", expected='one of ["d1", "d2"]', got='"d9"', call="call 1 of 1", place=Place("checks/qa.yaml", 14, 5),
    hint="retrieve it first", assertion=2, seed=137, count=3,
)  # fmt: skip
DISTINCT = Finding(
    code="DISTINCT", verdict=Verdict.BROKEN, message="", claim="distinct: of=$.output_text at-least=100",
    path="$.output_text", expected="at least 100 distinct values", got="1", assertion=5,
)  # fmt: skip
RAISED = Finding(code="APP_RAISED", verdict=Verdict.ERRORED, message="the app raised ValueError: no\nin shop/qa.py, answer", seed=4)
UNJUDGED = Finding(code="UNJUDGED", verdict=Verdict.UNJUDGED, message="the output could not be parsed", claim="fields: of=$.output", seed=4)

BROKEN = Result(
    "checks/qa.yaml::answers", "refund", QA, 0, 200, {"kept": 197, "broken": 3, "errored": 0}, Verdict.BROKEN, (SUBSET, DISTINCT),
    tags=("slow", "qa"), distinct=1, extra={"note": [1]},
)  # fmt: skip
KEPT = Result("checks/qa.yaml::answers", "1e5", QA, 0, 200, {"kept": 200}, Verdict.KEPT, distinct=134)
ERRORED = Result(
    "checks/check_日本.py::作る", "a|b", Place("checks/check_日本.py", 3), 0, 1, {"errored": 1}, Verdict.ERRORED, (RAISED, UNJUDGED)
)
PROBLEM = CheckFileError("unknown key 'expct'", place=Place("checks/bad.yaml", 2, 1), hint="did you mean 'expect'?")


@pytest.fixture
def events() -> list[Event]:
    results = [BROKEN, KEPT, ERRORED]
    return [
        Problem(PROBLEM),
        Started(3, 401, 0, None, 3, "9" * 64, "K1", None),
        Progress(200, 3),
        *(CaseDone(n, result) for n, result in enumerate(results)),
        Ended(summarise(results, [PROBLEM])),
    ]


@pytest.fixture
def report(events: list[Event]) -> Report:
    return Report.of(events)
