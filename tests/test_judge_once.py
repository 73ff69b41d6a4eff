"""A claim is asked once for each trial, whatever it answers the second time; what is not judged is told."""

from __future__ import annotations

from typing import Any

import pytest

from invcheck import Calls, Each, Equals, Implies, IsJson, Length, Not, Predicate, Raises, SameAcrossRuns
from invcheck._judge import Judge
from invcheck.assertions.breaks import Break
from invcheck.assertions.claim import Claim
from invcheck.vocabulary import Finding, Json, Verdict

OBSERVATION: dict[str, Any] = {"output": "{}", "error": None, "breaches": [], "counts": {"attempted": 1}, "items": [1]}
RAISED = {"type": "TypeError", "message": "no", "where": "shop/qa.py:answer"}


class Answers:
    """A function of a user's that answers another thing each time it is asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, value: Json) -> object:
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        if isinstance(answer, BaseException):
            raise answer
        return answer


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        ((True, False), Verdict.KEPT),
        ((False, True), Verdict.BROKEN),
        ((ValueError("no"), True), Verdict.ERRORED),
        ((True, ValueError("no")), Verdict.KEPT),
        ((5, True), Verdict.ERRORED),
    ],
)
@pytest.mark.parametrize("inside", [lambda claim: claim, lambda claim: Each("$.items", claim), lambda claim: Implies(Calls(1), claim)])
@pytest.mark.parametrize("beside", [(), (Calls(1),), (Calls(9),)])
def test_the_first_answer_counts(answers: tuple[Any, ...], verdict: Verdict, inside: Any, beside: tuple[Claim, ...]) -> None:
    """A function with a memory, or one that raises once, is asked once for each trial, alone and inside of another claim."""
    function = Answers(*answers)
    judge = Judge([*beside, inside(Predicate(function))])
    _, findings = judge.trial(OBSERVATION)
    told = [finding.verdict for finding in findings if finding.assertion == len(beside)]
    assert (told or [Verdict.KEPT]) == [verdict]
    assert function.asked == 1


def test_runs_are_judged_once_too() -> None:
    """The claims across runs know what a run's own claims came to without asking them again."""
    function = Answers(True, False)
    judge = Judge([Predicate(function), SameAcrossRuns("$.output")])
    across = judge.start()
    assert across.trial(0, OBSERVATION) == (Verdict.KEPT, ())
    assert function.asked == 1
    assert [finding.verdict for finding in across.trial(1, OBSERVATION)[1]] == [Verdict.BROKEN]
    assert function.asked == 2
    assert across.finish() == ()


def test_rows_are_asked_once(tmp_path: Any) -> None:
    """A recorded row is no reason to ask twice either."""
    function = Answers(False, True)
    (tmp_path / "rows.jsonl").write_text('{"output": 1}\n')
    (row,) = Judge([Predicate(function)]).rows(tmp_path / "rows.jsonl")
    assert (row.verdict, function.asked) == (Verdict.BROKEN, 1)


def test_what_a_structure_settles_is_not_asked() -> None:
    """A claim without a fused form is not asked below a broken structure, and one that was surely kept is unjudged there."""
    function = Answers(True)
    judge = Judge([IsJson("$.output"), Predicate(function, of="$.output"), Length("$.output", min=1), Calls(1)])
    _, findings = judge.trial({**OBSERVATION, "output": "oops"})
    assert [(finding.code, finding.assertion) for finding in findings] == [("SYNTAX", 0), ("UNJUDGED", 1), ("UNJUDGED", 2)]
    assert function.asked == 0


# an expected error


@pytest.mark.parametrize(
    "claim",
    [
        Implies(Raises("PromptTooLong", calls=1), Equals("$.output", None)),
        Implies(Calls(9), Raises("PromptTooLong", calls=1)),
        Each("$.items", Implies(Raises("PromptTooLong", calls=1), Calls(1)), allow_empty=True),
    ],
)
def test_a_nested_raises_expects_its_own_error_only(claim: Claim) -> None:
    """An error that no inner `raises` is kept by is a finding of its own."""
    document = {**OBSERVATION, "output": None, "error": RAISED, "items": []}
    verdict, findings = Judge([claim]).trial(document)
    assert verdict is Verdict.BROKEN
    assert findings[0].code == "APP_RAISED"
    judge = Judge([Implies(Raises("TypeError", calls=1), Equals("$.output", None))])
    assert judge.trial(document) == (Verdict.KEPT, ())
    assert [finding.code for finding in Judge([Not(Raises("KeyError", calls=1))]).trial(document)[1]] == ["APP_RAISED"]


# fewer runs


def test_fewer_runs_leave_claims_across_them_unjudged() -> None:
    """With fewer runs than the check asks for, what is claimed over all of them is told as unjudged."""
    across = Judge([Calls(1), SameAcrossRuns("$.output")]).start()
    across.trial(0, OBSERVATION)
    (finding,) = across.finish(complete=False)
    assert (finding.code, finding.verdict, finding.assertion) == ("UNJUDGED", Verdict.UNJUDGED, 1)
    assert finding.because == "fewer runs than the check asks for"
    assert finding.message == "same-across-runs: $.output: unjudged because of fewer runs than the check asks for"


class Settled(Claim):
    """A claim of the tests that is always broken."""

    key = "settled"

    def each(self, document: Json) -> Break | None:
        return Break("$.output", "another", "this")


def test_latched_findings_do_not_stop_the_others() -> None:
    """With a latched finding every claim is asked, once."""
    function = Answers(False, True)
    latched = Finding("SCRIPT_EXHAUSTED", Verdict.BROKEN, "call 2 of 1")
    _, findings = Judge([Predicate(function), Settled()]).trial(OBSERVATION, [latched])
    assert [finding.code for finding in findings] == ["SCRIPT_EXHAUSTED", "PREDICATE", "SETTLED"]
    assert function.asked == 1
