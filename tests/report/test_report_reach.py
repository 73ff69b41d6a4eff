"""What a run could reach is told in every report, and what is known for reaching further is warned about."""

from __future__ import annotations

import json

import pytest

from invcheck import results
from invcheck.events import CaseDone, Ended, Started, summarise
from invcheck.report import Report, canonical, github, jsonlines, markdown, reach, table
from invcheck.vocabulary import Place, Result, Verdict

SENTENCE = "2 cases could reach tcp:127.0.0.1:11434, tcp:127.0.0.1:5432."
WARNING = "tcp:127.0.0.1:11434 is allowed and known for Ollama, which answers as a model"


def _result(case: str, *allowed: str) -> Result:
    return Result("checks/a.yaml::x", case, Place("checks/a.yaml", 1), 0, 1, {"kept": 1}, Verdict.KEPT, allowed=allowed)


@pytest.fixture
def report() -> Report:
    """Three cases, of which two were allowed something."""
    cases = [_result("a", "tcp:127.0.0.1:5432"), _result("b"), _result("c", "tcp:127.0.0.1:11434", "tcp:127.0.0.1:5432")]
    started = Started(3, 3, 0, None, 3, "p" * 64, "K1", None)
    return Report.of([started, *(CaseDone(n, each) for n, each in enumerate(cases)), Ended(summarise(cases))])


@pytest.mark.parametrize("verbosity", [1, 0, -1, -2])
def test_the_last_line_tells_it_however_quiet_a_run_is(report: Report, verbosity: int) -> None:
    """Whom nothing else is told still reads that this run was not all inside."""
    assert table.render(report, verbosity=verbosity).endswith(f" {SENTENCE} Warning: {WARNING}.\n")


def test_other_reports_tell_it_in_their_own_way(report: Report) -> None:
    """Markdown in its first lines, GitHub as a warning of its own, the others as data."""
    assert SENTENCE in markdown.encode(report).decode()
    assert github.encode(report) == f"::warning title=invcheck::{WARNING}\n"
    lines = [json.loads(line) for line in jsonlines.encode(report).decode().splitlines()]
    told = {line["case"]: line.get("allowed") for line in lines if line["kind"] == "case"}
    compared = {case["case"]: case.get("allowed") for case in json.loads(canonical.encode(report))["cases"]}
    assert told == compared == {"a": ["tcp:127.0.0.1:5432"], "b": None, "c": ["tcp:127.0.0.1:11434", "tcp:127.0.0.1:5432"]}


def test_what_was_allowed_survives_its_journey() -> None:
    """From a worker, and from a shard's report to the merged one."""
    for result in (_result("a"), _result("b", "unix:/run/x")):
        assert results.build(results.plain(result)) == result


def test_a_run_that_allowed_nothing_says_nothing() -> None:
    """No sentence, no warning."""
    assert reach.reached([_result("a")]) == reach.warnings([_result("a")]) == []
