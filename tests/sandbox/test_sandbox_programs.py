"""What is known of the programs that an event loop has started."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from invcheck.record import Record
from invcheck.sandbox import box, clock, programs
from invcheck.sandbox.waiters import Hold

READS = "import sys; print('up', flush=True); sys.stdin.readline()"
SLEEPS = "import time; print('up', flush=True); time.sleep(60)"
COMPUTES = "print('up', flush=True)\nwhile True: pass"
STARTS = f"import subprocess, sys; print('up', flush=True); subprocess.run([sys.executable, '-c', {SLEEPS!r}])"
BESIDE = f"import threading, time\nthreading.Thread(target=time.sleep, args=[60], daemon=True).start()\n{READS}"


@pytest.fixture
def child(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    """A program that is up."""
    with subprocess.Popen([sys.executable, "-c", request.param], stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0) as made:
        assert made.stdout is not None
        assert made.stdout.readline() == b"up\n"
        yield made
        os.killpg(made.pid, signal.SIGKILL)


def holds(known: programs.Programs) -> list[Hold]:
    """What they are in the end: what is seen until it is the same for as long as a program takes to settle."""
    seen = [known.hold()]
    began = clock.real_monotonic()
    while clock.real_monotonic() - began < 0.25:
        clock.real_sleep(0.005)
        seen.append(known.hold())
    return seen


@pytest.mark.parametrize(
    ("child", "last"),
    [(READS, Hold.NOT), (SLEEPS, Hold.REAL), (COMPUTES, Hold.STILL), (STARTS, Hold.REAL), (BESIDE, Hold.REAL)],
    indirect=["child"],
    ids=["reads", "sleeps", "computes", "starts", "beside"],
)
def test_what_a_program_does_is_what_holds_time(child: subprocess.Popen[bytes], last: Hold, monkeypatch: pytest.MonkeyPatch) -> None:
    """At work it keeps time still; one that waits to be fed holds nothing, one that sleeps by itself as long as in real time."""
    monkeypatch.setattr(programs, "_SETTLES", 0.1)
    known = programs.Programs()
    assert not known
    known.add(child.pid, lambda: child.poll() is not None)
    assert known
    seen = holds(known)
    assert (seen[0], seen[-1]) == (Hold.STILL, last)


@pytest.mark.parametrize("child", [COMPUTES], indirect=True)
def test_a_program_that_computes_for_ever_is_not_waited_for(child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while it holds time as one that sleeps does."""
    known = programs.Programs()
    known.add(child.pid, lambda: False)
    monkeypatch.setattr(programs, "LIMIT", 0.0)
    assert known.hold() is Hold.REAL


def test_a_program_that_is_gone_holds_nothing_more_than_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel does not know it any more, and its end was not heard of yet: it comes in a moment."""
    monkeypatch.setattr(programs, "_SETTLES", 0.1)
    known, over = programs.Programs(), []
    known.add(2**22 + 1, lambda: bool(over))
    assert holds(known)[-1] is Hold.NOT
    over.append(True)
    assert not known
    assert known.hold() is Hold.NOT


def test_an_idle_server_over_pipes_lets_a_night_pass() -> None:
    """An app may sleep for hours while a server that it talks to over pipes waits: at once, and its answers have no false limit."""

    async def main() -> tuple[list[bytes], float]:
        echo = "import sys\nfor line in sys.stdin: print(line.strip() * 2, flush=True)"
        pipe = asyncio.subprocess.PIPE
        server = await asyncio.create_subprocess_exec(sys.executable, "-c", echo, stdin=pipe, stdout=pipe)
        assert server.stdin is not None
        assert server.stdout is not None
        answers = []
        for asked in (b"a\n", b"b\n"):
            server.stdin.write(asked)
            answers.append(await asyncio.wait_for(server.stdout.readline(), 0.001))
            await asyncio.sleep(30_000)
        server.stdin.close()
        await server.wait()
        return answers, asyncio.get_running_loop().time()

    record = Record()
    with box.trial(record):
        assert asyncio.run(main()) == ([b"aa\n", b"bb\n"], 61_000)
    assert record.ambient == {}


def test_a_system_call_without_a_limit_is_known() -> None:
    """read(2) has none; poll(2) has one where its third argument is no -1; what is not known may have one."""
    calls: dict[str, Any] = {
        "0 0x0 0x1 0x2": True,
        "7 0x1 0x2 0xffffffff 0x0": True,
        "7 0x1 0x2 0x5 0x0": False,
        "230 0x0 0x0 0x0 0x0": False,
        "running": False,
        "": False,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "_UNLIMITED", programs._READS["x86_64"])
        for told, fed in calls.items():
            patch.setattr(programs, "_told", lambda _file, told=told: told)
            assert programs._fed("task") is fed


def test_what_the_kernel_does_not_tell_is_nothing() -> None:
    """A thread that ended between two looks has no status."""
    assert programs._told("/proc/self/task/0/status") == ""
