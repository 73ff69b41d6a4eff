"""The cost of a call of a double, and whether memory stays flat over many.

Rows are processes of their own: `doubles.py bare N` and `doubles.py call N` ask a plain function, and a
`ScriptedModel` through the call face, N times in trials of a thousand calls; `doubles.py history N KEEP` asks one double N times.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from processes import run  # the rows are scripts that stand beside each other

BAR_US = 15.0
"""Microseconds of CPU over the bare function, where `python -c pass` costs `PASS_MS`."""

PASS_MS = 12.0
TRIAL = 1_000
KEEP = 100
REQUEST = {"messages": [{"role": "user", "content": "How do I get a refund?"}], "max_tokens": 64}


def answer(_request: dict[str, Any]) -> str:
    """Answer as a fake that somebody wrote by hand."""
    return "By mail."


def bare(number: int) -> None:
    """Ask the function."""
    for _ in range(number):
        answer(REQUEST)


def call(number: int, steps: int = 0) -> None:
    """Ask a double that always answers, or one with so many steps, in trials of a thousand calls each."""
    from invcheck import ScriptedModel, testing

    for _ in range(number // TRIAL):
        with testing():
            model = ScriptedModel(*["By mail."] * steps)
            if not steps:
                model.then_always("By mail.")
            for _ in range(TRIAL):
                model(REQUEST)


def history(number: int, keep: int) -> None:
    """Ask one double that holds so many calls, or all of them where ``keep`` is 0."""
    from invcheck import ScriptedModel, testing

    with testing():
        model = ScriptedModel(keep=keep or None).then_always("By mail.")
        for _ in range(number):
            model(REQUEST)


def measure(times: int) -> bool:
    """Print both tables; False where a bar is missed by a factor of two, or bounded memory grows by a half."""
    number = 20_000
    start = statistics.median(run([sys.executable, "-c", "pass"]).cpu for _ in range(max(5, times))) * 1e3
    bar = BAR_US * start / PASS_MS
    taken, scripted = (statistics.median(_over(number, steps) for _ in range(times)) for steps in (0, TRIAL))
    print(f"{'double':<14}{'us a call':>10}{'bar us':>8}   over the bare function; `python -c pass` costs {start:.1f} ms")
    print(f"{'call face':<14}{taken * 1e6:>10.1f}{bar:>8.1f}")
    print(f"{'with its step':<14}{scripted * 1e6:>10.1f}")
    print(f"{'history':<14}{'1,000 MB':>10}{'100,000 MB':>12}")
    peaks = {keep: [statistics.median(_peak(size, keep) for _ in range(3)) for size in (1_000, 100_000)] for keep in (KEEP, 0)}
    print(f"{'keep=100':<14}{peaks[KEEP][0]:>10.1f}{peaks[KEEP][1]:>12.1f}")
    grown = (peaks[0][1] - peaks[0][0]) / 99_000 * 1e3
    print(f"{'unbounded':<14}{peaks[0][0]:>10.1f}{peaks[0][1]:>12.1f}   not flat: {grown:.1f} kB a call, as the trial's notes say")
    return taken * 1e6 <= 2 * bar and peaks[KEEP][1] <= 1.5 * peaks[KEEP][0]


def _over(number: int, steps: int) -> float:
    """Seconds that one call takes beyond the function."""
    whole = _row("call", number, steps) - _row("call", TRIAL, steps)
    return (whole - _row("bare", number) + _row("bare", TRIAL)) / (number - TRIAL)


def _row(how: str, *numbers: int) -> float:
    return run([sys.executable, str(Path(__file__).resolve()), how, *map(str, numbers)]).cpu


def _peak(number: int, keep: int) -> float:
    return run([sys.executable, str(Path(__file__).resolve()), "history", str(number), str(keep)]).peak


if __name__ == "__main__":
    {"bare": bare, "call": call, "history": history}[sys.argv[1]](*map(int, sys.argv[2:]))
