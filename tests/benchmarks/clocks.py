"""What the virtual clock costs: a trial of an app under it, over the same trial under the real one.

The apps wait for nothing: one reads the clock, one has a thread that it joins, one a pool of four with eight jobs. A trial is
the sandbox opened and closed around the app, in one process, the two kinds in turn.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

from processes import run

from invcheck.record import Record
from invcheck.sandbox import box, clock

PASS = 0.012  # seconds of processor time that `python -c pass` takes where the bars hold
BARS = {"sync": 20.0, "thread": 350.0, "pool": 2_500.0}  # microseconds


def sync() -> None:
    """Measure something, as an app would."""
    time.monotonic()
    time.time()
    time.monotonic()


def thread() -> None:
    """Have one thread do it."""
    beside = Thread(target=sync)
    beside.start()
    beside.join()


def pool() -> None:
    """Have four threads do it."""
    with ThreadPoolExecutor(4) as four:
        for job in [four.submit(sync) for _ in range(8)]:
            job.result()


APPS: dict[str, Callable[[], None]] = {"sync": sync, "thread": thread, "pool": pool}
NUMBERS = {"sync": 2_000, "thread": 200, "pool": 50}


def _took(app: Callable[[], None], spec: Any) -> float:
    began = clock.real_monotonic()
    with box.trial(Record(), clock=spec):
        app()
    return 1e6 * (clock.real_monotonic() - began)


def measure(times: int) -> bool:
    """Print medians of real time a trial; False where a bar is missed by a factor of two."""
    box.install(Path.cwd(), armed=False)
    scale = statistics.median(run([sys.executable, "-c", "pass"]).cpu for _ in range(max(3, times))) / PASS
    print(f"{'a trial of':<12}{'real us':>9}{'virtual us':>12}{'over':>9}{'bar':>9}   at {1000 * PASS * scale:.1f} ms a pass")
    good = True
    for name, app in APPS.items():
        rows = [(_took(app, "real"), _took(app, None)) for _ in range(NUMBERS[name] * times)]
        real, virtual = (statistics.median(column) for column in zip(*rows, strict=True))
        over = statistics.median(after - before for before, after in rows)
        print(f"{name:<12}{real:>9.1f}{virtual:>12.1f}{over:>9.1f}{BARS[name] * scale:>9.1f}")
        good &= over <= 2 * BARS[name] * scale
    return good
