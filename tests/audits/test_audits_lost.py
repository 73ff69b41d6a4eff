"""What an audit makes of runs that are traced: one that is lost changes nothing, one that shows something else does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from invcheck.sandbox.flips import Axis
from tests.test_audit import flipped, found, gives

LOST = [{"died": "signal 11"}, {"capped": 60}, {"used": "cpu", "words": "it took 30 seconds"}, {"failed": {"message": "no"}}]


def by_hash(task: Any) -> Any:
    """What an app gives that returns a set as a list."""
    return gives(["b", "a"] if Axis.HASH in flipped(task) else ["a", "b"])


@pytest.mark.parametrize("message", LOST)
@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_a_traced_run_that_is_lost_changes_nothing_of_what_was_found(message: Any, plain: bool, turned: bool, tmp_path: Path) -> None:
    """A loop that is too long to be traced: the one as it is, the one with the hash seed flipped, or both; only the line is not told."""

    def answer(task: Any) -> Any:
        lost = task["flips"]["trace"] and (turned if flipped(task) else plain)
        return message if lost else by_hash(task)

    ((finding,),) = found(answer, root=tmp_path)
    assert finding.message == "differs when the hash seed changes; `$.output`"
    assert finding.place is None


def test_what_is_another_each_time_is_no_axis_to_blame_for(tmp_path: Path) -> None:
    """The clock's traced run has another value than before, so neither clock nor hash seed is named at that place; elsewhere one is."""

    def answer(task: Any) -> Any:
        late, mixed = Axis.CLOCK in flipped(task), Axis.HASH in flipped(task)
        name = ("traced" if task["flips"]["trace"] else "late") if late else "mixed" if mixed else "as it is"
        return gives({"name": name, "tags": mixed})

    ((loose, tags),) = found(answer, root=tmp_path)
    assert loose.message == "differs from run to run, with nothing changed; `$.output.name`"
    assert tags.message == "differs when the hash seed changes; `$.output.tags`"


def test_two_axes_of_which_one_shows_something_else_when_traced_are_judged_each_for_itself(tmp_path: Path) -> None:
    """What the first one's trace unsettles is not counted against the second: its other place stays its own."""

    def answer(task: Any) -> Any:
        late, mixed = Axis.CLOCK in flipped(task), Axis.HASH in flipped(task)
        name = "traced" if late and task["flips"]["trace"] else "late" if late else "mixed" if mixed else "as it is"
        return gives([name, {"of": mixed}, 0])

    findings = found(answer, root=tmp_path)[0]
    assert [finding.path for finding in findings] == ["$.output[0]", "$.output"]
