"""Adding up the trials of a case: what its calls were answered with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from invcheck import Case, Equals, Trial, Verdict
from invcheck.folders import Folders
from invcheck.suite.entries import Check
from invcheck.tally import Tally
from invcheck.vocabulary import Place


def call(state: str, **fields: Any) -> dict[str, Any]:
    """One entry of ``$.calls``."""
    return {"state": state, "outcome": None, "error": None, "request": {"prompt": "a"}, **fields}


CALLS = [
    call("served", outcome={"text": "a"}, provenance="recorded"),
    call("failed", outcome={"fault": "timeout"}, provenance="hand-written"),
    call("served", outcome={"text": "b"}),
    call("cancelled", provenance="recorded"),
    call("refused"),
]


def test_answered_calls_count_by_where_their_replies_come_from() -> None:
    """Served and failed ones of all trials; what was cancelled or refused was answered with nothing."""
    tally = Tally()
    for seed in range(2):
        tally.add(seed, Verdict.KEPT, (), {"calls": CALLS, "output": None})
    assert tally.replies == {"recorded": 2, "hand-written": 2, "invented": 2}


def plain(trial: Trial) -> None:
    """A check of claims alone."""


def asserting(trial: Trial) -> None:
    """A check that asserts as well, twice."""
    assert trial.case
    assert trial.seed >= 0


@pytest.mark.parametrize(("function", "claims"), [(plain, 2), (asserting, 3)])
def test_the_asserts_of_a_function_are_one_claim_more(function: Any, claims: int) -> None:
    """However many there are: which of them were passed is not known."""
    made = Check(
        name="x", file="a.py", place=Place("a.py"), cases=(Case("1"),), function=function, claims=(Equals("$.a", 1), Equals("$.b", 1))
    )
    tally = Tally()
    tally.add(0, Verdict.KEPT, (), {"calls": CALLS, "output": None})
    result = tally.result(made, made.cases[0], 0, Folders(Path("project"), Path("temp")))
    assert (result.claims, list(result.replies)) == (claims, ["hand-written", "invented", "recorded"])
