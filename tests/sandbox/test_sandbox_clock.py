"""Time in a trial: start + waits, exactly, at once."""

import asyncio
import datetime as dt
import logging
import pickle
import queue
import subprocess
import sys
import threading
import time
import unittest
import uuid
from concurrent.futures import ThreadPoolExecutor
from time import sleep as captured_sleep
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.errors import UsageError
from invcheck.record import Record
from invcheck.sandbox import box, clock, stdtime
from invcheck.vocabulary import Waits

HERE = "tests/sandbox/test_sandbox_clock.py"
START = dt.datetime(2030, 1, 1)  # noqa: DTZ001  # what the clock without a zone shows


def test_a_hard_coded_sleep_takes_no_time_and_is_noted() -> None:
    """Three retries with back-off stand in the record and take nothing like 3.5 s of real time."""
    record = Record()
    before = clock.real_monotonic()
    with box.trial(record):
        for seconds in (0.5, 1, 2.0):
            time.sleep(seconds)
    assert record.waits == [0.5, 1.0, 2.0]
    assert [entry["kind"] for entry in record.journal] == ["wait"] * 3
    assert clock.real_monotonic() - before < 1


def test_wall_and_monotonic_move_with_waits() -> None:
    """After 1.5 s the wall shows 2030-01-01T00:00:01.5, monotonic 1,001.5, and a measured duration is exact."""
    record = Record()
    with box.trial(record):
        first = time.monotonic(), time.perf_counter(), time.time()
        time.sleep(1.5)
        assert (time.monotonic(), time.perf_counter(), time.time()) == (1001.5, 1001.5, 1_893_456_001.5)
        assert (time.monotonic_ns(), time.perf_counter_ns()) == (1_001_500_000_000,) * 2
        assert time.time_ns() == 1_893_456_001_500_000_000
        assert time.monotonic() - first[0] == time.perf_counter() - first[1] == time.time() - first[2] == 1.5
        assert record.clock is not None
        assert record.clock.now() == 1001.5
        assert record.clock.elapsed == 1.5


def test_every_reading_of_the_wall_clock_agrees() -> None:
    """Local time is UTC or not, but all of Python's clocks show the same moment."""
    with box.trial(Record()):
        time.sleep(86_400)
        now = dt.datetime.now(dt.UTC)
        assert now.replace(tzinfo=None) == dt.datetime(2030, 1, 2)  # noqa: DTZ001  # its zone was just taken off
        assert time.gmtime()[:6] == (2030, 1, 2, 0, 0, 0)
        assert time.strftime("%Y", time.gmtime()) == "2030"
        assert time.ctime() == time.ctime(time.time()) == time.asctime() == time.asctime(time.localtime())
        assert dt.datetime.fromtimestamp(time.time()) == dt.datetime.now()  # noqa: DTZ005, DTZ006  # the local reading is the claim
        assert dt.date.today() == dt.datetime.today().date()  # noqa: DTZ002, DTZ011  # likewise
    assert time.ctime(0) == time.asctime(time.localtime(0))


def test_log_records_carry_virtual_time() -> None:
    """A library that captured nothing reads the same wall clock."""
    with box.trial(Record()):
        time.sleep(2)
        assert logging.makeLogRecord({}).created == 1_893_456_002.0


def test_nothing_virtual_is_left_outside_of_a_trial() -> None:
    """Before and after a trial the functions are the real ones in everything but identity."""
    with box.trial(Record()):
        time.sleep(10_000_000)
    assert abs(time.monotonic() - clock.real_monotonic()) < 1
    assert abs(time.monotonic_ns() - stdtime._real_monotonic_ns()) < 1e9
    assert abs(time.perf_counter() - stdtime._real_perf_counter()) < 1
    assert abs(time.perf_counter_ns() - stdtime._real_perf_counter_ns()) < 1e9
    assert dt.datetime.now(dt.UTC).year < 2030
    time.sleep(0)
    assert clock.current() is None
    assert clock.virtual() is None
    assert pickle.loads(pickle.dumps(time.sleep)) is time.sleep  # our own bytes


@given(st.lists(st.integers(0, 10**12), max_size=20))
def test_elapsed_is_the_sum_of_the_waits(nanoseconds: list[int]) -> None:
    """Time is counted in whole nanoseconds: no rounding adds up."""
    record = Record()
    time = clock.VirtualClock(record)
    for wait in nanoseconds:
        time.wait(wait / 1e9)
    assert time.elapsed == sum(nanoseconds) / 1e9
    assert len(record.waits) == len(nanoseconds)


@pytest.mark.parametrize(
    ("seconds", "kind"), [(-1, ValueError), (float("nan"), ValueError), (float("inf"), OverflowError), ("1", TypeError), (None, TypeError)]
)
def test_a_sleep_that_python_refuses_is_refused(seconds: object, kind: type[Exception]) -> None:
    """The virtual sleep has the real one's errors, and notes nothing then."""
    record = Record()
    with pytest.raises(kind):
        clock.real_sleep(seconds)
    with box.trial(record), pytest.raises(kind):
        time.sleep(seconds)
    assert record.waits == []


