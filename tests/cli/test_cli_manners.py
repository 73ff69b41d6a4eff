"""What the command line owes a person: problems are always told, files are named whole, workers are counted."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from invcheck.errors import CheckFileError
from invcheck.events import Ended, Problem, summarise
from invcheck.settings import load
from invcheck.vocabulary import Place

Said = Callable[..., tuple[int, str, str]]

PROBLEM = CheckFileError("unknown key 'expct'", code="UNKNOWN_KEY", place=Place("checks/b.yaml", 2, 1), hint="did you mean 'expect'?")
SPOKEN = "UNKNOWN_KEY  checks/b.yaml:2:1: unknown key 'expct'\n  hint: did you mean 'expect'?\n"
COUNTED = "0 cases. 1 problem with what was asked for. Seed 0, gate K1.\n"


def unusable(fake: Any) -> None:
    fake.events = [fake.events[0], Problem(PROBLEM), Ended(summarise([], [PROBLEM]))]


@pytest.mark.parametrize("words", [(), ("-v",), ("-q",), ("-qq",)])
def test_a_problem_is_told_on_stderr_however_quiet(said: Said, fake: Any, words: tuple[str, ...]) -> None:
    """Whatever the table holds, stderr says what could not be used, once; stdout counts it."""
    unusable(fake)
    assert said("run", *words) == (2, COUNTED, SPOKEN)


@pytest.mark.parametrize("form", ["json", "jsonl", "junit", "md", "github"])
def test_a_problem_is_told_on_stderr_whatever_stdout_is(said: Said, fake: Any, form: str) -> None:
    """Data for a program hides no problem from a person."""
    unusable(fake)
    status, _, err = said("run", "--format", form)
    assert (status, err) == (2, SPOKEN)


def test_a_file_of_the_table_holds_the_problems(said: Said, fake: Any, project: Path) -> None:
    """A report that stands alone tells everything."""
    unusable(fake)
    said("run", "-qq", "-o", "a.txt")
    assert SPOKEN in (project / "a.txt").read_text()


def test_problems_obey_no_runner_orders(said: Said, fake: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a runner reads our streams, problems are fenced like the table."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    unusable(fake)
    _, _, err = said("run")
    assert err.startswith("::stop-commands::")
    assert SPOKEN in err


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("deep/er/a.json", "error: -o deep/er/a.json: there is no folder 'deep/er'\n  hint: make it first: mkdir -p deep/er\n"),
        (
            "made/a.jsn",
            "error: -o made/a.jsn: .jsn is no report that invcheck writes\n  hint: known endings: .jsonl, .json, .xml, .md, .txt\n",
        ),
        ("made/a.json", "error: -o made/a.json is a folder\n"),
    ],
)
def test_an_output_that_cannot_be_written_is_named_whole(said: Said, project: Path, file: str, message: str) -> None:
    """The file is named as one sees it from here, folders included, and the hint can be pasted."""
    (project / "made/a.json").mkdir(parents=True)
    assert said("run", "-o", file) == (2, "", message)


def test_an_output_elsewhere_is_named_whole(said: Said) -> None:
    """A file that does not lie below is named from the root."""
    assert said("run", "-o", "/nowhere/at/all.json")[2].startswith("error: -o /nowhere/at/all.json: there is no folder '/nowhere/at'\n")


def test_auto_is_one_worker_for_each_processor(said: Said, fake: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By flag, by variable and by the settings; what is neither a number nor auto is refused with both."""
    here = len(os.sched_getaffinity(0))
    assert said("run", "-j", "auto")[0] == 1
    assert fake.options.jobs == here
    monkeypatch.setenv("INVCHECK_JOBS", "auto")
    said("run")
    assert fake.options.jobs == here
    assert said("run", "-j", "many") == (2, "", "error: -j takes a whole number from 1, or auto, got 'many'\n")
    (project / "invcheck.toml").write_text('jobs = "auto"\n')
    assert load(project).jobs == here
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert load(project).jobs == 3
