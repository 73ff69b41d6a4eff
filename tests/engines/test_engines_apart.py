"""Cases run apart: what one leaves in the app's own modules never reaches another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from invcheck.engines.spare import Spare

APP = """
seen = []


def visit(name):
    seen.append(name)
    return list(seen)


def die(name):
    import os
    os._exit(3)
"""
STUCK = """
import os
import select
from pathlib import Path


def visit_for_ever(name):
    Path("pid").write_text(str(os.getpid()))
    select.select([], [], [])
"""
CHECKS = """
checks:
  - check: first
    app: shop:visit
    cases: [{id: a, input: {name: a}}, {id: b, input: {name: b}}]
    expect: [{count: {of: "$.output[*]", exactly: 1}}]
  - check: second
    app: shop:visit
    cases: [{id: c, input: {name: c}}]
    runs: 2
    expect: [{length: {of: $.output, min: 1, max: 2}}, {distinct: {of: $.output, at-least: 2}}]
"""


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "invcheck", "run", *words], cwd=folder, capture_output=True, text=True, check=False)


def _project(folder: Path, checks: str) -> None:
    (folder / "checks").mkdir()
    (folder / "shop.py").write_text(APP, encoding="utf-8")
    (folder / "checks" / "visits.yaml").write_text(checks, encoding="utf-8")


def test_a_case_does_not_see_what_another_left_in_a_module(tmp_path: Path) -> None:
    """Each case begins with the app's modules as they were imported; the trials of one case follow each other in one process."""
    _project(tmp_path, CHECKS)
    done = _run(tmp_path, "-q")
    assert (done.returncode, done.stdout) == (0, "3 cases: 3 kept. 0 of 4 trials broken. Seed 0, gate K1.\n")


def test_a_case_that_dies_takes_no_other_with_it(tmp_path: Path) -> None:
    """A case whose app leaves the process is errored with the exit status; the case before and the case after are kept."""
    checks = CHECKS.replace("  - check: second\n    app: shop:visit", "  - check: second\n    app: shop:die")
    _project(tmp_path, checks.replace("runs: 2", "runs: 1").replace(", {distinct: {of: $.output, at-least: 2}}", ""))
    done = _run(tmp_path, "-q")
    assert done.returncode == 3
    assert "WORKER_DIED" in done.stdout
    assert "exit 3" in done.stdout
    assert "3 cases: 2 kept, 1 errored." in done.stdout


def test_no_process_is_left_when_a_case_is_stopped(tmp_path: Path) -> None:
    """A case that outlives its real time is ended together with the child in which it ran, and the finding says where it stood."""
    _project(tmp_path, CHECKS.split("  - check: second", maxsplit=1)[0].replace("shop:visit", "shop:visit_for_ever"))
    (tmp_path / "shop.py").write_text(STUCK, encoding="utf-8")
    (tmp_path / "invcheck.toml").write_text("trial-seconds = 1\n", encoding="utf-8")
    done = _run(tmp_path, "-q", "checks/visits.yaml::first[a]")
    assert done.returncode == 3
    assert "shop.py:visit_for_ever" in done.stdout
    pid = int((tmp_path / "pid").read_text())
    alive = Path("/proc", str(pid), "cmdline")
    assert not alive.exists() or not alive.read_bytes()


COUNTS = """
check: counts from one
app: shop:visit
runs: 5
cases: [{id: a, input: {name: a}}]
expect: [{count: {of: "$.output[*]", exactly: 1}}]
"""


def test_a_finding_that_its_trial_alone_does_not_show_is_told(tmp_path: Path) -> None:
    """Where the app keeps state from trial to trial, the finding says so, and its replay line holds the trials before it."""
    _project(tmp_path, COUNTS)
    done = _run(tmp_path, "-q")
    assert done.returncode == 1
    assert "trials    4 of 5, first with seed 1\n" in done.stdout
    assert "hint      this trial alone does not show it: the app keeps state from one trial to the next" in done.stdout
    line = next(line for line in done.stdout.splitlines() if line.startswith("    replay"))
    assert line == "    replay    invcheck run 'checks/visits.yaml::counts from one[a]' --seed 0 --runs 2"
    again = _run(tmp_path, "-q", "checks/visits.yaml::counts from one[a]", "--seed", "0", "--runs", "2")
    assert (again.returncode, "trials    1 of 2, first with seed 1\n" in again.stdout) == (1, True)
    alone = _run(tmp_path, "-q", "checks/visits.yaml::counts from one[a]", "--seed", "1", "--runs", "1")
    assert alone.returncode == 0


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the test runner's own threads out of account."""
    monkeypatch.setattr("invcheck.engines.spare.other_threads", lambda: 0)


@pytest.mark.usefixtures("alone")
def test_a_spare_does_every_task_from_the_same_state() -> None:
    """A spare answers from the state in which it was made, whatever this process, or an earlier task of it, did since."""
    state = ["before"]

    def work(task: object) -> list[object]:
        state.append("asked")
        return [task, *state]

    with Spare(work) as spare:
        state.append("after")
        assert [spare.ask(1), spare.ask(2)] == [[1, "before", "asked"], [2, "before", "asked"]]


@pytest.mark.usefixtures("alone")
def test_a_spare_that_dies_or_is_not_wanted_answers_nothing() -> None:
    """Work that ends its process gives None, and the next task is done all the same; without a copy every answer is None."""
    with Spare(lambda task: os._exit(3) if task == "die" else task) as spare:
        assert [spare.ask("die"), spare.ask("live")] == [None, "live"]
    with Spare(lambda task: task, wanted=False) as spare:
        assert spare.ask(1) is None
