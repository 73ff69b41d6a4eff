"""What a worker's processes use, seen from outside, and when that is too much."""

from __future__ import annotations

import os
from typing import Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.engines import confined, limits
from invcheck.engines.limits import Kind, Limits, Meter, Use

MIB = 1 << 20
NOBODY = 2**22 + 1  # above the kernel's highest process id


class Child:
    """A forked child that holds memory and waits."""

    def __init__(self, mine: int = 0) -> None:
        ready, says = os.pipe()
        until, self._end = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            held = bytearray(os.urandom(1) * mine)
            os.write(says, b".")
            os.close(self._end)
            os.read(until, 1)
            os._exit(len(held) and 0)
        os.close(until)
        os.read(ready, 1)
        for descriptor in (ready, says):
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        os.close(self._end)
        os.waitpid(self.pid, 0)


def test_a_tree_is_counted_whole() -> None:
    """Processes below, their memory, and the processor time of those that are over and were waited for."""
    with Child() as small, Child(64 * MIB) as large:
        use = limits.used(os.getpid())
        assert {os.getpid(), small.pid, large.pid} <= {*use.processes}
        assert use.memory - limits.used(small.pid).memory >= 64 * MIB
        assert limits.used(large.pid).processes == (large.pid,)
    spent = sum(os.times()[:4])
    assert limits.used(os.getpid()).cpu_seconds == pytest.approx(spent, abs=0.2)


def test_what_has_ended_uses_nothing() -> None:
    """It is no error: a process may end between one look and the next."""
    assert limits.used(NOBODY) == Use(0, 0.0, ())
    assert limits.shared(NOBODY) == 0


def test_memory_that_is_shared_is_counted_once() -> None:
    """A child by fork has all of its parent's memory, and nearly none of its own."""
    held = bytearray(os.urandom(1) * (128 * MIB))
    alone = limits.shared(os.getpid())
    with Child() as child:
        assert limits.used(child.pid).memory >= 128 * MIB
        both = limits.shared(os.getpid()) + limits.shared(child.pid)
        assert both == pytest.approx(alone, abs=24 * MIB)
    assert len(held) == 128 * MIB


def test_a_process_that_hides_what_it_shares_is_charged_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that forbade to be looked into (PR_SET_DUMPABLE) is no way around the limit."""
    real = limits._read
    monkeypatch.setattr(limits, "_read", lambda name: b"" if name.endswith("smaps_rollup") else real(name))
    assert limits.shared(os.getpid()) == pytest.approx(limits.used(os.getpid()).memory, rel=0.5)


class Looks:
    """A meter over processes of whom it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, shared: int = 0) -> None:
        self.use = Use(0, 0.0, (1,))
        monkeypatch.setattr(limits, "used", lambda _keeper: self.use)
        monkeypatch.setattr(limits, "shared", lambda _process: shared)
        self.meter = Meter(1, Limits(memory=1000 * MIB, cpu_seconds=5.0, processes=3), 100.0)

    def look(self, *, memory: int = 0, cpu: float = 0.0, processes: int = 1, trial: int = 1) -> Kind | None:
        """Look once at what is given."""
        self.use = Use(memory, cpu, tuple(range(processes)))
        return self.meter.look(trial, 100.0)


def test_processor_time_counts_for_each_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first look at it; what earlier trials took is not charged to a later one."""
    looks = Looks(monkeypatch)
    assert [looks.look(cpu=cpu) for cpu in (50.0, 55.0, 55.1)] == [None, None, Kind.CPU]
    assert [looks.look(cpu=cpu, trial=2) for cpu in (70.0, 75.0, 75.1)] == [None, None, Kind.CPU]


def test_memory_is_charged_as_it_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool of children that have their parent's memory does not pass the limit; one that does is told."""
    assert Looks(monkeypatch, shared=400 * MIB).look(memory=1200 * MIB, processes=2) is None
    assert Looks(monkeypatch, shared=600 * MIB).look(memory=1200 * MIB, processes=2) is Kind.MEMORY
    assert Looks(monkeypatch, shared=2000 * MIB).look(memory=1000 * MIB) is None


def test_too_many_processes_are_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else they use: they are why."""
    looks = Looks(monkeypatch, shared=2000 * MIB)
    assert looks.look(processes=3) is None
    assert looks.look(processes=4, memory=1 << 40, cpu=99.0) is Kind.PROCESSES


def test_twice_the_memory_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has passed the limit may say where it stands, unless it takes so much more meanwhile."""
    looks = Looks(monkeypatch)
    assert looks.look(memory=1999 * MIB) is None
    assert looks.meter.bearable()
    looks.look(memory=2000 * MIB)
    assert not looks.meter.bearable()


@given(st.integers(0, 2000 * MIB))
def test_the_nearer_the_limit_the_sooner_the_next_look(memory: int) -> None:
    """In a quarter of a second at the latest, in a hundredth at the earliest, and before 4 GiB a second could pass it."""
    with pytest.MonkeyPatch.context() as patched:
        looks = Looks(patched)
        assert looks.look(memory=memory) is None
        pause = looks.meter.due - 100.0
    assert 0.009 < pause < 0.251
    assert pause < 0.011 or memory > 1000 * MIB or memory + pause * (4 << 30) <= 1001 * MIB


FORKS = """
import os
from invcheck.engines import channel


def forks(task, emit):
    for _ in range(6):
        if not os.fork():
            while True:
                pass
    while True:
        pass


channel.serve({"forks": forks})
"""


def test_a_bomb_of_processes_is_defused() -> None:
    """Where more run than are allowed the task is ended, which says so, and so are they."""
    with confined.Pool(["-c", FORKS], limits=Limits(processes=5)) as made:
        (told,) = [message for _, message in made.run([{"do": "forks"}])]
        assert (told["used"], told["words"]) == ("processes", "more than 5 processes ran at once")
        assert made._workers == []
