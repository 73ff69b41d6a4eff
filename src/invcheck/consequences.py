"""Findings that only follow from a mistake of the test itself: of those the app is not accused.

A double that raised, or could not answer as it was told, answers the app as nothing in the world does. What the app made of
that (an error, an output that is no JSON, steps that were not asked for) is unjudged, and the trial errored.
"""

from __future__ import annotations

from collections.abc import Sequence

from invcheck.vocabulary import Finding, Verdict

_FOLLOWING = frozenset({"APP_RAISED", "ASSERT", "OUTPUT_NOT_JSON", "PARSE_FAILED", "SCRIPT_UNUSED", "THREAD_RAISED"})
_AT_WORK = frozenset({"AFTER_RETURN", "CHILDREN_LEFT", "THREADS_LEFT"})
"""What was not waited for may yet ask for a step that is left over; it has changed nothing of what the app did before."""
_APART = frozenset({"CHECK_RAISED", "HISTORY_FORGOTTEN"})
"""What changes nothing of what the app met."""
_AFTERWARDS = ("$.ledger", "$.probes")
"""Where a probe stands that failed once the app was over."""


def settled(findings: Sequence[Finding]) -> list[Finding]:
    """Give the findings with those unjudged, at the end, that follow from an errored one; what is broken by itself stays broken.

    >>> wrong = Finding("DOUBLE_RAISED", Verdict.ERRORED, "the test's own when=<lambda> raised KeyError")
    >>> left = Finding("SCRIPT_UNUSED", Verdict.BROKEN, "1 of 1 step was not used")
    >>> [(each.code, each.verdict.value, each.because) for each in settled([left, wrong])]
    [('DOUBLE_RAISED', 'errored', None), ('UNJUDGED', 'unjudged', 'DOUBLE_RAISED')]
    """
    errored = [each for each in findings if each.verdict is Verdict.ERRORED]
    if not errored:
        return list(findings)
    judged = [(each, _cause(each, errored)) for each in findings]
    own = [each for each, cause in judged if cause is None]
    return own + [_unjudged(each, cause.code) for each, cause in judged if cause is not None]


def _cause(finding: Finding, errored: Sequence[Finding]) -> Finding | None:
    if finding.verdict is not Verdict.BROKEN or finding.assertion is not None or finding.code not in _FOLLOWING:
        return None
    return next((each for each in errored if _explains(each, finding)), None)


def _explains(errored: Finding, finding: Finding) -> bool:
    if errored.assertion is not None or errored.code in _APART or errored.path in _AFTERWARDS:
        return False
    return errored.code not in _AT_WORK or finding.code == "SCRIPT_UNUSED"


def _unjudged(finding: Finding, because: str) -> Finding:
    message = f"{finding.code}: {finding.message}: unjudged because of {because}"
    return Finding("UNJUDGED", Verdict.UNJUDGED, message, claim=finding.code, because=because)
