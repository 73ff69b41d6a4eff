"""The stage that audits, over workers that answer as a test says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from invcheck._audit import Subject, audit
from invcheck.sandbox.flips import Axis
from invcheck.vocabulary import Finding, Verdict

Json = Any
Answer = Callable[[Json], Json]


def flipped(task: Json) -> set[Axis]:
    """The axes that a task flips."""
    flips = task["flips"]
    told = {Axis(name) for name in flips["axes"]}
    outside = {Axis.ZONE: "TZ", Axis.HASH: "PYTHONHASHSEED", Axis.LOCALE: "LANG"}
    told |= {axis for axis, name in outside.items() if name in flips["environ"]}
    return told | ({Axis.FOLDER} if flips["cwd"] else set())


def copy(task: Json) -> int:
    """Which of several like runs it is."""
    return int(task["flips"]["copy"].partition(",")[0])


def gives(output: Json, *steps: Json) -> Json:
    """What a worker sends of a run."""
    return {"done": {"document": {"output": output}, "steps": [*steps]}}


def found(answer: Answer, *, accepts: tuple[str, ...] = (), asked: list[Json] | None = None, root: Path) -> list[tuple[Finding, ...]]:
    """What an audit of one case finds; answers come back in the order that is the hardest."""

    def ask(tasks: list[Json]) -> Iterator[tuple[int, Json]]:
        if asked is not None:
            asked.extend(tasks)
        yield from reversed([(n, answer(task)) for n, task in enumerate(tasks)])

    return audit([Subject({"case": "a", "seed": 7}, accepts)], ask, root)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a file."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/a.py").write_text("import time\n\ndef answer():\n    now = time.time()\n    return now\n", encoding="utf-8")
    return tmp_path / "shop"


def test_a_case_that_never_differs_has_no_finding_and_is_flipped_eight_times(root: Path) -> None:
    """Twice as it is, eight times with all ten axes, and that is all it costs."""
    asked: list[Json] = []
    assert found(lambda task: gives(1), asked=asked, root=root) == [()]
    assert [len(flipped(task)) for task in asked] == [0, 0, *[10] * 8]
    assert all(task["case"] == "a" and task["do"] == "observe" and task["seed"] == 7 for task in asked)
    assert len({task["flips"]["environ"]["PYTHONHASHSEED"] for task in asked[2:]}) == 8
    assert {task["flips"]["copy"] for task in asked[:2]} == {"1", "2"}


@pytest.mark.parametrize("axis", Axis)
def test_an_axis_is_named(axis: Axis, root: Path) -> None:
    """With path, both values, seed, and what to do about it."""
    ((finding,),) = found(lambda task: gives([1, 2] if axis not in flipped(task) else [2, 1]), root=root)
    assert (finding.code, finding.verdict, finding.seed, finding.place) == ("AUDIT", Verdict.BROKEN, 7, None)
    assert finding.message == f"differs when the {axis} changes; `$.output`"
    assert (finding.path, finding.got) == ("$.output", "[1, 2], then [2, 1]")
    assert finding.hint is not None
    assert finding.hint.endswith("or accept it: audit: {ignore: ['$.output']}")


def test_the_line_is_that_of_the_runs_steps(root: Path) -> None:
    """And is put into words."""

    def answer(task: Json) -> Json:
        late = Axis.CLOCK in flipped(task)
        begin, moment = [0, None, None, "a.py", 3, "call", False, {}], [0, None, None, "a.py", 4, "line", False, {"now": int(late)}]
        return gives(int(late), *([begin, moment] if task["flips"]["trace"] else []))

    ((finding,),) = found(answer, root=root)
    assert str(finding.place) == "a.py:4"
    assert finding.message == "differs when the clock changes; `$.output`; reads the clock at a.py:4"


def test_every_axis_that_shows_is_a_finding(root: Path) -> None:
    """In the order of the axes."""
    ((*findings,),) = found(lambda task: gives([Axis.HASH in flipped(task), Axis.CLOCK in flipped(task)]), root=root)
    assert [finding.message for finding in findings] == [
        "differs when the clock changes; `$.output[1]`",
        "differs when the hash seed changes; `$.output[0]`",
    ]


def test_what_differs_with_nothing_changed_is_told_as_that_and_hides_nothing_else(root: Path) -> None:
    """No value is told, since it is another each time; an axis that shows elsewhere is named beside it."""
    counts = iter(range(1000))
    ((loose, clock),) = found(lambda task: gives({"n": next(counts), "at": Axis.CLOCK in flipped(task)}), root=root)
    assert (loose.message, loose.got) == ("differs from run to run, with nothing changed; `$.output.n`", "another each time")
    assert clock.message == "differs when the clock changes; `$.output.at`"


def test_only_the_axes_that_are_needed_are_named_together(root: Path) -> None:
    """Of ten that were flipped at once."""
    needed = {Axis.CLOCK, Axis.PROCESS, Axis.ZONE}
    ((finding,),) = found(lambda task: gives(needed <= flipped(task)), root=root)
    assert finding.message == "differs when the clock and the time zone and the process number change; `$.output`"
    assert finding.expected == "the same whatever the clock and the time zone and the process number are"


def test_what_differs_once_and_never_again_is_held_still_by_nothing(root: Path) -> None:
    """No axis is blamed for what another run of the same way does not show."""
    first = iter([True])
    ((finding,),) = found(lambda task: gives(len(flipped(task)) == 10 and next(first, False)), root=root)
    assert finding.message == "differs from run to run, with nothing changed; `$`"


def test_an_axis_is_not_blamed_for_what_another_run_of_it_shows_otherwise(root: Path) -> None:
    """The traced run has another value than the first one of the same way."""
    ((finding,),) = found(
        lambda task: gives([Axis.CLOCK in flipped(task), bool(flipped(task)) and copy(task)][Axis.CLOCK in flipped(task)]), root=root
    )
    assert finding.message == "differs from run to run, with nothing changed; `$.output`"


def test_a_run_that_is_lost_where_the_others_are_not_is_a_difference(root: Path) -> None:
    """In the words for how it was lost."""
    lost = [{"died": "signal 11"}, {"capped": 60}, {"used": "cpu", "words": "it took 30 seconds"}, {"failed": {"message": "no"}}]
    words = ["the worker died: signal 11", "nothing was heard for 60 seconds", "it took 30 seconds", "no"]
    for message, said in zip(lost, words, strict=True):
        ((finding,),) = found(lambda task, message=message: message if Axis.CLOCK in flipped(task) else gives(1), root=root)
        assert (finding.path, finding.got) == ("$", f'"it comes to its end", then "{said}"')


def test_a_case_that_is_lost_as_it_is_cannot_be_audited(root: Path) -> None:
    """Errored, and not flipped."""
    asked: list[Json] = []
    ((finding,),) = found(lambda task: {"died": "exit 7"}, asked=asked, root=root)
    assert (finding.code, finding.verdict, finding.message) == (
        "AUDIT_LOST", Verdict.ERRORED, "this case could not be audited: the worker died: exit 7",
    )  # fmt: skip
    assert len(asked) == 2


def test_what_is_accepted_is_left_aside_and_what_leads_nowhere_is_told(root: Path) -> None:
    """One path, and a misspelt one."""
    accepts = ("$.output.at", "$.output.ta")
    ((finding,),) = found(lambda task: gives({"at": Axis.CLOCK in flipped(task)}), accepts=accepts, root=root)
    assert (finding.code, finding.verdict, finding.path) == ("AUDIT_IGNORE", Verdict.ERRORED, "$.output.ta")


def test_folders_of_this_machine_are_not_told(root: Path) -> None:
    """The project's, and the one that holds the same."""
    ((finding,),) = found(lambda task: gives(task["flips"]["cwd"] or str(root)), root=root)
    assert finding.got == '"<project>", then "<elsewhere>"'


def test_several_places_are_counted(root: Path) -> None:
    """The first one is named."""
    ((finding,),) = found(lambda task: gives({"a": Axis.CLOCK in flipped(task), "b": Axis.CLOCK in flipped(task)}), root=root)
    assert finding.message == "differs when the clock changes; `$.output.a` and 1 more"


def test_a_project_without_a_case_has_no_finding(tmp_path: Path) -> None:
    """Nothing is asked of the workers that they would have to start for."""
    assert audit([], lambda tasks: iter(()), tmp_path) == []
