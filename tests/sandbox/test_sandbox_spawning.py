"""Who started a program is remembered, whatever started it; on the soft gate nobody may."""

import asyncio
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from invcheck.errors import NetworkBlocked
from invcheck.record import Record
from invcheck.sandbox import box, network, notes, reasons, spawning

HERE = "tests/sandbox/test_sandbox_spawning.py"
TRUE = "/bin/true"


def by_fork_and_exec() -> None:
    """What os.spawnv does as well."""
    child = os.fork()
    if child == 0:
        try:
            os.execv(TRUE, ["true", "x"])
        finally:
            os._exit(1)
    os.waitpid(child, 0)


async def by_asyncio() -> None:
    """As an async app does it."""
    program = await asyncio.create_subprocess_exec(TRUE, "x")
    await program.wait()


def by_multiprocessing() -> None:
    """The way that raises no audit event of Python's own."""
    process = multiprocessing.get_context("spawn").Process(target=os.getpid)
    process.start()
    process.join()


WAYS: dict[str, tuple[str, Callable[[], Any]]] = {
    "run": ("true x", lambda: subprocess.run([TRUE, "x"], check=True)),
    "a path": ("true", lambda: subprocess.run(Path(TRUE), check=True)),
    "a shell": ("sh -c true x", lambda: subprocess.run("true x", shell=True, check=True)),
    "asyncio": ("true x", lambda: asyncio.run(by_asyncio())),
    "system": ("sh -c true x", lambda: os.system("true x")),
    "popen": ("sh -c true x", lambda: os.popen("true x").close()),
    "posix_spawn": ("true x", lambda: os.waitpid(os.posix_spawn(TRUE, ["true", "x"], {}), 0)),
    "multiprocessing": ("python -", by_multiprocessing),
}


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of other tests is remembered."""
    monkeypatch.setattr(spawning, "_started", [])


@pytest.mark.parametrize("way", WAYS)
def test_who_starts_a_program_is_remembered(way: str) -> None:
    """Its command line without folder and version, and the line of the project."""
    text, start = WAYS[way]
    with box.trial(Record()):
        start()
    known = [each for each in spawning._started if each.text.startswith(text)]
    assert known, spawning._started
    assert {str(each.where).rpartition(":")[0] for each in known} == {HERE}
    assert all(each.line for each in known)


@pytest.mark.parametrize("way", WAYS)
def test_on_the_soft_gate_no_program_is_started(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a breach with words of its own, although the app swallows it; none of it is done."""
    monkeypatch.setattr(network, "_soft", True)
    record = Record()
    with box.trial(record), suppress(NetworkBlocked):
        WAYS[way][1]()
    (breach,) = record.breaches
    assert breach["what"] == "another program was started"
    assert breach["wanted"].startswith(WAYS[way][0])
    assert breach["why"] == "the soft gate cannot see what other programs do"
    assert breach["where"].startswith(f"{HERE}:")


def test_on_the_soft_gate_a_child_by_fork_may_not_become_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork alone is no program: the child is heard, and what it would become is refused there."""
    monkeypatch.setattr(network, "_soft", True)
    record = Record()
    with box.trial(record):
        by_fork_and_exec()
    (breach,) = record.breaches
    assert (breach["wanted"], breach["where"]) == ("true x", f"{HERE}:by_fork_and_exec")


def test_a_child_by_fork_notes_what_it_starts() -> None:
    """Its memory is lost with it."""
    with box.trial(Record()):
        by_fork_and_exec()
    (known,) = spawning._started
    assert (known.text, known.where) == ("true x", f"{HERE}:by_fork_and_exec")


def test_outside_of_a_trial_programs_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """While files are loaded too, also behind the soft gate: libraries ask linkers and compilers for their like."""
    monkeypatch.setattr(network, "_soft", True)
    before = network.arm(True)
    try:
        assert subprocess.run([TRUE], check=True).returncode == 0
    finally:
        network.arm(before)
    assert network.pending() == []


def test_the_program_of_a_command_line_is_found() -> None:
    """The same words before words that begin so, before a shell that holds them, before the same program, else the only one."""
    assert spawning.of("curl x") is None
    shell = spawning.remember(spawning.Started("sh -c curl -s http://x; date", "a.py:f", 1))
    assert spawning.of("curl -s http://x") == shell
    assert spawning.of("nc y") == shell
    other = spawning.remember(spawning.Started("curl -s http://y/" + "p" * 90, "a.py:f", 2))
    assert spawning.of("curl -s http://x") == shell
    assert spawning.of("curl -s http://y/" + "p" * 60 + "…") == other
    assert spawning.of("curl z") == other
    assert spawning.of("nc y") is None


def test_the_last_programs_are_remembered() -> None:
    """An app that starts thousands needs no memory for them; one that is started again is the last one."""
    frame = sys._getframe()
    for name in ("a", *(f"p{number}" for number in range(63)), "a", "p5", "b"):
        spawning.started([name], frame if name.startswith("p") else None)
    assert [each.text for each in spawning._started] == [f"p{number}" for number in range(1, 63) if number != 5] + ["a", "p5", "b"]
    assert spawning._started[0].where == f"{HERE}:test_the_last_programs_are_remembered"


def test_a_command_line_is_shown_whole_without_folders() -> None:
    """Where it is known, however the kernel has cut it; a long one is cut then."""
    root = Path(__file__).parents[2]
    program = spawning.Started(f"curl -o {root}/out " + "x" * 100, None, None)
    assert spawning.shown(f"curl -o {root}…", program) == "curl -o out " + "x" * 100
    assert spawning.shown("curl y", program) == "curl y"
    assert spawning.shown("z" * 200, None) == "z" * 159 + "…"


def test_the_reasons_name_the_exact_line_to_add() -> None:
    """Loopback by its address, a path, an odd family, a datagram that cannot be allowed, and nothing for the rest."""
    tell = reasons.reasons
    assert 'allow = ["tcp:localhost:5432"]' in tell("::1", 5432, loopback=True)["hint"]
    assert 'allow = ["tcp:localhost:6379"]' in tell("localhost", 6379, loopback=True)["hint"]
    assert "allow" not in tell("127.0.0.1", 8125, loopback=True, datagram=True)["hint"]
    assert 'allow = ["unix:/run/pg/.s.PGSQL.5432"]' in tell("unix:/run/pg/.s.PGSQL.5432", None)["hint"]
    assert tell("address family 40", None)["why"] == "address family 40 leads out of the gate, and cannot be allowed"
    assert tell("api.example.com", 443) == tell("localhost", None, loopback=True) == {}
    assert "programs" in tell("api.example.com", 443, program=True)["why"]


def test_notes_of_a_program_are_no_breach() -> None:
    """What a child by fork started is told to nobody as an attempt."""
    file = notes.notes_file()
    try:
        assert list(notes.told([{"started": "x", "where": None, "line": None, "process": 1}], [])) == []
    finally:
        os.close(file)
