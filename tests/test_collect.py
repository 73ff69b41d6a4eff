"""Collecting: which files are check files, and what a Python file declares or does wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from invcheck._collect import Found, discover, python_checks, yaml_checks
from invcheck.errors import InvcheckError
from invcheck.suite import Case, Check
from invcheck.vocabulary import Place

HEAD = "from invcheck.suite import Case, check\nfrom invcheck.assertions import Unique\n\n"
BLOCKED = "from invcheck.errors import NetworkBlocked\nraise NetworkBlocked('no')\n"
NOTHING = HEAD + "@check(cases=[], expect=[])\ndef one(trial): ...\n"
ONE = "@check(expect=[Unique('$.output')])\ndef one(trial):\n    return []\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a project that is worked in and imported from; what was imported of it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "") or "").startswith(str(tmp_path)) or name.split(".")[0] == "checks":
            del sys.modules[name]


def put(root: Path, *names: str, text: str = "") -> None:
    """Create files, with their folders."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def names(found: Found) -> tuple[list[str], list[str], list[str]]:
    """Give YAML files, Python files and the codes of problems."""
    return [path.as_posix() for path in found.yaml], [path.as_posix() for path in found.python], [each.code for each in found.problems]


def python(root: Path, text: str, name: str = "checks/check_a.py") -> tuple[list[Check], list[InvcheckError]]:
    """Collect a Python file of this text."""
    put(root, name, text=text)
    return python_checks(Path(name), root)


def told(problems: list[InvcheckError]) -> list[str]:
    """Give problems as CODE place."""
    return [f"{problem.code} {problem.place}" for problem in problems]


def test_the_default_folder_is_searched(project: Path) -> None:
    """In the order of names, at any depth; what is kept there for other commands is passed over."""
    put(
        project,
        "checks/b.yaml",
        "checks/a.yml",
        "checks/deep/er/c.yaml",
        "checks/check_a.py",
        "checks/deep/check_b.py",
        "checks/doubles.py",
    )
    put(project, "checks/snapshots/s.yaml", "checks/repros/r.yaml", "checks/fixtures/check_f.py", "checks/.hidden/h.yaml", "checks/.h.yaml")
    put(project, "checks/__pycache__/check_p.py", "checks/deep/fixtures/f.yaml", "other/o.yaml", "docker.yaml", "checks/notes.txt")
    expected = (
        ["checks/a.yml", "checks/b.yaml", "checks/deep/er/c.yaml", "checks/deep/fixtures/f.yaml"],
        ["checks/check_a.py", "checks/deep/check_b.py"],
        [],
    )
    assert names(discover([], project)) == expected
    assert names(discover(["checks"], project)) == expected
    assert names(discover(["."], project)) == expected
    assert names(discover([project], project)) == expected


def test_files_and_folders_are_taken_as_named(project: Path) -> None:
    """A file once, however often it is named, and any Python file that is named itself."""
    put(project, "checks/a.yaml", "checks/more/b.yaml", "checks/cases.py", "checks/fixtures/f.yaml")
    found = discover(["checks/more", "checks/a.yaml", "./checks/../checks/a.yaml", "checks/cases.py", "checks/fixtures/f.yaml"], project)
    assert names(found) == (["checks/a.yaml", "checks/fixtures/f.yaml", "checks/more/b.yaml"], ["checks/cases.py"], [])


def test_a_path_that_is_not_there_is_told_and_the_rest_is_found(project: Path) -> None:
    """Each with its code, and the nearest name."""
    put(project, "checks/answers.yaml", "checks/notes.txt")
    found = discover(["checks/answer.yaml", "checks/answers.yaml", "nowhere/a.yaml", "checks/notes.txt", "../a.yaml"], project)
    assert names(found) == (["checks/answers.yaml"], [], ["MISSING_FILE", "MISSING_FILE", "WRONG_FILE", "OUTSIDE_PROJECT"])
    assert [each.hint for each in found.problems][:2] == ["did you mean checks/answers.yaml?", None]


def test_nothing_but_what_is_hidden_is_passed_over(project: Path) -> None:
    """A folder or a file whose name begins with an underscore is searched, and an ending counts in any case."""
    put(project, "checks/_drafts/bad.yaml", "checks/_b.yml", "checks/BAD.YAML", "checks/check_c.PY")
    put(project, "checks/.hidden/h.yaml", "checks/__pycache__/p.yaml", "checks/snapshots/s.yaml")
    assert names(discover([], project)) == (["checks/BAD.YAML", "checks/_b.yml", "checks/_drafts/bad.yaml"], ["checks/check_c.PY"], [])
    assert names(discover(["checks/BAD.YAML", "checks/check_c.PY"], project)) == (["checks/BAD.YAML"], ["checks/check_c.PY"], [])


