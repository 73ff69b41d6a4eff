"""The plan: which cases run, with which seeds, in which shard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck import _plan
from invcheck.assertions import Calls
from invcheck.errors import NothingSelected, UsageError
from invcheck.events import Listed, RunOptions, Started
from invcheck.suite import Case, Check
from invcheck.vocabulary import Place


def check(file: str, name: str, *cases: str, runs: int = 1, tags: tuple[str, ...] = ()) -> Check:
    return Check(name, file, Place(file, 1, 1), tuple(Case(case) for case in cases), app="app:answer", runs=runs, tags=tags)


CHECKS = [
    check("checks/qa.yaml", "answers cite sources", "refund", "invoice", runs=200, tags=("slow", "qa")),
    check("checks/qa.yaml", "plain [text]", "a[0]", tags=("qa",)),
    check("checks/deep/check_triage.py", "labels", "billing", tags=("triage",)),
]
ALL = [
    "checks/qa.yaml::answers cite sources[refund]",
    "checks/qa.yaml::answers cite sources[invoice]",
    "checks/qa.yaml::plain [text][a[0]]",
    "checks/deep/check_triage.py::labels[billing]",
]
OPTIONS = RunOptions(Path("/project"))


def ids(options: RunOptions, checks: list[Check] = CHECKS) -> list[str]:
    return [unit.id for unit in _plan.plan(checks, options).units]


@pytest.mark.parametrize(
    ("paths", "wanted"),
    [
        ((), [0, 1, 2, 3]),
        ((".",), [0, 1, 2, 3]),
        (("checks",), [0, 1, 2, 3]),
        (("checks/",), [0, 1, 2, 3]),
        (("checks/deep",), [3]),
        (("checks/qa.yaml",), [0, 1, 2]),
        (("checks/qa.yaml::answers cite sources",), [0, 1]),
        (("checks/qa.yaml::answers cite sources[invoice]",), [1]),
        (("checks/qa.yaml::plain [text]",), [2]),
        (("checks/qa.yaml::plain [text][a[0]]",), [2]),
        (("checks/deep/check_triage.py", "checks/qa.yaml::plain [text]"), [2, 3]),
    ],
)
def test_selectors_name_folders_files_checks_and_cases(paths: tuple[str, ...], wanted: list[int]) -> None:
    """PATH, PATH::name and PATH::name[case] select, also where names hold blanks and brackets; the plan's order stays."""
    assert ids(replace(OPTIONS, paths=paths)) == [ALL[i] for i in wanted]


def test_a_name_that_is_another_names_beginning_selects_itself_alone() -> None:
    """A folder is no prefix of letters: checks/qa does not select checks/qa.yaml."""
    plan = _plan.plan(CHECKS, replace(OPTIONS, paths=("checks/qa",)))
    assert plan.units == ()
    assert [problem.code for problem in plan.problems] == ["UNKNOWN_SELECTOR"]


@pytest.mark.parametrize(
    ("selector", "message", "hint"),
    [
        ("checks/qq.yaml", "'checks/qq.yaml' names no check file", "did you mean 'checks/qa.yaml'?"),
        (
            "checks/qa.yaml::answers cite source",
            "'checks/qa.yaml::answers cite source' names no check or case",
            "did you mean 'checks/qa.yaml::answers cite sources'?",
        ),
        (
            "checks/qa.yaml::answers cite sources[refnd]",
            "'checks/qa.yaml::answers cite sources[refnd]' names no check or case",
            "did you mean 'checks/qa.yaml::answers cite sources[refund]'?",
        ),
        ("zzz", "'zzz' names no check file", "`invcheck list` shows every name"),
    ],
)
def test_a_selector_that_names_nothing_is_a_problem_and_the_rest_still_runs(selector: str, message: str, hint: str) -> None:
    """A wrong name is told with the nearest right one, and loses none of the other cases."""
    plan = _plan.plan(CHECKS, replace(OPTIONS, paths=(selector, "checks/deep")))
    (problem,) = plan.problems
    assert isinstance(problem, UsageError)
    assert (problem.message, problem.hint, problem.exit) == (message, hint, 2)
    assert [unit.id for unit in plan.units] == ALL[3:]


