"""Shards are put together again, or refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from invcheck.errors import CheckFileError, UsageError
from invcheck.events import CaseDone, Ended, Event, Problem, Started, summarise
from invcheck.report import Report, canonical
from invcheck.report.merge import merge
from invcheck.vocabulary import Place, Result, Verdict

RESULTS = [Result(f"{n}.yaml::x", "c", Place(f"{n}.yaml"), 0, 2, {"kept": 2}, Verdict.KEPT) for n in range(3)]
FIRST, SECOND = "one.jsonl", "two.jsonl"
BOTH = "one.jsonl and two.jsonl"
MISSING = CheckFileError("unknown key", place=Place("bad.yaml", 1))


def shard(part: tuple[int, int] | None, *cases: int, seed: int = 0, plan: str = "p" * 64, total: int = 3, **end: bool) -> list[Event]:
    results = [RESULTS[n] for n in cases]
    started = Started(len(cases), 2 * len(cases), seed, part, total, plan, "K1", None)
    return [started, *(CaseDone(n, RESULTS[n]) for n in cases), Ended(summarise(results, **end))]


def test_shards_merge_into_the_report_of_one_run() -> None:
    """In any order of files, results stand in plan order, and the canonical bytes are those of the run without shards."""
    whole = Report.of(shard(None, 0, 1, 2))
    for files in ([(FIRST, shard((1, 2), 1)), (SECOND, shard((2, 2), 0, 2))], [(SECOND, shard((2, 2), 0, 2)), (FIRST, shard((1, 2), 1))]):
        merged = merge(files)
        assert [case.n for case in merged.cases] == [0, 1, 2]
        assert merged == whole
        assert canonical.encode(merged) == canonical.encode(whole)


def test_one_file_without_shards_is_a_whole() -> None:
    """A run that was not split merges to itself."""
    assert merge([(FIRST, shard(None, 0, 1, 2))]) == Report.of(shard(None, 0, 1, 2))


def test_an_empty_shard_is_a_shard() -> None:
    """A shard that holds no case is needed all the same."""
    assert len(merge([(FIRST, shard((1, 2))), (SECOND, shard((2, 2), 0, 1, 2))]).cases) == 3


def test_problems_of_all_shards_are_told_once() -> None:
    """Every shard reads every file, so each tells of the same problem; cases that it cost are not missed."""
    one, two = shard((1, 2), 1), shard((2, 2), 0)
    merged = merge([(FIRST, [Problem(MISSING), *one]), (SECOND, [Problem(MISSING), *two])])
    assert [problem.message for problem in merged.problems] == ["unknown key"]
    assert (merged.summary.status, merged.summary.problems) == (2, 1)


def test_layers_of_all_shards_are_told() -> None:
    """A merge of runs under different layers names both, with every reason."""
    two = shard((2, 2), 0, 2)
    two[0] = replace(two[0], layer="soft", layer_reason="no unshare")  # type: ignore[type-var]  # the header
    started = merge([(FIRST, shard((1, 2), 1)), (SECOND, two)]).started
    assert (started.layer, started.layer_reason) == ("K1, soft", "no unshare")


def test_an_early_stop_in_one_shard_stops_the_whole() -> None:
    """With -x a shard may end before its last case; the merge says so."""
    assert merge([(FIRST, shard((1, 2), 1)), (SECOND, shard((2, 2), 0, stopped=True))]).summary.stopped


@pytest.mark.parametrize(
    ("files", "message", "code"),
    [
        ([], "there is no report to merge", "MERGE_MISSING"),
        ([(FIRST, shard((1, 3), 1)), (SECOND, shard((3, 3), 0, 2))], "shard 2/3 is missing", "MERGE_MISSING"),
        ([(FIRST, shard((2, 3), 1))], "shard 1/3, 3/3 is missing", "MERGE_MISSING"),
        ([(FIRST, shard((1, 2), 1)), (SECOND, shard((1, 2), 1))], "one.jsonl and two.jsonl are both shard 1/2", "MERGE_TWICE"),
        ([(FIRST, shard(None, 0, 1, 2)), (SECOND, shard(None, 0, 1, 2))], "one.jsonl and two.jsonl are both shard 1/1", "MERGE_TWICE"),
        ([(FIRST, shard((1, 2), 1)[:-1]), (SECOND, shard((2, 2), 0, 2))], "one.jsonl has no end: its run was cut off", "MERGE_UNENDED"),
        ([(FIRST, [*shard((1, 1), 0, 1, 2), Ended(summarise([]))])], "one.jsonl has no end: its run was cut off", "MERGE_UNENDED"),
        ([(FIRST, shard((1, 1), 0, 1, 2, interrupted=True))], "one.jsonl was interrupted", "MERGE_UNENDED"),
        ([(FIRST, [])], "one.jsonl holds no run", "MERGE_UNENDED"),
        (
            [(FIRST, shard((1, 2), 1)), (SECOND, shard((2, 2), 0, 2, seed=1))],
            f"{BOTH} have different seeds: 0 against 1", "MERGE_DIFFERENT",
        ),
        (
            [(FIRST, shard((1, 2), 1)), (SECOND, shard((2, 3), 0, 2))],
            f"{BOTH} have different numbers of shards: 2 against 3", "MERGE_DIFFERENT",
        ),
        (
            [(FIRST, shard((1, 2), 1)), (SECOND, shard((2, 2), 0, 2, plan="q" * 64))],
            f"{BOTH} have different plans: pppppppppppp, 3 cases against qqqqqqqqqqqq, 3 cases",
            "MERGE_DIFFERENT",
        ),
        ([(FIRST, shard((1, 2), 1)), (SECOND, shard((2, 2), 1, 2))], "the shards hold 3 of 3 cases, 1 of them twice", "MERGE_CASES"),
        ([(FIRST, shard((1, 2), 1)), (SECOND, shard((2, 2), 0))], "the shards hold 2 of 3 cases, 1 are missing", "MERGE_CASES"),
    ],
)  # fmt: skip
def test_whatever_does_not_make_a_whole_is_refused(files: list[tuple[str, list[Event]]], message: str, code: str) -> None:
    """A shard that is missing, doubled, unended, interrupted or of another run is a usage error."""
    with pytest.raises(UsageError) as caught:
        merge(files)
    assert (caught.value.message, caught.value.code, caught.value.exit) == (message, code, 2)