def test_a_link_is_followed_and_a_circle_is_not(project: Path) -> None:
    """Under the name of the link, wherever it leads; a folder inside itself, by whatever way, is searched once."""
    put(project, "checks/a/a.yaml", "checks/b/b.yaml", "elsewhere/deep/c.yaml")
    (project / "checks/link").symlink_to(project / "elsewhere")
    (project / "checks/a/up").symlink_to(project / "checks")
    (project / "checks/a/over").symlink_to(project / "checks/b")
    (project / "checks/b/back").symlink_to(project / "checks/a")
    (project / "checks/itself").symlink_to(project / "checks/itself")
    expected = ["a/a.yaml", "a/over/b.yaml", "b/b.yaml", "b/back/a.yaml", "link/deep/c.yaml"]
    assert names(discover([], project)) == ([f"checks/{name}" for name in expected], [], [])


def test_a_folder_that_cannot_be_read_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in it is not known, so it is a problem of the run; the rest is found."""
    put(project, "checks/a.yaml", "checks/shut/b.yaml")
    listed = os.listdir

    def listdir(folder: str) -> list[str]:
        if Path(folder).name == "shut":
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(os, "listdir", listdir)
    found = discover([], project)
    assert names(found) == (["checks/a.yaml"], [], ["UNREADABLE_FOLDER"])
    assert (str(found.problems[0].place), found.problems[0].message) == ("checks/shut", "this folder cannot be read: Permission denied")


def test_a_link_to_nothing_is_told(project: Path) -> None:
    """A check file or any Python file that cannot be read might hold checks."""
    (project / "checks").mkdir()
    (project / "checks/gone.py").symlink_to("nowhere.py")
    (project / "checks/lost.yaml").symlink_to("nowhere.yaml")
    found = discover([], project)
    assert names(found) == ([], [], ["UNREADABLE_FILE"] * 2)
    assert [str(each.place) for each in found.problems] == ["checks/gone.py", "checks/lost.yaml"]


@pytest.mark.parametrize("named", [[], ["checks/a.yaml"]])
def test_a_pipe_is_never_read(named: list[str], project: Path) -> None:
    """A file that is no regular one would be waited for: it is told, and the others are found."""
    put(project, "checks/b.yaml")
    os.mkfifo(project / "checks/a.yaml")
    found = discover([*named, "checks/b.yaml"] if named else [], project)
    assert names(found) == (["checks/b.yaml"], [], ["MISSING_FILE" if named else "UNREADABLE_FILE"])


def test_a_file_that_is_gone_when_it_is_read_is_told(project: Path) -> None:
    """Between finding and reading a file may vanish: that costs its own checks only."""
    checks, (problem,) = yaml_checks(Path("checks/gone.yaml"), project)
    assert (checks, problem.code, str(problem.place)) == ([], "UNREADABLE_FILE", "checks/gone.yaml")


def test_a_named_file_that_cannot_be_read_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that was found."""
    put(project, "checks/a.yaml")

    def read_bytes(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    assert names(discover(["checks/a.yaml"], project)) == ([], [], ["UNREADABLE_FILE"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (HEAD + ONE, ["MISNAMED_FILE"]),
        ("import invcheck\n\n@invcheck.check(expect=[])\ndef a(trial): ...\n", ["MISNAMED_FILE"]),
        ("from invcheck import check\n\n@check\ndef a(trial): ...\n", ["MISNAMED_FILE"]),
        ("from other import check\n\n@check\ndef a(trial): ...\n", []),
        ("import invcheck\n\n@checked\ndef a(trial): ...\n# @check is not here\n", []),
    ],
)
def test_checks_in_a_file_of_another_name_are_told(project: Path, text: str, told: list[str]) -> None:
    """A Python file that declares checks and is not called check_*.py would never run; a file that is named itself does."""
    put(project, "checks/answers.py", text=text)
    found = discover([], project)
    assert (names(found), [str(each.place) for each in found.problems]) == (([], [], told), ["checks/answers.py"] * len(told))
    assert names(discover(["checks/answers.py"], project)) == ([], ["checks/answers.py"], [])
    assert names(discover(["checks", "checks/answers.py"], project)) == ([], ["checks/answers.py"], [])


def test_a_project_without_checks_has_none(project: Path) -> None:
    """Unless its folder was asked for."""
    assert discover([], project) == Found()
    assert names(discover(["checks"], project)) == ([], [], ["MISSING_FILE"])


def test_yaml_files_are_read(project: Path) -> None:
    """Their checks and their mistakes."""
    put(project, "checks/a.yaml", text="check: a\napp: a:b\ncases: [{}]\nexpect: [{calls: 1}]\n")
    put(project, "checks/b.yaml", text="check: a\n")
    assert [check.id for check in yaml_checks(Path("checks/a.yaml"), project)[0]] == ["checks/a.yaml::a"]
    assert yaml_checks(Path("checks/b.yaml"), project)[0] == []


def test_a_python_file_declares_checks(project: Path) -> None:
    """In the order of the file, with places relative to the project."""
    text = HEAD + "@check(name='second name', cases=[Case('x', 1)], expect=[Unique('$.output')])\ndef two(trial):\n    return 2\n\n" + ONE
    checks, problems = python(project, text)
    assert problems == []
    assert [check.id for check in checks] == ["checks/check_a.py::second name", "checks/check_a.py::one"]
    assert checks[0].place == Place("checks/check_a.py", 4)
    assert checks[0].cases == (Case("x", 1, Place("checks/check_a.py", 4)),)
    assert checks[0].claim_places == (Place("checks/check_a.py", 4),)
    assert checks[0].function is not None
    assert checks[0].function.__module__ == "checks.check_a"
    assert sys.modules["checks.check_a"].two is checks[0].function


def test_a_file_is_run_once_under_one_name(project: Path) -> None:
    """A check file that another imports is the same module, and its checks stay its own."""
    put(project, "checks/check_b.py", text=HEAD + "print('run')\n" + ONE)
    checks, problems = python(project, HEAD + "from checks.check_b import one as other\n\n" + ONE)
    assert (problems, [check.id for check in checks]) == ([], ["checks/check_a.py::one"])
    assert [check.id for check in python_checks(Path("checks/check_b.py"), project)[0]] == ["checks/check_b.py::one"]
    assert [check.id for check in python_checks(Path("checks/check_b.py"), project)[0]] == ["checks/check_b.py::one"]


@pytest.mark.parametrize("name", ["checks/my-app/check_a.py", "checks/check_json.py"])
def test_a_file_whose_name_python_cannot_import_is_loaded_by_its_path(project: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A dash in a folder, or a project that is not importable from here; loading it twice runs it once."""
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(project)])
    checks, problems = python(project, HEAD + ONE, name)
    assert (problems, [check.id for check in checks]) == ([], [f"{name}::one"])
    assert python_checks(Path(name), project)[0] == checks


@pytest.mark.parametrize(
    ("text", "expected", "words"),
    [
        ("", ["NO_CHECK checks/check_a.py:1:1"], "the file declares no check"),
        ("import h4_not_there\n", ["IMPORT_RAISED checks/check_a.py:1"], "raised ModuleNotFoundError: No module named 'h4_not_there'"),
        ("a = 1\n1 / 0\n", ["IMPORT_RAISED checks/check_a.py:2"], "raised ZeroDivisionError: division by zero at checks/check_a.py:2"),
        ("def a(:\n", ["IMPORT_RAISED checks/check_a.py:1:7"], "raised SyntaxError"),
        ("import sys\nsys.exit(0)\n", ["IMPORT_RAISED checks/check_a.py:2"], "raised SystemExit: 0"),
        (BLOCKED, ["IMPORT_RAISED checks/check_a.py:2"], "raised NetworkBlocked"),
        (HEAD + "@check(expect=[Unique('$.a[')])\ndef one(t): ...\n", ["PATH_UNSUPPORTED checks/check_a.py:4"], "JSONPath"),
        (NOTHING, ["NO_CASE checks/check_a.py:4", "NO_ASSERTION checks/check_a.py:4"], "the check has no case"),
        (HEAD + ONE + ONE, ["DUPLICATE_NAME checks/check_a.py:7"], "the check 'one' stands twice: first in line 4"),
    ],
    ids=["empty", "missing-module", "raises", "syntax", "exit", "network", "path", "mistakes", "twice"],
)  # fmt: skip
def test_what_is_wrong_with_a_python_file_is_told(project: Path, text: str, expected: list[str], words: str) -> None:
    """With the line of the check file, whoever raised; the first of two checks of one name is not lost silently."""
    checks, problems = python(project, text)
    assert told(problems) == expected
    assert words in problems[0].message
    assert len(checks) == (1 if "twice" in words else 0)


def test_a_sound_check_beside_a_wrong_one_is_kept(project: Path) -> None:
    """One mistake never hides another check."""
    checks, problems = python(project, HEAD + ONE + "\n@check(runs=0, expect=[Unique('$.output')])\ndef two(trial):\n    return []\n")
    assert [check.name for check in checks] == ["one"]
    assert told(problems) == ["WRONG_TYPE checks/check_a.py:8"]


def test_a_python_file_that_is_not_there_is_told(project: Path) -> None:
    """As for any other path."""
    assert told(python_checks(Path("checks/check_z.py"), project)[1]) == ["MISSING_FILE checks/check_z.py"]


def test_a_file_that_failed_can_be_mended(project: Path) -> None:
    """What it declared before it failed is forgotten."""
    assert told(python(project, HEAD + ONE + "1 / 0\n")[1]) == ["IMPORT_RAISED checks/check_a.py:7"]
    assert told(python(project, HEAD + ONE + "1 / 0\n", "checks/my-app/check_a.py")[1]) == ["IMPORT_RAISED checks/my-app/check_a.py:7"]
    put(project, "checks/my-app/check_a.py", text=HEAD + ONE + "# mended\n")
    checks, problems = python_checks(Path("checks/my-app/check_a.py"), project)
    assert ([check.name for check in checks], problems) == (["one"], [])