def test_a_selector_of_a_file_that_could_not_be_loaded_is_no_second_problem() -> None:
    """The file's own error explains why nothing of it is there."""
    options = replace(OPTIONS, paths=("checks/broken.yaml::x", "checks/qa.yaml"))
    plan = _plan.plan(CHECKS, options, unread={"checks/broken.yaml"})
    assert plan.problems == ()
    assert len(plan.units) == 3
    assert _plan.plan([], replace(OPTIONS, paths=("bad",)), unread={"bad/a.yaml"}).problems == ()


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"keyword": "refund or labels"}, [0, 3]),
        ({"tags": ("qa",)}, [0, 1, 2]),
        ({"tags": ("triage", "slow")}, [0, 1, 3]),
        ({"tags": ("qa",), "keyword": "not refund"}, [1, 2]),
        ({"last_failed": (ALL[2], "gone::x[y]")}, [2]),
    ],
)
def test_filters_narrow_the_selection(change: dict[str, object], wanted: list[int]) -> None:
    """Words, tags (any of them) and what failed last each narrow what the others leave."""
    assert ids(replace(OPTIONS, **change)) == [ALL[i] for i in wanted]  # type: ignore[arg-type]  # one field each


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        ({"keyword": "nope"}, "no case is left of 4 after -k 'nope'", "`invcheck list` shows every name"),
        ({"tags": ("nope",)}, "no case is left of 4 after --tag nope", "the tags here are qa, slow, triage"),
        (
            {"keyword": "labels", "tags": ("qa",)},
            "no case is left of 4 after -k 'labels' and --tag qa",
            "the tags here are qa, slow, triage",
        ),
        ({"last_failed": ()}, "no case is left of 4 after --last-failed", "nothing failed in the last run"),
    ],
)
def test_an_empty_selection_is_refused_with_what_emptied_it(change: dict[str, object], message: str, hint: str) -> None:
    """A selection of nothing is status 5 and names the filters."""
    with pytest.raises(NothingSelected) as caught:
        _plan.plan(CHECKS, replace(OPTIONS, **change))  # type: ignore[arg-type]  # one field each
    assert (caught.value.message, caught.value.hint, caught.value.exit) == (message, hint, 5)


def test_a_project_without_checks_is_an_empty_selection() -> None:
    """No check at all is status 5, also where its folder was named."""
    with pytest.raises(NothingSelected, match="there is no case to run"):
        _plan.plan([], replace(OPTIONS, paths=("checks",)))


def test_an_empty_selection_can_be_allowed() -> None:
    """With allow_empty a plan of nothing is a plan."""
    plan = _plan.plan(CHECKS, replace(OPTIONS, keyword="nope", allow_empty=True))
    assert (plan.units, plan.total) == ((), 0)


def test_runs_and_seeds() -> None:
    """Each check keeps its own runs, --runs replaces them; below its own, claims across runs are not judged."""
    own = _plan.plan(CHECKS, replace(OPTIONS, seed=7)).units
    assert [(unit.n, unit.runs, unit.seed, unit.complete) for unit in own] == [
        (0, 200, 7, True), (1, 200, 7, True), (2, 1, 7, True), (3, 1, 7, True),
    ]  # fmt: skip
    few = _plan.plan(CHECKS, replace(OPTIONS, runs=3)).units
    assert [(unit.runs, unit.complete) for unit in few] == [(3, False), (3, False), (3, True), (3, True)]
    full = _plan.plan(CHECKS, replace(OPTIONS, runs=200)).units
    assert all(unit.complete for unit in full)


def test_a_shard_is_taken_by_the_sha256_of_the_full_name() -> None:
    """The unit is (check, case): the first 8 bytes of the name's sha256, modulo n, from 1 (computed with sha256sum)."""
    names = {"a": 0xCA978112CA1BBDCA, "b": 0x3E23E8160039594A, "c": 0x2E7D2C03A9507AE2}
    for name, head in names.items():
        assert [_plan.shard_of(name, n) for n in (1, 2, 3, 7)] == [1, head % 2 + 1, head % 3 + 1, head % 7 + 1]


