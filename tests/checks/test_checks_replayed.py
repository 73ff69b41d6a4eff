"""The checks that replay fixtures, run as a user would: what is told when they are changed, and when the app is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from planted import Project

FILE = "checks/fixtures/answers.jsonl"


def lines(project: Project) -> list[str]:
    """The lines of the fixture file."""
    return (project.root / FILE).read_text("utf-8").splitlines(keepends=True)


def write(project: Project, text: str) -> None:
    """Replace the fixture file."""
    (project.root / FILE).write_text(text, "utf-8")


def test_claims_that_rest_on_recorded_replies_are_counted(whole: Project) -> None:
    """None while all are hand-written; all that replay once they are recorded; the others of the run rest on scripts."""
    assert "0 of 12 claims rest on recorded replies." in whole.run("checks/replayed.yaml").out
    recorded = "".join(line.replace('"kind": "hand-written"', '"kind": "recorded"') for line in lines(whole))
    write(whole, recorded)
    whole.plant("checks/replayed.yaml", "to: hand-written", "to: recorded")
    ran = whole.run("checks/replayed.yaml")
    assert (ran.status, "12 of 12 claims rest on recorded replies." in ran.out) == (0, True)
    assert "12 of 18 claims rest on recorded replies." in whole.run("checks/replayed.yaml", "checks/budget.yaml").out


def test_a_prompt_that_changed_says_so(whole: Project) -> None:
    """Status 1, the line of the recording, both hashes, and where the prompts differ first."""
    whole.plant("checks/helpdesk/templates/answer.j2", "You answer customers", "You help customers")
    ran = whole.run("checks/replayed.yaml::an answer from the fixtures is given as it is")
    assert ran.status == 1
    said = ran.line("PROMPT_CHANGED")
    assert f"the nearest is {FILE}:1 (refund), hand-written 2026-11-30" in said
    assert "sha256:57d9aaf495ba" in said
    assert "they differ first at $.messages[0].content" in said
    assert 'expected  $.messages[0].content: "You answer customers of' in ran.out
    assert 'got       "You help customers of' in ran.out


def test_a_recording_that_nobody_asks_for_is_told(whole: Project) -> None:
    """A line too many under a label that a check replays."""
    extra = json.loads(lines(whole)[0])
    for name in ("request_hash", "prompt_hash"):
        del extra[name]
    extra["request"]["messages"][1]["content"] = "And the other one?"
    write(whole, "".join(lines(whole)) + json.dumps(extra) + "\n")
    ran = whole.run("checks/replayed.yaml::an answer from the fixtures is given as it is")
    assert (ran.status, ran.codes()) == (1, ["SCRIPT_UNUSED"])
    assert f"1 of 2 recordings was not used: {FILE}:6 (refund)" in ran.out


@pytest.mark.parametrize(("cut", "place", "says"), [
    (100, f"{FILE}:5:101: ", "the file ends within this line"),
    (0, f"{FILE}:5: ", "$.replly: there is no"),
])  # fmt: skip
def test_a_line_that_is_none_is_told_before_anything_runs(whole: Project, cut: int, place: str, says: str) -> None:
    """Status 2, with file, line and column; the checks of other files still run."""
    *sound, last = lines(whole)
    write(whole, "".join(sound) + (last[:cut] if cut else last.replace('"label"', '"replly"')))
    ran = whole.run("checks/replayed.yaml", "checks/budget.yaml")
    assert (ran.status, set(ran.codes())) == (2, {"FIXTURE_INVALID"})
    assert f"{place}{says}" in ran.out + ran.err
    assert "kept" in ran.out


def test_a_model_that_replays_and_is_never_asked_is_told(project: Project, tmp_path: Path) -> None:
    """Also where every recording is optional: a double that nobody asks proves nothing."""
    project.write({
        "app.py": "def answer(model):\n    return 'hi'\n",
        "checks/a.jsonl": '{"invcheck": 1, "provenance": {"kind": "recorded"}, "reply": "a"}\n',
        "checks/a.yaml": """
            check: a
            app: app:answer
            model: {replay: {file: checks/a.jsonl, optional: true}}
            cases: [{input: {}}]
            expect: [{equals: {of: $.output, to: hi}}]
        """,
    })  # fmt: skip
    ran = project.run("checks/a.yaml")
    assert (ran.status, ran.codes()) == (1, ["MODEL_UNASKED"])
