"""Runs whole processes in turn and compares them: medians of paired ratios, start-up included.

A child inherits its parent's peak of memory at exec, so peaks are read from a small process in between.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_MEASURE = """
import json, os, resource, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


@dataclass(frozen=True, slots=True)
class Run:
    """What one process took: CPU seconds, children included, and its peak in MB."""

    cpu: float
    peak: float


def run(command: Sequence[str], *, folder: Path | None = None) -> Run:
    """Run a command to its end in ``folder``, or raise RuntimeError where its exit status is not 0.

    Byte code is cached as users have it, whatever the environment says.
    """
    measure = [sys.executable, "-S", "-c", _MEASURE, *command]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    told = subprocess.run(measure, stdout=subprocess.PIPE, check=True, text=True, cwd=folder, env=env).stdout
    status, cpu, peak = json.loads(told.splitlines()[-1])
    if status:
        raise RuntimeError(f"exit status {status}: {' '.join(command)}")
    return Run(cpu, peak)


def pairs(one: Callable[[], Run], other: Callable[[], Run], times: int) -> tuple[list[Run], list[Run], float]:
    """Run both in turn, each first in half of the pairs; the median of CPU of the other over CPU of the one."""
    first, second = [], []
    for turn in range(times):
        for each in (0, 1) if turn % 2 else (1, 0):
            (second if each else first).append((other if each else one)())
    return first, second, statistics.median(b.cpu / a.cpu for a, b in zip(first, second, strict=True))
