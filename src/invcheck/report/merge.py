"""Put the shards of one run together again, and refuse whatever does not make a whole."""

from __future__ import annotations

from collections.abc import Sequence

from invcheck.errors import UsageError
from invcheck.events import Ended, Event, Problem, Started, summarise
from invcheck.report.gathered import Report
from invcheck.report.jsonlines import line as json_line


def merge(files: Sequence[tuple[str, Sequence[Event]]]) -> Report:
    """Give one report of the shards' events, in plan order, as if they had been one run.

    Raises UsageError for a shard that is missing, there twice, without its end or interrupted, for different seeds or
    plans, and for cases that are missing or there twice.
    """
    if not files:
        raise UsageError("there is no report to merge", code="MERGE_MISSING")
    reports = [(name, _whole(name, events)) for name, events in files]
    first_name, first = reports[0]
    for name, report in reports[1:]:
        _same(first_name, first.started, name, report.started)
    _every_shard(reports)
    cases = sorted((case for _, report in reports for case in report.cases), key=lambda case: case.n)
    _every_case(reports, [case.n for case in cases])
    problems = tuple({json_line(Problem(error)): error for _, report in reports for error in report.problems}.values())
    stopped = any(report.summary.stopped for _, report in reports)
    summary = summarise([case.result for case in cases], problems, stopped=stopped)
    return Report(_started(reports), tuple(cases), problems, summary)


def _whole(name: str, events: Sequence[Event]) -> Report:
    if not any(isinstance(event, Started) for event in events):
        raise UsageError(f"{name} holds no run", code="MERGE_UNENDED")
    end = events[-1]
    if not isinstance(end, Ended) or sum(isinstance(event, Ended) for event in events) > 1:
        raise UsageError(f"{name} has no end: its run was cut off", code="MERGE_UNENDED", hint="run that shard again")
    if end.summary.interrupted:
        raise UsageError(f"{name} was interrupted", code="MERGE_UNENDED", hint="run that shard again")
    return Report.of(events)


def _same(first: str, one: Started, name: str, other: Started) -> None:
    pairs = (
        ("seeds", str(one.seed), str(other.seed)),
        ("numbers of shards", str((one.shard or (1, 1))[1]), str((other.shard or (1, 1))[1])),
        ("plans", f"{one.plan[:12]}, {one.total} cases", f"{other.plan[:12]}, {other.total} cases"),
    )
    for what, here, there in pairs:
        if here != there:
            raise UsageError(
                f"{first} and {name} have different {what}: {here} against {there}",
                code="MERGE_DIFFERENT",
                hint="shards of one run share their seed, their selection and their check files",
            )


def _every_shard(reports: Sequence[tuple[str, Report]]) -> None:
    places: dict[tuple[int, int], str] = {}
    for name, report in reports:
        shard = report.started.shard or (1, 1)
        if shard in places:
            raise UsageError(f"{places[shard]} and {name} are both shard {shard[0]}/{shard[1]}", code="MERGE_TWICE")
        places[shard] = name
    shards = next(iter(places))[1]
    missing = [f"{i}/{shards}" for i in range(1, shards + 1) if (i, shards) not in places]
    if missing:
        raise UsageError(f"shard {', '.join(missing)} is missing", code="MERGE_MISSING", hint="give the JSON Lines of every shard")


def _every_case(reports: Sequence[tuple[str, Report]], found: Sequence[int]) -> None:
    """Refuse cases that are there twice, and missing ones that neither an early stop nor a problem explains."""
    total = reports[0][1].started.total
    twice = len(found) - len(set(found))
    short = any(report.summary.stopped or report.problems for _, report in reports)
    if twice or set(found) - set(range(total)) or (not short and len(found) < total):
        what = f"{twice} of them twice" if twice else f"{total - len(found)} are missing"
        raise UsageError(f"the shards hold {len(found)} of {total} cases, {what}", code="MERGE_CASES")


def _started(reports: Sequence[tuple[str, Report]]) -> Started:
    starts = [report.started for _, report in reports]
    layers = sorted({started.layer for started in starts})
    reasons = sorted({started.layer_reason for started in starts if started.layer_reason})
    first = starts[0]
    selected, trials = sum(started.selected for started in starts), sum(started.trials for started in starts)
    return Started(selected, trials, first.seed, None, first.total, first.plan, ", ".join(layers), "; ".join(reasons) or None)
