"""A whole run in hand: what every report but the streamed one is made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from invcheck.errors import InvcheckError
from invcheck.events import CaseDone, Ended, Event, Problem, Started, Summary, summarise


@dataclass(frozen=True, slots=True)
class Report:
    """One run from start to end: results in plan order, and what could not be used."""

    started: Started
    cases: tuple[CaseDone, ...]
    problems: tuple[InvcheckError, ...]
    summary: Summary

    @classmethod
    def of(cls, events: Iterable[Event]) -> Report:
        """Gather a run's events; one that was cut off before its end is summed up as interrupted.

        A run that never came to a plan (every file unreadable) is one of no cases, from seed 0.
        """
        started, ended = Started(0, 0, 0, None, 0, "", ""), None
        cases: list[CaseDone] = []
        problems: list[InvcheckError] = []
        for event in events:
            if isinstance(event, Started):
                started = event
            elif isinstance(event, CaseDone):
                cases.append(event)
            elif isinstance(event, Problem):
                problems.append(event.error)
            elif isinstance(event, Ended):
                ended = event.summary
        results = [case.result for case in cases]
        return cls(started, tuple(cases), tuple(problems), ended or summarise(results, problems, interrupted=True))
