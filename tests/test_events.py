"""What a run tells, and the status that speaks for it."""

from __future__ import annotations

from itertools import permutations

import pytest

from invcheck.errors import CheckFileError, InvcheckError, NotJson, Refused
from invcheck.events import summarise, worst
from invcheck.vocabulary import Place, Result, Verdict


def result(verdict: Verdict, **trials: int) -> Result:
    return Result("a.yaml::c", verdict.value, Place("a.yaml"), 0, sum(trials.values()), trials, verdict)


def test_one_status_speaks_for_all_in_the_order_of_the_manual() -> None:
    """1 over 2 over 3 over 4 over 5 over 0, whatever the order they come in; 130 over all; an unknown one is 3."""
    order = [130, 1, 2, 3, 4, 5, 0]
    for first, second in permutations(order, 2):
        assert worst([first, second]) == order[min(order.index(first), order.index(second))]
    assert (worst([]), worst([77]), worst([77, 0])) == (0, 3, 3)


@pytest.mark.parametrize(
    ("verdicts", "problems", "status"),
    [
        ([], [], 0),
        ([Verdict.KEPT], [], 0),
        ([Verdict.KEPT, Verdict.BROKEN], [], 1),
        ([Verdict.ERRORED, Verdict.BROKEN], [CheckFileError("x")], 1),
        ([Verdict.ERRORED], [CheckFileError("x")], 2),
        ([Verdict.ERRORED], [Refused("x")], 3),
        ([Verdict.KEPT], [Refused("x")], 4),
        ([Verdict.UNJUDGED], [], 3),
        ([], [NotJson("x")], 3),
    ],
)
def test_a_runs_status(verdicts: list[Verdict], problems: list[InvcheckError], status: int) -> None:
    """Only a broken claim gives 1: a problem never does, and a case of which nothing could be said is no success."""
    assert summarise([result(verdict) for verdict in verdicts], problems).status == status


def test_an_interrupted_run_is_130_whatever_it_found() -> None:
    """An interrupt speaks over every verdict."""
    assert summarise([result(Verdict.BROKEN)], interrupted=True).status == 130


def test_a_summary_counts_cases_and_trials() -> None:
    """Cases by their own verdict, trials by theirs."""
    results = [
        result(Verdict.BROKEN, kept=7, broken=2, errored=1),
        result(Verdict.KEPT, kept=10),
        result(Verdict.ERRORED, errored=3),
        result(Verdict.UNJUDGED, unjudged=1),
    ]
    total = summarise(results, [CheckFileError("x")], stopped=True)
    assert (total.cases, total.kept, total.broken, total.errored, total.unjudged) == (4, 1, 1, 1, 1)
    assert (total.trials, total.broken_trials, total.errored_trials, total.problems) == (24, 2, 4, 1)
    assert total.stopped
    assert not total.interrupted
