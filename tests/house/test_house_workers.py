"""Where user code runs: in workers of the one pool, whatever the command; each exception is listed here with its reason."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest
import typer

from invcheck.cli import main, parser
from invcheck.cli import serve as serving
from invcheck.engines import confined
from invcheck.errors import Refused

SOURCE = Path(__file__).parents[2] / "src" / "invcheck"

STARTERS = {
    "_isolate.py": "has a cell made for pytest, which a user asks to be confined as a whole",
    "_probe.py": "takes ways out, one of which is to start a program",
    "_proof.py": "is judge in a process and a namespace of its own, and takes ways out without walls",
    "engines/channel.py": "forks inside a worker: one child for each case",
    "engines/spare.py": "forks inside a worker: a case as it was before its first trial",
    "engines/worker.py": "has the cell of a worker made, for the pool",
    "gate/cell.py": "makes every cell",
    "gate/keeper.py": "forks inside a cell that is being made",
    "sandbox/network.py": "forks inside a worker, for whoever asks for a child of ours",
}
"""What starts a process, and why."""

FORKS = {"fork", "forkpty", "execv", "execve", "execvp", "execl", "posix_spawn", "posix_spawnp", "system", "popen", "spawnv", "spawnl"}
MODULES = {"multiprocessing", "subprocess", "_posixsubprocess"}
MAKERS = {"Cell", "ProcessPoolExecutor"}


def starts(text: str) -> bool:
    """Whether a module starts a process, or makes a cell, which is the same."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Attribute(value=ast.Name(id="os" | "pty"), attr=name) if name in FORKS:
                return True
            case ast.Import(names=names) if {name.name for name in names} & MODULES:
                return True
            case ast.ImportFrom(module=name) if name in MODULES:
                return True
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in MAKERS:
                return True
    return False


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("import os\nos.fork()", True),
        ("import os\nkept = os.execve", True),
        ("def f():\n    import subprocess", True),
        ("from concurrent import futures\nfutures.ProcessPoolExecutor(2)", True),
        ("from invcheck.gate import cell\ncell.Cell(program, walls)", True),
        ('import os\nos.getpid()\n_KNOWN = {"subprocess"}\nos.register_at_fork()', False),
    ],
)
def test_what_starts_a_process_is_seen(text: str, does: bool) -> None:
    """The rule below bites: every way to start a process is known to it."""
    assert starts(text) is does


def test_only_what_is_listed_starts_a_process() -> None:
    """No module starts a process beside those with a reason: all else gets workers from the pool."""
    found = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if starts(path.read_text(encoding="utf-8"))}
    assert found == set(STARTERS)


WORKERS = {
    "doctor": "runs the ways out, in a worker of the pool",
    "list": "has check files imported by workers of the pool",
    "run": "has check files imported and trials run by workers of the pool",
}
WITHOUT = {"merge": "reads reports", "schema": "prints our own schema"}
IN_PROCESS = {"serve": "answers a real port for whoever develops: no trial, so nothing to confine; a script's references load beside it"}


def test_every_command_says_where_user_code_runs() -> None:
    """A new command is put here first: its workers come from the pool, it runs nothing of the user's, or it has a reason."""
    table = typer.main.get_command(parser.app)
    assert sorted(table.commands) == sorted({**WORKERS, **WITHOUT, **IN_PROCESS})  # type: ignore[attr-defined]  # it is a group


USER = """
from pathlib import Path

import invcheck

Path("imported").touch()


@invcheck.check(cases=[{}])
def answers() -> str:
    return "yes"


def reply(rng: object, request: object) -> str:
    return "yes"
"""

WORDS = {
    "doctor": [], "list": [], "run": [], "merge": ["shard.jsonl"], "schema": [], "serve": ["script.json"],
}  # fmt: skip


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose check file leaves a trace where it is imported, on a machine without workers."""
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "check_user.py").write_text(USER, encoding="utf-8")
    (tmp_path / "script.json").write_text(json.dumps({"drifting": "checks.check_user:reply"}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(serving, "wait", lambda: None)

    def refuse(*_words: object, **_options: object) -> None:
        raise Refused("there are no workers today")

    monkeypatch.setattr(confined, "Pool", refuse)
    return tmp_path / "imported"


@pytest.mark.parametrize("command", [*WORKERS, *WITHOUT])
def test_no_user_code_runs_where_there_is_no_worker(command: str, imported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the pool a command that needs workers gives up, and none imports a check file into its own process."""
    status = main([command, *WORDS[command]])
    assert not imported.exists()
    assert ("there are no workers today" in capsys.readouterr().err) is (command in WORKERS)
    assert (status in (3, 4)) is (command in WORKERS)


@pytest.mark.parametrize("command", IN_PROCESS)
def test_the_exception_is_one(command: str, imported: Path) -> None:
    """The command that loads user code beside itself does: the trace that the others do not leave is there."""
    main([command, *WORDS[command]])
    for name in ("checks.check_user", "checks"):
        sys.modules.pop(name, None)
    assert imported.exists()
