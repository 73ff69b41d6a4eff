"""A claim across runs that the check's own runs can never keep is refused when the check is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from invcheck.assertions import Calls, Distinct, SameAcrossRuns
from invcheck.suite import check, declared
from invcheck.suite.checkfile import read_file
from invcheck.suite.declare import forget
from invcheck.suite.enough import too_few

TEXT = """\
check: drift
app: shop:answer
{runs}cases: [{{id: a, input: 1}}]
expect:
  - calls: 1
  - {claim}
"""


@pytest.mark.parametrize(
    ("claim", "runs", "least"),
    [
        ("distinct: {of: $.output, at-least: 100}", 99, 100),
        ("distinct: {of: $.output, at-least: 2}", None, 2),
        ("same-across-runs: $.output", 1, 2),
    ],
)
def test_a_check_file_with_too_few_runs_is_refused(claim: str, runs: int | None, least: int, tmp_path: Path) -> None:
    """The problem stands at the claim and says how many runs it needs; with so many the check is read."""
    given = f"runs: {runs}\n" if runs else ""
    (tmp_path / "a.yaml").write_text(TEXT.format(runs=given, claim=claim), "utf-8")
    checks, problems = read_file(tmp_path, "a.yaml")
    (problem,) = problems
    assert (checks, problem.code, problem.place.line) == ([], "TOO_FEW_RUNS", 6 + bool(runs))
    key = claim.partition(":")[0]
    assert problem.message == f"{key} needs at least {least} runs to be kept, and the check has {runs or 1}"
    assert problem.hint == f"give the check runs: {least} or more"
    (tmp_path / "a.yaml").write_text(TEXT.format(runs=f"runs: {least}\n", claim=claim), "utf-8")
    assert read_file(tmp_path, "a.yaml")[1] == []


def test_a_python_check_with_too_few_runs_is_refused() -> None:
    """In Python as in YAML."""

    @check(runs=3, expect=[Calls(1), Distinct("$.output", at_least=4), SameAcrossRuns("$.calls")])
    def few(trial: Any) -> None: ...

    @check(runs=4, expect=[Distinct("$.output", at_least=4), SameAcrossRuns("$.calls")])
    def enough(trial: Any) -> None: ...

    told = [[(each.code, each.message) for each in (declared(function) or (None, ()))[1]] for function in (few, enough)]
    assert told == [[("TOO_FEW_RUNS", "distinct needs at least 4 runs to be kept, and the check has 3")], []]
    forget(Path(__file__))


def test_a_claim_over_one_trial_needs_one_run() -> None:
    """It is judged in each run by itself."""
    assert too_few(Calls(1), 1) is None
