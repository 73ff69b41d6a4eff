"""What a run is asked for and what it tells, as frozen data: the pipeline emits, reports and the terminal consume.

The order is always Started, then Progress, CaseDone and Problem as they come (CaseDone in plan order), then Ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from invcheck.errors import InvcheckError
from invcheck.vocabulary import Place, Result, Verdict

KEPT, BROKEN, USAGE, UNEVALUATED, REFUSED, EMPTY, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
"""The exit statuses; nothing but a broken claim is 1."""

SOFT = "soft"
"""The tier of the gate in which the kernel does not keep a trial off the network."""


def worst(statuses: Iterable[int]) -> int:
    """Give the one status that speaks for all: 1 over 2 over 3 over 4 over 5 over 0, and 130 over every verdict.

    >>> worst([0, 5, 2, 3]), worst([]), worst([1, 130])
    (2, 0, 130)
    """
    seen = set(statuses)
    order = (INTERRUPTED, BROKEN, USAGE, UNEVALUATED, REFUSED, EMPTY)
    return next((status for status in order if status in seen), UNEVALUATED if seen - {KEPT} else KEPT)


def status_of(error: InvcheckError) -> int:
    """Give the status of an error that reached a person: only a claim can be broken, so its 1 is a 3 here.

    >>> status_of(InvcheckError("m"))
    3
    """
    return UNEVALUATED if error.exit == BROKEN else error.exit


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run was asked for, after flags, environment and settings were put together.

    ``paths`` are ``PATH``, ``PATH::name`` or ``PATH::name[case]`` with PATH relative to ``root`` in POSIX spelling;
    ``last_failed`` holds the ids to run again, or None when that was not asked for; ``runs`` replaces every check's
    own number; ``shard`` is (i, n) with i from 1; ``trial_seconds`` is the real time that one trial may take, ``cpu_seconds``
    the processor time, and ``memory`` the bytes that all processes of a worker may hold; ``keep_env``
    names variables that trials get although their names look like a secret's, ``allow`` what every trial may reach.
    ``audit`` asks for each case to be run with everything around it changed, and what shows to be named.
    """

    root: Path
    paths: tuple[str, ...] = ()
    keyword: str | None = None
    tags: tuple[str, ...] = ()
    runs: int | None = None
    seed: int = 0
    jobs: int = 1
    shard: tuple[int, int] | None = None
    fail_fast_after: int | None = None
    last_failed: tuple[str, ...] | None = None
    allow_empty: bool = False
    audit: bool = False
    require_kernel: bool = False
    trial_seconds: float = 60.0
    cpu_seconds: float = 30.0
    memory: int = 4 << 30
    keep_env: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Started:
    """The plan stands: ``selected`` cases of this shard out of ``total`` in the whole plan, whose digest is ``plan``."""

    selected: int
    trials: int
    seed: int
    shard: tuple[int, int] | None
    total: int
    plan: str
    layer: str
    layer_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """So many trials are over, so many of them broken; for the progress line only, it reaches no report."""

    done_trials: int
    broken: int


@dataclass(frozen=True, slots=True)
class CaseDone:
    """One case is judged; ``n`` is its position in the whole plan, from 0, over all shards."""

    n: int
    result: Result


@dataclass(frozen=True, slots=True)
class Problem:
    """Something of the user's could not be used, such as a check file; everything else still runs."""

    error: InvcheckError


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run came to: cases by verdict, trials by verdict, and the exit status that speaks for all.

    ``stopped`` says that ``-x`` or ``--max-failures`` ended it early; ``interrupted`` that a person did.
    """

    cases: int
    kept: int
    broken: int
    errored: int
    unjudged: int
    trials: int
    broken_trials: int
    errored_trials: int
    problems: int
    status: int
    stopped: bool = False
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over; nothing comes after it."""

    summary: Summary


Event: TypeAlias = Started | Progress | CaseDone | Problem | Ended


_STATUS = {Verdict.KEPT: KEPT, Verdict.BROKEN: BROKEN, Verdict.ERRORED: UNEVALUATED, Verdict.UNJUDGED: UNEVALUATED}


def summarise(
    results: Iterable[Result], problems: Iterable[InvcheckError] = (), *, stopped: bool = False, interrupted: bool = False
) -> Summary:
    """Count results and problems into a summary; a case that nothing could be said of is no success (status 3)."""
    cases = dict.fromkeys(Verdict, 0)
    trials = dict.fromkeys(Verdict, 0)
    statuses = [INTERRUPTED] if interrupted else []
    ran = 0
    for result in results:
        cases[result.verdict] += 1
        statuses.append(_STATUS[result.verdict])
        ran += result.runs
        for verdict, count in result.trials.items():
            trials[Verdict(verdict)] += count
    wrong = [status_of(error) for error in problems]
    return Summary(
        cases=sum(cases.values()),
        kept=cases[Verdict.KEPT],
        broken=cases[Verdict.BROKEN],
        errored=cases[Verdict.ERRORED],
        unjudged=cases[Verdict.UNJUDGED],
        trials=ran,
        broken_trials=trials[Verdict.BROKEN],
        errored_trials=trials[Verdict.ERRORED],
        problems=len(wrong),
        status=worst(statuses + wrong),
        stopped=stopped,
        interrupted=interrupted,
    )


@dataclass(frozen=True, slots=True)
class Listed:
    """One case of a listing: its check's id, its own id, where it stands, how often it runs, and its tags."""

    check: str
    case: str
    place: Place
    runs: int
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """What would run, in plan order, and what could not be used."""

    cases: tuple[Listed, ...]
    problems: tuple[InvcheckError, ...] = ()
