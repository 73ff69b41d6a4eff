"""`invcheck run`: status, stdout and stderr, whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from invcheck.errors import CheckFileError, NothingSelected, NotJson, Refused, ScriptedModelError, Unevaluated, UsageError
from invcheck.events import CaseDone, Ended, Problem, Progress, Started, summarise
from invcheck.vocabulary import Place, Result, Verdict

ENDINGS = "  hint: known endings: .jsonl, .json, .xml, .md, .txt\n"
Said = Callable[..., tuple[int, str, str]]

TABLE = """\
verdict      cases    broken  check
---------  -------  --------  -------------------
broken           2    2 of 8  checks/a.yaml::adds

"""
FINDING = """\
BROKEN  checks/a.yaml::adds[two]
  EQUALS  equals: of=$.output to=1
    expected  1
    got       2
    path      $.output
    trials    2 of 4, first with seed 3
    place     checks/a.yaml:9:5
    replay    invcheck run 'checks/a.yaml::adds[two]' --seed 3 --runs 1

"""
SUMMARY = "2 cases: 1 kept, 1 broken. 2 of 8 trials broken. Seed 0, gate K1.\n"
ANNOTATION = (
    "::error file=checks/a.yaml,line=9,col=5,title=checks/a.yaml%3A%3Aadds[two]::EQUALS  equals: of=$.output to=1"
    "%0Aexpected  1%0Agot       2%0Apath      $.output%0Atrials    2 of 4, first with seed 3%0Aplace     checks/a.yaml:9:5"
    "%0Areplay    invcheck run 'checks/a.yaml::adds[two]' --seed 3 --runs 1\n"
)


def listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("words", "stdout"),
    [
        ((), TABLE + FINDING + SUMMARY),
        (("-q",), FINDING + SUMMARY),
        (("-qq",), SUMMARY),
        (("-q", "-v"), TABLE + FINDING + SUMMARY),
        (("--format", "github"), ANNOTATION),
    ],
)
def test_a_broken_claim_is_told_on_stdout_and_is_status_1(said: Said, words: tuple[str, ...], stdout: str) -> None:
    """Data to stdout, nothing to stderr, the findings with their replay command, and 1."""
    assert said("run", *words) == (1, stdout, "")


def test_a_green_run_is_status_0(said: Said, fake: Any) -> None:
    """Nothing broken is 0."""
    fake.events = [fake.events[0], fake.events[1], Ended(summarise([fake.events[1].result]))]
    assert said("run", "-q") == (0, "1 case: 1 kept. 0 of 4 trials broken. Seed 0, gate K1.\n", "")


@pytest.mark.parametrize(
    ("error", "status", "stderr"),
    [
        (UsageError("no", hint="so", place=Place("a.yaml", 1, 2)), 2, "error: a.yaml:1:2: no\n  hint: so\n"),
        (Unevaluated("no"), 3, "error: no\n"),
        (Refused("no"), 4, "error: no\n"),
        (NothingSelected("there is no case to run"), 5, "error: there is no case to run\n"),
        (NotJson("no"), 3, "error: no\n"),
        (ScriptedModelError("no"), 3, "error: no\n"),
        (
            ZeroDivisionError("boom"),
            3,
            (
                "error: invcheck failed: ZeroDivisionError: boom\n"
                "  hint: INVCHECK_DEBUG=1 shows the traceback; this is a fault of invcheck, please report it\n"
            ),
        ),
        (
            SystemExit(1),
            3,
            (
                "error: invcheck failed: SystemExit: 1\n"
                "  hint: INVCHECK_DEBUG=1 shows the traceback; this is a fault of invcheck, please report it\n"
            ),
        ),
    ],
)
def test_an_error_has_the_status_of_its_kind_and_no_traceback(
    said: Said, fake: Any, error: BaseException, status: int, stderr: str
) -> None:
    """Only a broken claim is 1: whatever else ends a run has its own status, a crash is 3."""
    fake.events, fake.error = [], error
    assert said("run") == (status, "", stderr)


def test_a_traceback_is_shown_when_asked_for(said: Said, fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """INVCHECK_DEBUG=1 shows where it came from."""
    monkeypatch.setenv("INVCHECK_DEBUG", "1")
    fake.error = ZeroDivisionError("boom")
    status, stdout, stderr = said("run")
    assert (status, stdout) == (3, "")
    assert stderr.startswith("Traceback (most recent call last):\n")
    assert stderr.endswith("ZeroDivisionError: boom\nerror: invcheck failed: ZeroDivisionError: boom\n")


def test_an_error_that_ends_a_run_hides_no_problem(said: Said, fake: Any) -> None:
    """What was already found wrong is told before what ended the run."""
    fake.events = [Problem(CheckFileError("unknown key", place=Place("b.yaml", 2, 1)))]
    fake.error = UsageError("-k cannot be read")
    assert said("run") == (2, "", "CHECK_FILE  b.yaml:2:1: unknown key\nerror: -k cannot be read\n")


def test_an_interrupted_run_reports_what_it_has(said: Said, fake: Any) -> None:
    """130, and the cases that were done are told, whether the pipeline ends in order or not."""
    fake.events, fake.error = fake.events[:2], KeyboardInterrupt()
    stdout = "1 case: 1 kept. 0 of 4 trials broken. Interrupted. Seed 0, gate K1.\n"
    assert said("run", "-q") == (130, stdout, "")
    fake.events, fake.error = [*fake.events, Ended(summarise([fake.events[1].result], interrupted=True))], None
    assert said("run", "-q") == (130, stdout, "")


def test_an_interrupt_outside_of_a_run_is_130(said: Said, fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is interrupted says so and nothing more."""
    monkeypatch.setattr(fake, "list_cases", lambda options: (_ for _ in ()).throw(KeyboardInterrupt))
    assert said("list") == (130, "", "interrupted\n")


