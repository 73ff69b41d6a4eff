"""What only follows from a mistake of the test itself is unjudged; what is broken by itself stays broken."""

from __future__ import annotations

import pytest

from invcheck.assertions import Calls
from invcheck.consequences import settled
from invcheck.vocabulary import Finding, Verdict

FOLLOWING = ["APP_RAISED", "ASSERT", "OUTPUT_NOT_JSON", "PARSE_FAILED", "SCRIPT_UNUSED", "THREAD_RAISED"]
OWN = ["NETWORK", "SCRIPT_EXHAUSTED", "REQUEST_PROTOCOL", "STEP_MISMATCH"]
MISTAKES = [
    "DOUBLE_RAISED",
    "FAULT_UNREACHED",
    "STEP_WAITS",
    "REPLY_INVALID",
    "CHUNKS_DIFFER",
    "LANE_OVERLAP",
    "ASKED_WITHIN",
    "SETUP_RAISED",
]


def _broken(code: str, assertion: int | None = None) -> Finding:
    return Finding(code, Verdict.BROKEN, "said", assertion=assertion, expected="one thing", got="another")


def _errored(code: str, path: str | None = None) -> Finding:
    return Finding(code, Verdict.ERRORED, "raised", path=path)


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("code", FOLLOWING)
def test_what_follows_from_a_mistake_is_unjudged(code: str, mistake: str) -> None:
    """It stands behind the mistake, whichever came first, and names it."""
    cause = _errored(mistake)
    first, left = settled([_broken(code), cause])
    assert first == cause
    assert (left.code, left.verdict, left.claim, left.because) == ("UNJUDGED", Verdict.UNJUDGED, code, mistake)
    assert left.message == f"{code}: said: unjudged because of {mistake}"


@pytest.mark.parametrize("code", OWN)
def test_what_is_broken_by_itself_stays_broken(code: str) -> None:
    """The network, a call too many and a request that no provider takes are the app's doing, whatever else is wrong."""
    findings = [_errored("DOUBLE_RAISED"), _broken(code)]
    assert settled(findings) == findings


@pytest.mark.parametrize("code", FOLLOWING)
def test_without_an_error_nothing_changes(code: str) -> None:
    """Broken findings alone stay what they are."""
    findings = [_broken("SCRIPT_EXHAUSTED"), _broken(code)]
    assert settled(findings) == findings


@pytest.mark.parametrize("errored", [_errored("HISTORY_FORGOTTEN"), _errored("CHECK_RAISED"), _errored("PROBE_FAILED", "$.ledger")])
def test_what_changed_nothing_for_the_app_explains_nothing(errored: Finding) -> None:
    """A memory that was too small and a probe that failed afterwards are no reason why the app raised or asked too little."""
    findings = [errored, *map(_broken, FOLLOWING)]
    assert settled(findings) == findings


@pytest.mark.parametrize("code", ["THREADS_LEFT", "CHILDREN_LEFT", "AFTER_RETURN"])
def test_what_is_still_at_work_explains_unused_steps_alone(code: str) -> None:
    """It may yet ask; that the app raised is another matter."""
    findings = [_errored(code), _broken("APP_RAISED"), _broken("SCRIPT_UNUSED")]
    assert [(each.code, each.claim) for each in settled(findings)] == [(code, None), ("APP_RAISED", None), ("UNJUDGED", "SCRIPT_UNUSED")]


def test_claims_of_a_check_are_left_alone() -> None:
    """They have a rule of their own, and an errored claim explains nothing."""
    claim = Finding("ASSERTION_RAISED", Verdict.ERRORED, "raised", assertion=0, claim=Calls(1).describe())
    findings = [claim, _broken("SCRIPT_UNUSED"), _broken("ASSERT", assertion=1)]
    assert settled(findings) == findings
