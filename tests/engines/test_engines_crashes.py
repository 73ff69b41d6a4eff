"""What a task leaves behind, stops or kills, in every tier: its supervisor hears of it, and nothing stays."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from invcheck.engines import confined, limits
from invcheck.gate.tiers import Tier

PROGRAM = """
    import os, signal, sys, time
    from invcheck.engines import channel

    def daemon(task, emit):
        heard, says = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            os.write(says, b"up")
            time.sleep(3600)
        os.wait()
        os.read(heard, 2)
        emit({"up": True})
        while task.get("stays"):
            pass
        return "left one"

    def hurt(task, emit):
        target = {"itself": os.getpid, "parent": os.getppid, "supervisor": lambda: int(task["pid"])}[task["whom"]]()
        os.kill(target, getattr(signal, task["by"]))
        time.sleep(task.get("seconds", 0))
        return "still here"

    def named(task, emit):
        return [os.getpid(), os.getppid(), int(os.readlink("/proc/self")), sorted(map(int, filter(str.isdigit, os.listdir("/proc"))))]

    handlers = {"daemon": daemon, "hurt": hurt, "hurts": hurt, "named": named}
    channel.serve(handlers, apart={"daemon", "hurt"})
"""
TIERS = (Tier.K1, Tier.K2, Tier.K3, Tier.SOFT)


@contextmanager
def pool(tier: Tier) -> Iterator[confined.Pool]:
    """Workers of this test's program in one tier."""
    with confined.Pool(["-c", textwrap.dedent(PROGRAM)], tiers=[tier]) as made:
        yield made


def last(made: confined.Pool, *tasks: Any) -> list[Any]:
    """The last message of each task."""
    return [message for _, message in sorted(made.run(tasks), key=lambda told: told[0]) if "event" not in message]


def gone(process: int) -> bool:
    """Whether a process is over, waiting for it in the kernel for up to five seconds."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 5)[0])
    finally:
        os.close(descriptor)


def standing(made: confined.Pool) -> list[int]:
    """What runs for a pool, as this machine numbers it."""
    return [process for each in made._workers for process in limits.used(each.cell.keeper).processes]


@pytest.mark.parametrize("tier", TIERS)
def test_a_daemon_ends_with_the_task_that_left_it(tier: Tier) -> None:
    """Its worker goes on, with as many processes as before."""
    with pool(tier) as made:
        assert "done" in last(made, {"do": "named"})[0]
        before = standing(made)
        assert last(made, {"do": "daemon"}) == [{"done": "left one"}]
        assert last(made, {"do": "named"})[0]["done"][3 if tier is Tier.K1 else 0]
        assert standing(made) == before


@pytest.mark.parametrize("tier", TIERS)
def test_a_daemon_ends_with_its_worker(tier: Tier) -> None:
    """Whoever stops early ends it, although it left the session and the group."""
    with pool(tier) as made:
        for _, message in made.run([{"do": "daemon", "stays": True}]):
            assert message == {"event": {"up": True}}
            processes = standing(made)
            break
        made.abandon()
    assert len(processes) >= 4  # a keeper, the worker, its child, and the daemon
    assert all(map(gone, processes))


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(
    ("task", "told"),
    [
        ({"do": "hurt", "whom": "itself", "by": "SIGSTOP"}, "signal 19 (SIGSTOP)"),
        ({"do": "hurts", "whom": "itself", "by": "SIGSTOP"}, "signal 19 (SIGSTOP)"),
        ({"do": "hurt", "whom": "parent", "by": "SIGSTOP"}, "signal 19 (SIGSTOP)"),
        ({"do": "hurt", "whom": "parent", "by": "SIGKILL"}, "signal 9 (SIGKILL)"),
    ],
)
def test_who_stops_or_kills_the_worker_is_heard_of_at_once(task: Any, told: str, tier: Tier) -> None:
    """By no cap of real time, and whatever the case itself answers; the next task is done by another worker."""
    with pool(tier) as made:
        assert last(made, task, {"do": "daemon"}) == [{"died": told, "breaches": []}, {"done": "left one"}]


@pytest.mark.parametrize("tier", [Tier.K2, Tier.SOFT])
def test_who_kills_the_keeper_kills_its_worker(tier: Tier) -> None:
    """Where the keeper can be seen: the worker does not outlive it, and the supervisor does."""
    with pool(tier) as made:
        seen = last(made, {"do": "hurts", "whom": "parent", "by": "SIGKILL", "seconds": 30}, {"do": "daemon"})
    assert seen == [{"died": "signal 9 (SIGKILL)", "breaches": []}, {"done": "left one"}]


@pytest.mark.parametrize("tier", [Tier.K2, Tier.SOFT])
def test_a_keeper_that_was_stopped_still_ends_everything(tier: Tier) -> None:
    """The end of a worker does not wait for what the app did to its keeper."""
    with pool(tier) as made:
        assert last(made, {"do": "hurts", "whom": "parent", "by": "SIGSTOP"}) == [{"done": "still here"}]
        processes = standing(made)
    assert all(map(gone, processes))


def test_in_the_first_tier_nobody_outside_can_be_signalled() -> None:
    """A worker has process numbers of its own, /proc shows them, and the numbers of others are nobody's; the first is immune."""
    with pool(Tier.K1) as made:
        own, parent, link, listed = last(made, {"do": "named"})[0]["done"]
        assert (own, parent, link, listed) == (2, 1, 2, [1, 2])
        assert last(made, {"do": "hurts", "whom": "parent", "by": "SIGKILL"}) == [{"done": "still here"}]
        (failed,) = last(made, {"do": "hurts", "whom": "supervisor", "by": "SIGKILL", "pid": os.getpid()})
        assert failed["failed"]["message"].startswith("ProcessLookupError")


SUPERVISOR = """
    import os, sys
    from invcheck.engines import confined, limits
    from invcheck.gate.tiers import Tier
    with confined.Pool(["-c", sys.argv[1]], tiers=[Tier(sys.argv[2])]) as made:
        for _, message in made.run([{"do": "daemon", "stays": True}]):
            print(*limits.used(os.getpid()).processes[1:], flush=True)
"""


@pytest.mark.parametrize("tier", TIERS)
def test_nothing_outlives_a_supervisor_that_was_killed(tier: Tier, tmp_path: Path) -> None:
    """Daemons neither, in no tier: the keeper hears of it."""
    words = [sys.executable, "-c", textwrap.dedent(SUPERVISOR), textwrap.dedent(PROGRAM), tier]
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ) as supervisor:
        assert supervisor.stdout is not None
        processes = [int(word) for word in supervisor.stdout.readline().split()]
        supervisor.send_signal(signal.SIGKILL)
    assert len(processes) >= 4
    assert all(map(gone, processes))


def test_whoever_is_in_a_hurry_waits_for_no_idle_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that would not end by itself is given an hour at the end of a run, and no moment where somebody interrupts."""
    monkeypatch.setattr(confined, "_GRACE", 3_600_000)
    lingers = f"{textwrap.dedent(PROGRAM)}\nwhile True: pass"
    with confined.Pool(["-c", lingers]) as made:
        assert "done" in last(made, {"do": "named"})[0]
        processes = standing(made)
        made.abandon()
    assert len(processes) >= 2
    assert all(map(gone, processes))