def test_a_run_without_the_kernels_gate_says_so(said: Said, fake: Any) -> None:
    """A banner on stderr names the reason and the way to refuse; -q leaves it to the summary line."""
    fake.events[0] = Started(2, 8, 0, None, 2, "p", "soft", "unshare is not permitted")
    status, stdout, stderr = said("run")
    assert (status, stdout) == (1, (TABLE + FINDING + SUMMARY).replace("gate K1", "gate soft"))
    assert stderr == (
        "note: the kernel's gate does not stand here (unshare is not permitted): only Python's own ways out are cut\n"
        "  hint: --require-kernel refuses such a run\n"
    )
    assert said("run", "-q")[2] == ""


def test_problems_are_reported_beside_results(said: Said, fake: Any) -> None:
    """A file that could not be used is told with its place, and 1 stands over 2."""
    problem = CheckFileError("unknown key 'expct'", place=Place("checks/b.yaml", 2, 1), hint="did you mean 'expect'?")
    fake.events = [Problem(problem), fake.events[0], fake.events[1], Ended(summarise([fake.events[1].result], [problem]))]
    assert said("run", "-q") == (
        2,
        "1 case: 1 kept. 0 of 4 trials broken. 1 problem with what was asked for. Seed 0, gate K1.\n",
        "CHECK_FILE  checks/b.yaml:2:1: unknown key 'expct'\n  hint: did you mean 'expect'?\n",
    )


def test_json_lines_on_stdout_are_streamed(said: Said, fake: Any) -> None:
    """A line for each event as it comes, so that a crash leaves what was done; progress is no part of it."""
    fake.events, fake.error = [*fake.events[:2], Progress(4, 0)], ZeroDivisionError()
    status, stdout, _ = said("run", "--format", "jsonl")
    assert (status, [json.loads(line)["kind"] for line in stdout.splitlines()]) == (3, ["run", "case"])


