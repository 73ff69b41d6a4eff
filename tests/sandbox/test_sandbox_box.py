"""What a trial leaves behind when it is over: nothing that only the collector would free, and a clock that moves no more."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from invcheck import ScriptedModel
from invcheck.record import Record
from invcheck.sandbox import box, clock

TRIALS = 100


def nothing() -> None:
    """An app that does nothing."""


def sleeps() -> None:
    """An app that sleeps."""
    time.sleep(1)


def starts() -> None:
    """An app with a thread beside it."""
    other = threading.Thread(target=time.sleep, args=(2,))
    other.start()
    time.sleep(1)
    other.join()


def pools() -> None:
    """An app with a pool."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(time.sleep, [2, 1]))


def awaits() -> None:
    """An app with an event loop."""
    asyncio.run(asyncio.sleep(1))


def asks() -> None:
    """An app with a model."""
    ScriptedModel("hi")("x")


@pytest.mark.parametrize(
    ("app", "spec"), [(nothing, None), (nothing, "real"), (sleeps, None), (starts, None), (pools, None), (awaits, None), (asks, None)]
)
def test_a_trial_leaves_nothing_to_the_collector(app: Callable[[], None], spec: str | None) -> None:
    """Its record, clock, threads and waits are freed as soon as nobody holds them, so that many trials stay small and quick."""

    def trial() -> None:
        record = Record()
        with box.trial(record, clock=spec):
            app()
        record.doubles.clear()  # as `trial.close` does: a double and its record hold each other

    trial()  # what the first one loads stays
    gc.collect()
    gc.disable()
    try:
        for _ in range(TRIALS):
            trial()
        assert gc.collect() < TRIALS / 10
    finally:
        gc.enable()


def test_the_clock_of_a_trial_that_is_over_is_real_to_who_still_waits_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that kept it waits for real, and moves nothing; alone, time passes at once and is noted."""
    monkeypatch.setattr(clock, "other_threads", lambda: threading.active_count() - 1)  # a runner's own threads are no app's
    record = Record()
    with box.trial(record):
        time.sleep(1)
    kept = record.clock
    assert isinstance(kept, clock.VirtualClock)
    kept.wait(2)
    assert (kept.elapsed, record.waits) == (3, [1, 2])
    took: list[float] = []

    def late() -> None:
        began = clock.real_monotonic()
        kept.wait(0.01)
        kept.let(0.01)
        took.append(clock.real_monotonic() - began)

    other = threading.Thread(target=late)
    other.start()
    other.join()
    assert took[0] >= 0.02
    assert (kept.elapsed, record.waits) == (3, [1, 2])


def test_a_clock_outlives_its_record() -> None:
    """What it is told then is noted nowhere."""
    for made in (clock.VirtualClock(Record()), clock.RealClock(Record())):
        made.note(3)
