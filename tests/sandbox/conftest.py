"""The sandbox, installed once in the test process, with the network cut in trials only."""

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from invcheck.record import Record
from invcheck.sandbox import box

Schedules: TypeAlias = Callable[[Callable[[Record], object], int], list[tuple[object, Record]]]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    """Install the sandbox the way an in-process user does."""
    box.install(ROOT, armed=False)


@pytest.fixture
def schedules() -> Iterator[Schedules]:
    """Runs an app in many trials, each at another pace of switching threads: what it gave, and the record."""
    before = sys.getswitchinterval()

    def run(app: Callable[[Record], object], times: int) -> list[tuple[object, Record]]:
        pace, seen = random.Random(7), []
        for _ in range(times):
            sys.setswitchinterval(pace.choice([1e-6, 1e-5, 1e-4, 5e-3]))
            record = Record()
            with box.trial(record):
                seen.append((app(record), record))
        return seen

    yield run
    sys.setswitchinterval(before)


@pytest.fixture
def trio_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lets the threads that trio keeps end with the test: another one may count threads."""
    from trio._core import _thread_cache  # noqa: PLC0415  # most tests are without it

    monkeypatch.setattr(_thread_cache, "IDLE_TIMEOUT", 0.01)
    yield
    for worker in list(_thread_cache.THREAD_CACHE._idle_workers):
        worker._thread.join()


@pytest.fixture
def answering() -> Iterator[tuple[int, int]]:
    """Two descriptors: a byte is read from the second some real time after one was written to the first, by another program.

    Whoever reads it is stuck out of sight for longer than a thread takes to be taken for stuck.
    """
    answers = "import os, time; os.read(0, 1); time.sleep(0.1); os.write(1, b'x')"
    with subprocess.Popen([sys.executable, "-c", answers], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        yield other.stdin.fileno(), other.stdout.fileno()