def test_json_lines_on_stdout_are_the_whole_of_it(said: Said) -> None:
    """Nothing but lines stands on stdout, the last one is the end."""
    status, stdout, stderr = said("run", "--format", "jsonl")
    assert (status, stderr) == (1, "")
    assert [json.loads(line)["kind"] for line in stdout.splitlines()] == ["run", "case", "case", "end"]


def test_every_report_is_written_by_its_ending(said: Said, project: Path) -> None:
    """-o is repeatable, the ending says the form, and no temporary file stays."""
    names = ["r.jsonl", "r.json", "r.junit.xml", "r.xml", "r.md", "r.txt"]
    status, stdout, stderr = said("run", *(word for name in names for word in ("-o", name)))
    assert (status, stdout, stderr) == (1, TABLE + FINDING + SUMMARY, "")
    assert listed(project) == sorted([*names, ".invcheck"])
    assert (project / "r.txt").read_text() == TABLE + FINDING + SUMMARY
    assert (project / "r.xml").read_bytes() == (project / "r.junit.xml").read_bytes()
    assert (project / "r.json").read_bytes().startswith(b'{"cases":[\n')
    assert (project / "r.md").read_text().startswith("## invcheck: not kept\n")
    assert [json.loads(line)["kind"] for line in (project / "r.jsonl").read_text().splitlines()] == ["run", "case", "case", "end"]


