"""Waits that stay in real time: named where the project asks for one, and otherwise what they were."""

from __future__ import annotations

import asyncio
import copy
import logging
import multiprocessing
import multiprocessing.pool
import os
import queue
import select
import selectors
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from invcheck.record import Record
from invcheck.sandbox import box, unhandled

HERE = "tests/sandbox/test_sandbox_unhandled.py"


def a_lock(limit: float | None) -> None:
    lock = threading.Lock()
    assert lock.acquire() is True
    assert (lock.acquire(timeout=limit) if limit is not None else lock.acquire(False)) is False


def a_select(limit: float | None) -> None:
    reads, writes = os.pipe()
    os.write(writes, b"x")
    assert select.select([reads], [], [], limit)[0] == [reads]
    os.close(reads)
    os.close(writes)


def a_poll(limit: float | None) -> None:
    reads, writes = os.pipe()
    looks = select.poll()
    looks.register(reads, select.POLLIN)
    os.write(writes, b"x")
    assert looks.poll(limit) == [(reads, select.POLLIN)]
    os.close(reads)
    os.close(writes)


def some_selectors(limit: float | None) -> None:
    reads, writes = os.pipe()
    os.write(writes, b"x")
    for kind in (selectors.DefaultSelector, selectors.PollSelector, selectors.SelectSelector):
        with kind() as looks:
            looks.register(reads, selectors.EVENT_READ)
            assert len(looks.select(limit)) == 1
    os.close(reads)
    os.close(writes)


def a_socket(limit: float | None) -> None:
    left, right = socket.socketpair()
    with left, right:
        left.settimeout(limit)
        right.send(b"x")
        assert left.recv(1) == b"x"


def a_database(limit: float | None) -> None:
    with_limit = {} if limit is None else {"timeout": limit}
    sqlite3.connect(":memory:", **with_limit).close()  # type: ignore[call-overload]  # a limit or none


def a_program(limit: float | None) -> None:
    assert subprocess.run([sys.executable, "-c", ""], timeout=limit, check=True).returncode == 0


def a_child(limit: float | None) -> None:
    fork = multiprocessing.get_context("fork")
    line: Any = fork.Queue()
    child = fork.Process(target=line.put, args=(3,))
    child.start()
    assert line.get(True, limit) == 3
    child.join(limit)
    line.close()
    line.join_thread()


LIMITED: list[tuple[Callable[[float | None], None], str]] = [
    (a_lock, "Lock"),
    (a_select, "select"),
    (a_poll, "poll"),
    (some_selectors, "selectors"),
    (a_socket, "socket"),
    (a_database, "sqlite"),
    (a_program, "subprocess"),
    (a_child, "multiprocessing"),
]


def told(record: Record) -> dict[tuple[str, str], int]:
    return {read: count for read, count in record.ambient.items() if read[0].startswith("real time")}


@pytest.mark.parametrize(("waits", "what"), LIMITED)
def test_a_limit_in_real_time_is_noted_once(waits: Callable[[float | None], None], what: str) -> None:
    """Source and place stand in `$.ambient` once, however often it is used; without a limit nothing does."""
    record = Record()
    with box.trial(record):
        waits(None)
        assert told(record) == {}
        # a limit that no test waits for, but for the lock's
        limit = 0.001 if waits is a_lock else 60.0
        waits(limit)
        waits(limit)
    assert told(record) == {(f"real time: {what}", f"{HERE}:{waits.__name__}"): 1}
    assert record.waits == []


@pytest.mark.parametrize(("waits", "what"), LIMITED)
def test_elsewhere_nothing_is_noted(waits: Callable[[float | None], None], what: str) -> None:
    """Outside of a trial, and under the real clock, a limit in real time is nothing to tell."""
    record = Record()
    limit = 0.001 if waits is a_lock else 60.0
    waits(limit)
    with box.trial(record, clock="real"):
        waits(limit)
    assert told(record) == {}


def test_a_result_of_a_pool_of_processes() -> None:
    """A limit over what a pool gives is one of multiprocessing."""
    record = Record()
    with box.trial(record), multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(abs, (-3,)).get(60) == 3
        assert next(pool.imap(abs, [-4])) == 4
        assert pool.imap(abs, [-5]).next(60) == 5
        pool.close()
        pool.join()
    assert told(record) == {("real time: multiprocessing", f"{HERE}:test_a_result_of_a_pool_of_processes"): 1}


def test_a_pipe_between_processes() -> None:
    """So is the poll of a connection."""
    record = Record()
    with box.trial(record):
        one, other = multiprocessing.Pipe()
        other.send(1)
        assert one.poll(60)
        assert one.recv() == 1
        one.close()
        other.close()
    assert told(record) == {("real time: multiprocessing", f"{HERE}:test_a_pipe_between_processes"): 1}


def test_what_a_library_waits_for_is_not_the_projects() -> None:
    """A queue, a log handler and a library's lock, select and poll note nothing; theirs are the real ones."""
    library: dict[str, Any] = {"__name__": "library"}
    code = """import select, threading
lock, poll = threading.Lock(), select.poll()
def waits():
    lock.acquire(timeout=1)
    select.select([], [], [], 0.001)
    poll.poll(1)
"""
    exec(compile(code, "/usr/lib/library.py", "exec"), library)
    record = Record()
    with box.trial(record):
        library["waits"]()
        queue.Queue[int]().put(1, timeout=1)
        logging.getLogger("quiet").debug("nothing")
    assert told(record) == {}
    assert type(library["lock"]) is type(unhandled._lock())
    assert type(library["poll"]).__name__ == "poll"


def test_a_projects_lock_is_a_lock() -> None:
    """It blocks, is released, stands in a condition and a `with`, and refuses what a lock refuses."""
    lock = threading.Lock()
    assert isinstance(lock, threading.Lock)  # type: ignore[arg-type, unused-ignore]  # a class in newer Pythons
    assert isinstance(unhandled._lock(), unhandled.Lock)
    assert not isinstance(3, unhandled.Lock)
    with lock as taken:
        assert taken is True
        assert lock.locked()
        assert not lock.acquire(blocking=False)
    assert not lock.locked()
    with pytest.raises(RuntimeError):
        lock.release()
    with pytest.raises(ValueError, match="timeout"):
        lock.acquire(timeout=-3)
    with pytest.raises(TypeError, match="pickle"):
        copy.copy(lock)
    condition = threading.Condition(lock)
    with condition:
        assert lock.locked()
        condition.notify_all()
    assert str(type(lock)) == str(type(unhandled._lock()))


def test_a_run_of_uvloop_is_named() -> None:
    """Its loop is none of ours: whoever makes one in a trial is named, however it is made."""
    uvloop = pytest.importorskip("uvloop")

    async def nothing() -> int:
        return 3

    def by_run() -> int:
        return int(uvloop.run(nothing()))

    def by_runner() -> int:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(nothing())

    for app in (by_run, by_runner):
        record = Record()
        with box.trial(record):
            assert app() == 3
        assert told(record) == {("real time: uvloop", f"{HERE}:{app.__name__}"): 1}


def test_a_class_may_keep_what_was_put_in_place() -> None:
    """`selectors` keeps poll and select as attributes of classes: they stay what they are there, no methods."""

    class Keeps:
        poll, select = select.poll, select.select

    reads, writes = os.pipe()
    os.write(writes, b"x")
    looks = Keeps().poll()
    looks.register(reads, select.POLLIN)
    assert looks.poll(0) == [(reads, select.POLLIN)]
    assert Keeps().select([reads], [], [], 0)[0] == [reads]
    os.close(reads)
    os.close(writes)
