"""What the walls cost: a worker's start in each tier over the soft one, which imports the same and has none."""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path

from processes import run

from invcheck.engines import confined
from invcheck.gate.tiers import Tier

BAR, PASS = 15.0, 0.012  # milliseconds where `python -c pass` costs 12 ms of processor time
ENTRY = ["-c", "from invcheck.engines import channel; channel.serve({'echo': lambda task, emit: None})"]


def measure(times: int) -> bool:
    """Print medians of real time from a pool's making to its first answer; False where the bar is missed by a factor of two."""
    scale = statistics.median(run([sys.executable, "-c", "pass"]).cpu for _ in range(max(3, times))) / PASS
    bar = BAR * scale
    took: dict[Tier, list[float]] = {tier: [] for tier in (Tier.SOFT, Tier.K1, Tier.K2)}
    null = os.open(os.devnull, os.O_WRONLY)
    for _ in range(10 * times):
        for tier, each in took.items():
            each.append(1000 * _start(tier, null))
    os.close(null)
    bare = statistics.median(took[Tier.SOFT])
    print(f"{'start of a worker':<20}{'ms':>8}{'over soft':>11}{'bar':>6}   at {1000 * PASS * scale:.1f} ms a pass")
    good = True
    for tier, each in took.items():
        over = statistics.median(each) - bare
        print(f"{tier:<20}{statistics.median(each):>8.1f}{over:>11.1f}{bar:>6.1f}")
        good &= over <= 2 * bar
    return good


def _start(tier: Tier, output: int) -> float:
    began = time.perf_counter()
    with confined.Pool(ENTRY, tiers=[tier], root=Path.cwd(), output=output) as pool:
        list(pool.run([{"do": "echo"}]))
        return time.perf_counter() - began