@pytest.mark.parametrize(
    ("words", "stderr"),
    [
        (("-o", "r.html"), "error: -o r.html: .html is no report that invcheck writes\n" + ENDINGS),
        (("-o", "report"), "error: -o report: a name without ending is no report that invcheck writes\n" + ENDINGS),
        (("-o", "no/r.json"), "error: -o no/r.json: there is no folder 'no'\n  hint: make it first: mkdir -p no\n"),
        (("-o", "dir.json"), "error: -o dir.json is a folder\n"),
        (("-o", "r.json", "-o", "./r.json"), "error: -o r.json is given twice\n"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_written_is_refused_before_the_run(
    said: Said, fake: Any, project: Path, words: tuple[str, ...], stderr: str
) -> None:
    """Status 2, nothing ran, nothing was written."""
    (project / "dir.json").mkdir()
    assert said("run", *words) == (2, "", stderr)
    assert fake.options is None
    assert listed(project) == ["dir.json"]


def test_a_folder_without_rights_is_refused_before_the_run(said: Said, fake: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder in which no file can be made is status 2 (planted, since root may write everywhere)."""

    def denied(self: Path, *args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", denied)
    assert said("run", "-o", "r.json") == (2, "", "error: -o r.json: the folder '.' cannot be written: Permission denied\n")
    assert fake.options is None


def test_a_disk_that_fills_up_hides_no_broken_claim(said: Said, fake: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report that cannot be written any more is told and is 3, under a broken claim's 1, and leaves no half file."""
    real = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        if self.name.startswith(".r.json."):
            real(self, data[:5])
            raise OSError(28, "No space left on device")
        return real(self, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    (project / "r.json").write_text("old")
    assert said("run", "-qq", "-o", "r.json") == (1, SUMMARY, "error: -o r.json cannot be written: No space left on device\n")
    assert listed(project) == [".invcheck", "r.json"]
    assert (project / "r.json").read_text() == "old"
    fake.events = [fake.events[0], fake.events[1], Ended(summarise([fake.events[1].result]))]
    assert said("run", "-qq", "-o", "r.json")[0] == 3


def test_github_gets_annotations_and_a_summary_in_addition(said: Said, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a runner: the table in a fence that switches commands off, annotations with repository paths, the summary file."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.parent))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project / "summary"))
    (project / "summary").write_text("before\n")
    status, stdout, stderr = said("run")
    first, *table, last, annotation = stdout.splitlines(keepends=True)
    mark = first.removeprefix("::stop-commands::").strip()
    assert (status, stderr, "".join(table), last) == (1, "", TABLE + FINDING + SUMMARY, f"::{mark}::\n")
    assert annotation == ANNOTATION.replace("file=", f"file={project.name}/")
    assert (project / "summary").read_text().startswith("before\n## invcheck: not kept\n\n2 cases: 1 kept, 1 broken.")


def test_github_gets_annotations_on_stderr_where_stdout_is_data(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program reads stdout; the runner reads commands from both streams."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    _, stdout, stderr = said("run", "--format", "json")
    assert json.loads(stdout)["kind"] == "report"
    assert stderr == ANNOTATION


def test_a_summary_that_cannot_be_written_is_a_note(said: Said, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It changes no status."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project / "no" / "summary"))
    assert said("run", "-qq") == (1, SUMMARY, "note: the step summary cannot be written: No such file or directory\n")


def test_the_last_runs_failures_are_remembered(said: Said, fake: Any, project: Path) -> None:
    """--last-failed asks for what was not kept; what did not run stays remembered, what is kept now is forgotten."""
    said("run")
    remembered = project / ".invcheck" / "last-failed.json"
    assert json.loads(remembered.read_text()) == {"invcheck": 1, "failed": ["checks/a.yaml::adds[two]"]}
    assert (project / ".invcheck" / ".gitignore").read_text() == "*\n"
    other = Result("b.yaml::x", "c", Place("b.yaml"), 0, 1, {"errored": 1}, Verdict.ERRORED)
    fake.events = [Started(1, 1, 0, None, 1, "p", "K1"), CaseDone(0, other), Ended(summarise([other]))]
    assert said("run", "--last-failed", "-q")[0] == 3
    assert fake.options.last_failed == ("checks/a.yaml::adds[two]",)
    assert json.loads(remembered.read_text())["failed"] == ["b.yaml::x[c]", "checks/a.yaml::adds[two]"]
    kept = Result("b.yaml::x", "c", Place("b.yaml"), 0, 1, {"kept": 1}, Verdict.KEPT)
    fake.events = [Started(1, 1, 0, None, 1, "p", "K1"), CaseDone(0, kept), Ended(summarise([kept]))]
    said("run")
    assert json.loads(remembered.read_text())["failed"] == ["checks/a.yaml::adds[two]"]


def test_last_failed_without_a_last_run_is_refused(said: Said, fake: Any) -> None:
    """Status 2 says what is missing."""
    assert said("run", "--lf") == (
        2,
        "",
        ("error: --last-failed: no run has been remembered here yet\n"
        "  hint: a run leaves its failures in .invcheck/last-failed.json\n"),
    )  # fmt: skip


@pytest.mark.parametrize("text", ["\udcff", "", "[]", "{}", '{"invcheck": 2, "failed": []}', '{"invcheck": 1, "failed": 5}', "\x00"])
def test_a_damaged_memory_is_refused_and_then_written_again(said: Said, project: Path, text: str) -> None:
    """It is never taken for "nothing failed"; the next run replaces it."""
    (project / ".invcheck").mkdir()
    (project / ".invcheck" / "last-failed.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert said("run", "--last-failed") == (
        2, "", "error: .invcheck/last-failed.json cannot be read\n  hint: delete it, the next run writes it again\n",
    )  # fmt: skip
    said("run")
    assert json.loads((project / ".invcheck" / "last-failed.json").read_text())["failed"] == ["checks/a.yaml::adds[two]"]


def test_a_project_that_is_read_only_is_a_note(said: Said, project: Path) -> None:
    """Where nothing can be remembered the run is the same (a file stands where the folder would)."""
    (project / ".invcheck").write_text("")
    assert said("run", "-qq") == (
        1, SUMMARY, "note: --last-failed will not know this run: .invcheck/last-failed.json cannot be written: File exists\n",
    )  # fmt: skip
