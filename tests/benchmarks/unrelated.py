"""What the plugin costs a suite that does not use it: the same run with and without the entry point."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from processes import pairs, run

TESTS = 100
TEXT = "import pytest\n\n\n@pytest.mark.parametrize('n', range({}))\ndef test_adds(n):\n    assert n + 1 > n\n"

BAR = 10.0
"""Milliseconds of CPU that an unrelated suite may pay."""


def measure(folder: Path, times: int) -> bool:
    """Print CPU medians, the median of paired ratios and the difference; False where the bar is missed by a factor of two."""
    project = folder / "unrelated"
    project.mkdir(parents=True, exist_ok=True)
    (project / "test_unrelated.py").write_text(TEXT.format(TESTS), encoding="utf-8")
    plain = ["-p", "no:cacheprovider", "-p", "no:anyio"]  # the second loads asyncio, which would hide that ours does
    command = [sys.executable, "-m", "pytest", "-q", *plain, "test_unrelated.py"]
    without, with_it, ratio = pairs(
        lambda: run([*command, "-p", "no:invcheck"], folder=project), lambda: run(command, folder=project), times
    )
    ms = [1000 * statistics.median(each.cpu for each in runs) for runs in (without, with_it)]
    more = 1000 * statistics.median(b.cpu - a.cpu for a, b in zip(without, with_it, strict=True))
    print(f"{'an unrelated suite':<30}{'without ms':>12}{'with ms':>9}{'CPU ratio':>11}{'more ms':>9}{'bar':>6}")
    print(f"{f'{TESTS} trivial tests':<30}{ms[0]:>12.0f}{ms[1]:>9.0f}{ratio:>11.2f}{more:>9.1f}{BAR:>6.0f}")
    return more <= 2 * BAR