@given(st.integers(1, 9))
def test_shards_part_the_plan(shards: int) -> None:
    """Every case is in exactly one shard, keeps its place in the whole plan, and the plan's digest is shared."""
    whole = _plan.plan(CHECKS, OPTIONS)
    parts = [_plan.plan(CHECKS, replace(OPTIONS, shard=(i, shards))) for i in range(1, shards + 1)]
    assert sorted((unit.n, unit.id) for part in parts for unit in part.units) == [(unit.n, unit.id) for unit in whole.units]
    assert {(part.digest, part.total) for part in parts} == {(whole.digest, 4)}


def test_a_new_case_moves_only_itself() -> None:
    """Where a case runs depends on its own name alone."""

    def before(checks: list[Check]) -> dict[str, int]:
        return {unit.id: i for i in (1, 2, 3) for unit in _plan.plan(checks, replace(OPTIONS, shard=(i, 3))).units}

    more = before([check("checks/a.yaml", "new", "x"), *CHECKS])
    assert {name: more[name] for name in ALL} == before(CHECKS)


def test_the_digest_tells_changed_checks_apart() -> None:
    """Shards made before and after a check was changed are no whole: claims, app, model, parse, input and a Python file count."""
    one = check("checks/qa.yaml", "a", "x")
    changes = [
        {}, {"claims": (Calls(1),)}, {"claims": (Calls(2),)}, {"app": "app:other"}, {"model": {"script": ["a"]}}, {"parse": "json"},
        {"cases": (Case("x", 1),)}, {"setup": "app:setup"}, {"clock": "real"}, {"ledger": {"jsonl": "a"}}, {"probes": {"p": {"dir": "a"}}},
    ]  # fmt: skip
    marks = {_plan.plan([replace(one, **change)], OPTIONS).digest for change in changes}  # type: ignore[arg-type]  # one field each
    marks |= {_plan.plan([one], OPTIONS, sources={one.file: source}).digest for source in ("old", "new")}
    assert len(marks) == len(changes) + 2


def test_the_digest_does_not_tell_where_a_check_stands() -> None:
    """A comment above a check moves it, and changes nothing that a shard came to."""
    one = check("checks/qa.yaml", "a", "x")
    moved = replace(one, place=Place(one.file, 9, 1), cases=(Case("x", place=Place(one.file, 10, 1)),), places={"app": Place(one.file, 11)})
    assert _plan.plan([moved], OPTIONS).digest == _plan.plan([one], OPTIONS).digest


def test_the_digest_tells_plans_apart() -> None:
    """Other cases, runs or seeds are another plan."""
    changes: list[dict[str, object]] = [{}, {"seed": 1}, {"runs": 2}, {"keyword": "labels"}]
    marks = {_plan.plan(CHECKS, replace(OPTIONS, **change)).digest for change in changes}  # type: ignore[arg-type]  # one field each
    assert len(marks) == 4


def test_a_plan_tells_what_it_starts_and_lists() -> None:
    """Started counts this shard's cases and trials and the whole plan's; a listing shows the case's place or the check's."""
    case = Case("x", place=Place("cases.jsonl", 3))
    plan = _plan.plan([replace(CHECKS[2], cases=(case, Case("y")), runs=5)], replace(OPTIONS, shard=(1, 1), seed=9))
    assert plan.started("K1", None) == Started(2, 10, 9, (1, 1), 2, plan.digest, "K1", None)
    assert plan.listed() == (
        Listed("checks/deep/check_triage.py::labels", "x", Place("cases.jsonl", 3), 5, ("triage",)),
        Listed("checks/deep/check_triage.py::labels", "y", Place("checks/deep/check_triage.py", 1, 1), 5, ("triage",)),
    )


def test_files_of_selectors() -> None:
    """What must be read is each selector's file or folder, once."""
    assert _plan.files(["a.yaml::x::y", "b", "a.yaml::[z]"]) == ("a.yaml", "b")
