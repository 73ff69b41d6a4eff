"""What the trials of a case add up to: one finding a claim and code, and the verdict of them all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from invcheck import suite
from invcheck.canonical import digest
from invcheck.exchanges import brief
from invcheck.folders import Folders
from invcheck.sandbox import environ
from invcheck.suite import Case, Check
from invcheck.vocabulary import INVENTED, Finding, Json, Result, Verdict

Key: TypeAlias = tuple[int | None, str, str | None, str | None, str | None]

_MANY = 8
"""How many first trials of findings are run once more, at the most."""


def key(finding: Finding) -> Key:
    """Give what makes two findings of a case the same: the claim, else the code."""
    # of findings of no claim, what was expected tells lanes and asserts apart, and what was wanted the ways out
    apart = finding.got if finding.code == "NETWORK" else finding.expected
    return finding.assertion, finding.code, finding.claim, finding.because, apart if finding.claim is None else None


_KEPT_STATE = "this trial alone does not show it: the app keeps state from one trial to the next; reset it in a setup"


@dataclass(slots=True)
class Tally:
    """Adds up the trials of a case: one finding a claim and code, with its first seed and how many trials showed it."""

    trials: dict[str, int] = field(default_factory=lambda: {verdict.value: 0 for verdict in Verdict})
    found: dict[Key, Finding] = field(default_factory=dict)
    last: dict[Key, int | None] = field(default_factory=dict)
    outputs: set[str | int] = field(default_factory=set)
    calls: dict[str, Json] = field(default_factory=dict)
    replies: dict[str, int] = field(default_factory=dict)
    asked: bool = False

    def add(self, seed: int, verdict: Verdict, findings: tuple[Finding, ...], observation: Json) -> None:
        """Enter one trial."""
        self.trials[verdict.value] += 1
        self.asked = self.asked or bool(observation["calls"])
        text = observation.get("output_text", observation["output"])
        self.outputs.add(hash(text) if type(text) is str else digest(observation["output"]))
        if findings and not self.calls and observation["calls"]:
            self.calls = {"seed": seed, "calls": brief(observation["calls"])}
        for call in observation["calls"]:
            if call["outcome"] is not None:
                kind = call.get("provenance", INVENTED)
                self.replies[kind] = self.replies.get(kind, 0) + 1
        for finding in findings:
            self._enter(replace(finding, seed=seed))

    def across(self, findings: tuple[Finding, ...]) -> None:
        """Enter what the claims across the runs came to."""
        for finding in findings:
            self._enter(finding)

    def seeds(self, *, after: int) -> list[int]:
        """Give the first trials of findings, but for the very first trial, which had nothing before it."""
        seeds = {finding.seed for finding in self.found.values() if finding.seed is not None and finding.verdict is not Verdict.UNJUDGED}
        return sorted(seeds - {after})[:_MANY]

    def again(self, seed: int, keys: Json) -> None:
        """Enter what the trial showed by itself, None where that could not be tried: what it did not show is not its own."""
        for mark, finding in self.found.items():
            if keys is not None and finding.seed == seed and list(mark) not in keys:
                self.found[mark] = replace(finding, alone=False, hint=_KEPT_STATE)

    def _enter(self, finding: Finding) -> None:
        mark = key(finding)
        known = self.found.get(mark)
        if known is None:
            self.found[mark] = finding
        elif self.last[mark] != finding.seed:  # a trial counts once
            self.found[mark] = replace(known, count=known.count + 1)
        self.last[mark] = finding.seed

    def result(self, check: Check, case: Case, seed: int, folders: Folders) -> Result:
        """Give what the case came to: broken over errored over kept; where nothing of the check was judged it is unjudged."""
        findings = tuple(_shown(finding, check, folders) for finding in self.found.values())
        verdicts = {finding.verdict for finding in findings}
        other = Verdict.KEPT if _judged(check, findings) else Verdict.UNJUDGED
        verdict = next((each for each in (Verdict.BROKEN, Verdict.ERRORED) if each in verdicts), other)
        runs = sum(self.trials.values())
        return Result(
            check=check.id,
            case=case.id,
            place=case.place or check.place,
            seed=seed,
            runs=runs,
            trials=self.trials,
            verdict=verdict,
            findings=findings,
            tags=check.tags,
            distinct=len(self.outputs) if runs > 1 else None,
            claims=len(check.claims) + _asserts(check),
            replies=dict(sorted(self.replies.items())),
            extra=self.calls | _hash_seed(),
        )


def _hash_seed() -> dict[str, Json]:
    """The hash seed that a replay needs, where it is not the one that every worker has."""
    seed = os.environ.get(environ.HASH_SEED, environ.FIXED)
    return {} if seed == environ.FIXED else {"hash_seed": seed}


def _judged(check: Check, findings: Iterable[Finding]) -> bool:
    """Whether anything was judged that the check itself claims: a claim, or an assert of its function."""
    left = {finding.assertion for finding in findings if finding.verdict is Verdict.UNJUDGED}
    return not left.issuperset(range(len(check.claims))) or _asserts(check)


def _asserts(check: Check) -> bool:
    """Whether a check's own function asserts, which is one claim more, however many asserts it has."""
    return check.function is not None and suite.asserts(check.function)


def _shown(finding: Finding, check: Check, folders: Folders) -> Finding:
    """A finding with its claim's place, and without any folder of this machine in its texts."""
    place = finding.place
    if place is None and finding.assertion is not None and finding.assertion < len(check.claim_places):
        place = check.claim_places[finding.assertion]
    texts: dict[str, Any] = {
        name: folders.spelt(text) for name in ("message", "path", "expected", "got", "hint") if (text := getattr(finding, name))
    }
    return replace(finding, place=place, **texts)
