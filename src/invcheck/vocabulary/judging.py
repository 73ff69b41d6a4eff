"""What is said of claims: verdicts, findings and results, each with where it stands in a user's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from invcheck.vocabulary.plain import Json


class Verdict(StrEnum):
    """What can be said of a claim, a trial or a case.

    *Kept* and *broken* are decided; *errored* could not be judged because code raised; *unjudged* is moot, because an
    earlier cause already explains it.
    """

    KEPT = "kept"
    BROKEN = "broken"
    ERRORED = "errored"
    UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a user's file: a path relative to the project, line and column from 1."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


def spot(place: Place | None) -> Json:
    """Give a place as plain JSON, for `placed`.

    >>> placed(spot(Place("checks/a.yaml", 3))), placed(spot(None))
    (Place(file='checks/a.yaml', line=3, column=None), None)
    """
    return None if place is None else [place.file, place.line, place.column]


def placed(given: Json) -> Place | None:
    """Give the place that `spot` described."""
    return None if given is None else Place(*given)


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken, errored or unjudged claim, ready to be shown: what was expected, what was found, and where.

    ``expected`` and ``got`` are short texts made from JSON; ``path`` is a normalised JSONPath into the observation;
    ``call`` is spoken ("call 3 of 2"); ``assertion`` is the claim's index in its check, None for implied claims;
    ``seed`` is the first trial that showed it, ``count`` how many trials of the case did; ``alone`` is False where that
    trial does not show it without the trials before it, whose state the app has kept. An unjudged claim names in
    ``because`` what explains it: the other finding's claim, or its code where that has none.
    """

    code: str
    verdict: Verdict
    message: str
    claim: str | None = None
    path: str | None = None
    expected: str | None = None
    got: str | None = None
    call: str | None = None
    place: Place | None = None
    hint: str | None = None
    assertion: int | None = None
    seed: int | None = None
    count: int = 1
    because: str | None = None
    alone: bool = True


RECORDED, INVENTED = "recorded", "invented"
"""Where a reply comes from: once from a real model, or from no recording at all, as a script's and a drifting double's do."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a case of a check came to: counts of trials by verdict and the findings, first seeds first.

    ``runs`` counts the trials that were run, ``claims`` what the check claims of each, and ``replies`` what the calls of all
    trials were answered with: by the kind of provenance that their recordings have, else as INVENTED. ``allowed`` is what
    they could reach although the network was cut. ``extra`` is for people and enters no compared bytes: ``seed`` and ``calls``
    of the first trial with a finding.
    """

    check: str
    case: str
    place: Place
    seed: int
    runs: int
    trials: Mapping[str, int]
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    tags: tuple[str, ...] = ()
    distinct: int | None = None
    claims: int = 0
    replies: Mapping[str, int] = field(default_factory=dict)
    allowed: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)


def case_name(check: str, case: str) -> str:
    """Give the name of a case of a check, as it is printed, selected and remembered.

    >>> case_name("checks/qa.yaml::answers", "refund")
    'checks/qa.yaml::answers[refund]'
    """
    return f"{check}[{case}]"
