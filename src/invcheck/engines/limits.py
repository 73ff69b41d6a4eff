"""What a worker's processes may use up: looked at from outside, now and then, so that no app is told and none can catch it.

The kernel's own limits (setrlimit(2)) hold for one process, count what is reserved and not what is used, and answer with a
MemoryError or a signal that an app may handle: then its claims would be judged by how much memory a machine has.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum

_LONGEST, _SHORTEST = 0.25, 0.01  # seconds between two looks
_FASTEST = 4 << 30  # bytes that a process may touch in a second, roughly
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Kind(StrEnum):
    """What was used up."""

    MEMORY = "memory"
    CPU = "cpu"
    PROCESSES = "processes"


@dataclass(frozen=True, slots=True)
class Limits:
    """What all processes of a worker together may use: bytes of memory, processor seconds in one trial, processes at once.

    The defaults are the same on every machine, as a verdict must be: a share of what a machine has would make a run red on
    a small one. Where less memory is there than is allowed, the kernel ends a worker before it ends anything else.
    """

    memory: int = 4 << 30
    cpu_seconds: float = 30.0
    processes: int = 512

    def words(self, kind: Kind) -> str:
        """Say what was used up.

        >>> Limits(memory=3 << 29).words(Kind.MEMORY)
        'its processes held more than 1.5 GiB of memory'
        >>> Limits(cpu_seconds=30.0).words(Kind.CPU)
        'it took more than 30 seconds of processor time'
        """
        return {
            Kind.MEMORY: f"its processes held more than {size(self.memory)} of memory",
            Kind.CPU: f"it took more than {self.cpu_seconds:g} seconds of processor time",
            Kind.PROCESSES: f"more than {self.processes} processes ran at once",
        }[kind]


@dataclass(frozen=True, slots=True)
class Use:
    """What a tree of processes uses: bytes in memory, seconds of processor time since it began, how many they are.

    Memory that they share is counted for each; see `shared`.
    """

    memory: int
    cpu_seconds: float
    processes: tuple[int, ...]


class Meter:
    """Looks at what the processes below ``keeper`` use while a task is in hand; ``due`` is when to look again, in seconds."""

    def __init__(self, keeper: int, limits: Limits, now: float) -> None:
        self.limits, self.due = limits, now + _LONGEST
        self._keeper = keeper
        self._trial, self._before = -1, 0.0

    def look(self, trial: int, now: float) -> Kind | None:
        """Say what is used up, if anything is.

        ``trial`` is another number for each trial: its processor time counts from the first look at it.
        """
        use = used(self._keeper)
        if trial != self._trial:
            self._trial, self._before = trial, use.cpu_seconds
        left = self.limits.memory - use.memory
        self.due = now + min(_LONGEST, max(_SHORTEST, left / _FASTEST))
        if len(use.processes) > self.limits.processes:
            return Kind.PROCESSES
        if use.cpu_seconds - self._before > self.limits.cpu_seconds:
            return Kind.CPU
        if left >= 0:
            return None
        self.due = now + _LONGEST  # the exact figure is dear
        return Kind.MEMORY if sum(map(shared, use.processes)) > self.limits.memory else None

    def bearable(self) -> bool:
        """Say whether it may go on for the moment that it takes to tell where it stands, although a limit was passed."""
        return used(self._keeper).memory < 2 * self.limits.memory


def used(keeper: int) -> Use:
    """Give what a process and all below it use; those that end meanwhile count for nothing (proc(5))."""
    memory, ticks, seen, left = 0, 0, list[int](), [keeper]
    while left:
        process = left.pop()
        fields = _read(f"{process}/stat").rpartition(b")")[2].split()
        if not fields:
            continue
        seen.append(process)
        ticks += sum(map(int, fields[11:15]))  # utime, stime, and both of the children that were waited for
        memory += int(fields[21]) * _PAGE
        for thread in _listed(f"{process}/task"):
            left += map(int, _read(f"{process}/task/{thread}/children").split())
    return Use(memory, ticks / _TICK, tuple(seen))


def shared(process: int) -> int:
    """Give the bytes that a process holds, of what it shares its share, swapped or not; all of it where it hides that."""
    lines = _read(f"{process}/smaps_rollup").splitlines()
    exact = sum(int(line.split()[1]) for line in lines if line.startswith((b"Pss:", b"SwapPss:"))) << 10
    return exact or sum(map(int, _read(f"{process}/statm").split()[1:2])) * _PAGE


def size(amount: int) -> str:
    """Spell a number of bytes as people do.

    >>> size(4 << 30), size(512 << 20), size(1000)
    ('4 GiB', '512 MiB', '1000 bytes')
    """
    for unit, one in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if amount >= one:
            return f"{amount / one:g} {unit}"
    return f"{amount} bytes"


def _listed(name: str) -> list[str]:
    try:
        return os.listdir(f"/proc/{name}")  # noqa: PTH208  # names alone
    except OSError:  # it has ended
        return []


def _read(name: str) -> bytes:
    try:
        with open(f"/proc/{name}", "rb") as file:  # noqa: PTH123  # a plain read
            return file.read()
    except OSError:  # it has ended
        return b""
