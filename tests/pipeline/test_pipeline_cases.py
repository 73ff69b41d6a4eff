"""A case by itself: whatever ran before it in the same worker, and whatever its check raises."""

from __future__ import annotations

import pytest

from invcheck.tally import Tally
from invcheck.vocabulary import Finding, Verdict
from tests.pipeline.conftest import Shop, Told

OBSERVATION = {"output": None, "calls": []}

THREADED = """
    import threading

    from invcheck import Equals, check

    threading.Thread(target=threading.Event().wait, daemon=True).start()
    SEEN = []


    @check(cases=["a", "b", "c"], expect=[Equals("$.output", 1)])
    def sees_itself_only(trial):
        SEEN.append(trial.case)
        return len(SEEN)
"""

RAISING = """
    from invcheck import Predicate, check


    def stop(trial):
        raise KeyboardInterrupt


    class Leaves(BaseException):
        pass


    def leave(trial):
        raise Leaves


    def judge(output):
        raise KeyboardInterrupt


    @check()
    def interrupts(trial):
        assert trial
        raise KeyboardInterrupt


    @check(setup=stop)
    def setup_interrupts(trial):
        assert trial


    @check(setup=leave)
    def setup_leaves(trial):
        assert trial


    @check(expect=[Predicate(judge)])
    def judge_interrupts(trial):
        return 1


    @check()
    def is_fine(trial):
        assert trial
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_thread_of_a_module_makes_no_case_see_another(jobs: str, shop: Shop) -> None:
    """Where a fork would lose threads, every case has a fresh worker."""
    shop.write({"checks/check_threads.py": THREADED})
    told = shop.told("-j", jobs)
    assert {name: case["verdict"] for name, case in told.cases.items()} == {f"sees_itself_only[{n}]": "kept" for n in "123"}, told.out


@pytest.fixture(scope="module")
def raised(shared: Shop) -> Told:
    """One run over checks that raise what is no Exception."""
    shared.write({"checks/check_raising.py": RAISING})
    return shared.told()


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("interrupts", ["CHECK_RAISED"]),
        ("setup_interrupts", ["SETUP_RAISED"]),
        ("setup_leaves", ["SETUP_RAISED"]),
        ("judge_interrupts", ["INTERNAL"]),
        ("is_fine", []),
    ],
)
def test_whatever_a_check_raises_is_its_own(name: str, codes: list[str], raised: Told) -> None:
    """KeyboardInterrupt too: a worker has no terminal, so nobody interrupts it but the check itself."""
    assert raised.codes(f"{name}[default]") == codes
    assert "Traceback" not in raised.err


def test_a_module_that_interrupts_its_import_is_a_problem(shop: Shop) -> None:
    """It is told as one, without a traceback of ours."""
    shop.write({"checks/check_a.py": "raise KeyboardInterrupt\n"})
    told = shop.told()
    assert (told.status != 0, "Traceback" in told.err) == (True, False)
    assert "check_a.py" in told.err


def _lane(name: str) -> Finding:
    return Finding("SCRIPT_EXHAUSTED", Verdict.BROKEN, f"the script of {name} is over", expected=f'at most 1 call on lane "{name}"')


def test_each_lane_has_its_finding_and_a_trial_counts_once() -> None:
    """Two lanes that are over in one trial are two findings, of one trial of one each."""
    tally = Tally()
    tally.add(7, Verdict.BROKEN, (_lane("a"), _lane("b"), _lane("a")), OBSERVATION)
    tally.add(8, Verdict.BROKEN, (_lane("a"),), OBSERVATION)
    assert [(each.expected, each.seed, each.count) for each in tally.found.values()] == [
        ('at most 1 call on lane "a"', 7, 2),
        ('at most 1 call on lane "b"', 7, 1),
    ]
