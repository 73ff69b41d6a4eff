"""What a thread does when the app has returned: it ends, rests, idles, or is at work."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from invcheck import record as records
from invcheck.record import Record
from invcheck.sandbox import box, clock, scheduler, threads

HERE = "tests/sandbox/test_sandbox_threads.py"

Start = Callable[..., threading.Thread]


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    """Ends whatever a test has started."""
    made = threading.Event()
    yield made
    made.set()


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, stop: threading.Event) -> Iterator[Start]:
    """Starts a thread that is, beside the test's own, the only one there is; no place is known yet."""
    begun: list[threading.Thread] = []

    def frames() -> list[tuple[int, object]]:
        return [(ident, frame) for ident, frame in sys._current_frames().items() if ident in {thread.ident for thread in begun}]

    def starts(target: Callable[[], object], *, daemon: bool = True) -> threading.Thread:
        begun.append(threading.Thread(target=target, daemon=daemon, name="of-the-app-7"))
        begun[-1].start()
        return begun[-1]

    monkeypatch.setattr(threads, "_others", frames)
    monkeypatch.setattr(threads, "_known", set())
    monkeypatch.setattr(records, "_strays", {})
    yield starts
    stop.set()
    for thread in begun:
        thread.join()


def settled(record: Record | None = None) -> tuple[list[str], dict[tuple[str, str], int]]:
    """The places of what is THREADS_LEFT, and what is noted in ``$.ambient``."""
    record = record or Record()
    threads.settle(record)
    assert {found.code for found in record.latches} <= {"THREADS_LEFT"}
    return [str(found.got) for found in record.latches], dict(record.ambient)


def test_a_thread_that_ends_is_waited_for(start: Start) -> None:
    """What it did belongs to the trial, and nothing is left of it."""
    done = []
    start(lambda: (clock.real_sleep(0.1), done.append("late")))
    assert settled() == ([], {})
    assert done == ["late"]


def test_a_thread_in_a_wait_without_end_rests(start: Start, stop: threading.Event) -> None:
    """At an event, or joining a thread that is at an event itself, it does nothing until another one does."""
    inner = start(stop.wait)
    start(inner.join)
    began = clock.real_monotonic()
    assert settled() == ([], {})
    assert clock.real_monotonic() - began < threads.PATIENCE


@pytest.mark.parametrize("daemon", [True, False])
def test_a_thread_at_work_is_left(daemon: bool, start: Start, stop: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    """However it was made, and at however few places it is met, each time: what it still does was not seen."""
    monkeypatch.setattr(threads, "PATIENCE", 0.6)

    def works() -> None:
        while not stop.is_set():
            len("a")
            sum([1, 2])
            len("b")

    start(works, daemon=daemon)
    for _ in range(5):
        assert settled() == ([f"{HERE}:works"], {})


WHERE = "of-the-app-N"


@pytest.mark.parametrize(("daemon", "left", "noted"), [(True, [], {("thread", WHERE): 1}), (False, [WHERE], {})])
def test_a_daemon_in_a_long_wait_is_noted(
    daemon: bool, left: list[str], noted: dict[tuple[str, str], int], start: Start, stop: threading.Event
) -> None:
    """No program waits for it; any other thread is left at work. Without a place each is named, but for a number got by chance."""
    record = Record()
    thread = start(partial(stop.wait, 3600), daemon=daemon)
    assert settled(record) == (left, noted)
    assert records._strays == {thread.ident: (thread, record)}


def test_a_daemon_that_looks_round_is_noted(start: Start, stop: threading.Event) -> None:
    """Many short waits in a row are little work: it is as one that stands."""

    def looks() -> None:
        while not stop.wait(0.01):
            pass

    start(looks)
    assert settled() == ([], {("thread", f"{HERE}:looks"): 1})


def test_time_of_a_thread_that_nobody_knows_is_none() -> None:
    """One that is not Python's own has taken no time that could be read; one that has ended will never stand still."""
    gone = threading.Thread()  # as one that has ended, it is none of the kernel's
    assert (threads._spent(None), threads._spent(gone)) == (0, sys.maxsize)
    assert threads._spent(threading.current_thread()) < sys.maxsize


def test_a_real_clock_keeps_its_sleeps(start: Start) -> None:
    """Only waits that would pass at once are stopped when the app has returned."""
    record = Record()
    record.clock = clock.RealClock(record)
    start(lambda: clock.real_sleep(0.05))
    assert settled(record) == ([], {})


def test_a_rest_counts_when_it_is_seen_twice(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool's worker that has taken an item and not yet begun looks like one that has none: the next look finds it at work."""
    done = []
    looks = iter([True])
    monkeypatch.setattr(threads, "_rests", lambda *_frame: next(looks, False))
    start(lambda: (clock.real_sleep(0.1), done.append("taken")))
    assert settled() == ([], {})
    assert done == ["taken"]


def test_a_thread_in_a_wait_of_the_trial_rests_or_stands() -> None:
    """In a wait without a limit it rests; a daemon in one with a limit is noted, and its time does not jump once the app has returned."""
    record, gates = Record(), [threading.Event(), threading.Event()]
    with box.trial(record):
        rests = threading.Thread(target=gates[0].wait)
        stands = threading.Thread(target=partial(gates[1].wait, 3600), daemon=True, name="of-the-app-7")
        rests.start()
        stands.start()
        time.sleep(1)
        assert settled(record) == ([], {("thread", WHERE): 1})
        assert time.monotonic() == 1001
        assert scheduler.current() is not None
        for gate in gates:
            gate.set()
        rests.join()
    stands.join()
    records._strays.clear()


def test_a_thread_that_sleeps_in_the_trial_ends_in_it() -> None:
    """Its sleeps pass once the app has returned, and what it does then is the trial's."""
    record, done = Record(), []
    with box.trial(record):
        threading.Thread(target=lambda: (time.sleep(5), done.append(time.monotonic()))).start()
        assert settled(record) == ([], {})
    assert done == [1005]


def test_a_daemon_that_never_stops_sleeping_is_noted() -> None:
    """After twenty sleeps that passed at once the next is real, and the daemon stands in it."""
    record, ticks = Record(), []
    with box.trial(record):

        def forever() -> None:
            while len(ticks) < 30:
                time.sleep(0.25 if len(ticks) < 20 else 2)
                ticks.append(1)

        daemon = threading.Thread(target=forever, daemon=True)
        daemon.start()
        assert settled(record) == ([], {("thread", f"{HERE}:forever"): 1})
        assert len(ticks) == 20
    ticks.extend([1] * 30)
    daemon.join()
    records._strays.clear()