def test_the_start_can_be_set() -> None:
    """`clock: {start: ...}` moves the wall clock; without a zone it is UTC."""
    for text in ("2031-05-01T12:00:00Z", "2031-05-01T12:00:00", "2031-05-01T14:00:00+02:00"):
        with box.trial(Record(), clock={"start": text}):
            assert dt.datetime.now(dt.UTC) == dt.datetime(2031, 5, 1, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize("spec", [{"start": "soon"}, {"begin": "2031-05-01"}, {"start": 7}, "virtual", 3])
def test_another_clock_is_refused(spec: object) -> None:
    """What no clock can be is an error that names it."""
    with pytest.raises(UsageError, match="clock must be"), box.trial(Record(), clock=spec):
        pass


def test_a_real_clock_sleeps_and_notes() -> None:
    """`clock: real` opts out: real time passes, waits are still noted, elapsed counts only what was asked for."""
    record = Record()
    with box.trial(record, clock="real"):
        assert clock.virtual() is None
        assert dt.datetime.now(dt.UTC).year < 2030
        before = clock.real_monotonic()
        time.sleep(0.001)
        assert clock.real_monotonic() - before >= 0.001
        asyncio.run(asyncio.sleep(0.001))
        assert record.clock is not None
        assert abs(record.clock.now() - time.monotonic()) < 1
        assert record.clock.elapsed == 0.002
    assert record.waits == [0.001, 0.001]


def test_a_busy_wait_ends_and_is_noted() -> None:
    """From the 1,001st read on each adds a millisecond: five virtual seconds are 6,000 reads."""
    record = Record()
    with box.trial(record):
        reads, end = 1, time.monotonic() + 5
        while time.monotonic() < end:
            reads += 1
    assert reads + 1 == 1_000 + 5_000
    assert record.ambient == {("busy wait", f"{HERE}:test_a_busy_wait_ends_and_is_noted"): 5_000}
    assert record.waits == []


def test_reading_often_with_waits_between_is_no_busy_wait() -> None:
    """Only reads in a row count, so that a loop with a sleep measures exactly."""
    record = Record()
    with box.trial(record):
        for _ in range(30):
            for _ in range(99):
                time.monotonic()
            time.sleep(0.5)
        assert time.monotonic() == 1015.0


def test_reads_of_the_wall_clock_are_noted_with_their_place() -> None:
    """A note names source, file and function, without a line; a read inside a library is none of the project's."""
    record = Record()

    def stamp() -> str:
        return dt.datetime.now(dt.UTC).isoformat()

    with box.trial(record):
        stamp()
        stamp()
        logging.makeLogRecord({})
        uuid.uuid1()
        time.monotonic()
    own = f"{HERE}:test_reads_of_the_wall_clock_are_noted_with_their_place"
    assert record.ambient == {("wall clock", f"{HERE}:stamp"): 2, ("uuid", own): 1}


def test_the_standard_library_keeps_its_real_deadlines() -> None:
    """Timeouts that really wait count real time: in virtual time their deadline would never come nearer."""
    record = Record()
    with box.trial(record):
        with pytest.raises(queue.Empty):
            queue.Queue[int]().get(timeout=0.001)
        condition = threading.Condition()
        with condition:
            assert not condition.wait_for(lambda: False, timeout=0.001)
        waiting = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        with pytest.raises(subprocess.TimeoutExpired):
            subprocess.run(waiting, stdin=subprocess.PIPE, timeout=0.001, check=False)  # our own
        done = subprocess.Popen([sys.executable, "-c", ""])  # our own interpreter
        assert done.wait(timeout=60) == 0
    assert record.waits == []


def test_threads_share_the_clock() -> None:
    """A sleep that a thread or a pool calls directly is the app's: noted and virtual."""
    record = Record()
    with box.trial(record):
        thread = threading.Thread(target=time.sleep, args=(4,))
        thread.start()
        thread.join()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(captured_sleep, [1, 2]))
        assert record.clock is not None
        assert record.clock.now() == 1000.0 + 4 + (0 if captured_sleep is clock.real_sleep else 3)
    assert record.waits[0] == 4


def test_a_double_can_wait_on_it() -> None:
    """Both clocks are what a double calls `Waits`."""
    assert isinstance(clock.VirtualClock(Record()), Waits)
    assert isinstance(clock.RealClock(Record()), Waits)


def test_a_wait_of_the_standard_library_keeps_real_time() -> None:
    """Code of a module such as `socketserver` sees the real clock, in the trial too; the app sees its own."""
    library: dict[str, Any] = {"__name__": "socketserver"}
    exec("import time\ndef now(): return time.monotonic()", library)  # a module of that name
    with box.trial(Record()):
        before, seen, after = clock.real_monotonic(), library["now"](), clock.real_monotonic()
        assert time.monotonic() == clock.MONOTONIC_START
    assert before <= seen <= after


def test_test_cases_are_told_from_other_classes() -> None:
    """What time-machine is given instead of unittest knows a TestCase, and nothing else, as one."""
    assert issubclass(unittest.TestCase, clock._Unittest.TestCase)
    assert not issubclass(dict, clock._Unittest.TestCase)
