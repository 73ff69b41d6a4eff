"""The number of the process, as an audit sets it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from invcheck.sandbox import pids

REAL = os.getpid()


def test_the_process_has_a_made_up_number() -> None:
    """One that no process can have (proc(5): at most 4,194,304), its parent the one before, and others in each way."""
    numbers = []
    for way in (None, 0, 1):
        with pids.numbered(way):
            numbers.append(os.getpid())
            assert os.getppid() == os.getpid() - 1
    assert len({*numbers}) == 3
    assert min(numbers) > 4_194_304
    assert len({number % 2 for number in numbers}) == 2
    assert os.getpid() == REAL


def test_who_took_the_function_along_has_the_number_that_is_set_now() -> None:
    """And the real one when nothing is set any more."""
    with pids.numbered(None):
        taken, first = os.getpid, os.getpid()
    with pids.numbered(0):
        assert taken() == os.getpid() != first
    assert taken() == REAL


def test_a_child_has_its_own_number() -> None:
    """Who compares numbers to find out that it is a child still finds out."""
    with pids.numbered(0):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, b"child" if os.getpid() != pids._number else b"not")
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(read, 9) == b"child"
        os.close(read)
        os.close(write)


def test_a_signal_to_the_made_up_number_reaches_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """And one to any other number goes where it went."""
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(pids, "_kill", lambda pid, number: sent.append((pid, number)))
    with pids.numbered(1):
        os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(1, 0)
    pids.kill(0, 0)
    assert sent == [(REAL, signal.SIGUSR1), (1, 0), (0, 0)]


def test_libraries_that_deal_with_processes_are_told_the_real_one(tmp_path: Path) -> None:
    """multiprocessing compares it with what its children say, and psutil reads files by it."""
    space: dict[str, Any] = {"__name__": "psutil._pslinux"}
    exec("import os\ndef number(): return os.getpid()", space)
    with pids.numbered(0):
        assert space["number"]() == REAL != os.getpid()
    with pids.numbered(0):
        context = multiprocessing.get_context("fork")
        process = context.Process(target=(tmp_path / "ran").touch)
        process.start()
        process.join()
        assert process.exitcode == 0
    assert (tmp_path / "ran").exists()
