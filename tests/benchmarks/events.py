"""What the gate's hook costs an audit event, over no hook at all and over one that does nothing: `events.py none|nothing|gate N`."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

EVENTS = (
    *("compile",) * 3, *("sys._getframe",) * 2, *("object.__getattr__",) * 2,
    "exec", "builtins.id", "import", "open", "marshal.loads", "object.__setattr__",
)  # fmt: skip
"""What importing an SDK raises, about as often; of all these only "open" is looked into."""

BAR, NOTHING = 200.0, 154.0  # nanoseconds an event, where a hook that does nothing costs 154


def measure(times: int) -> bool:
    """Print the best of each; False where the bar is missed by a factor of two."""
    rows = ("none", "nothing", "gate")
    took = {row: min(_ran(row, 300_000) for _ in range(max(3, times))) for row in rows}
    bar = BAR * took["nothing"] / NOTHING
    print(f"{'hook':<12}{'ns an event':>13}{'over nothing':>14}{'bar':>8}")
    for row, each in took.items():
        print(f"{row:<12}{each:>13.0f}{each / took['nothing']:>14.2f}{bar if row == 'gate' else 0:>8.0f}")
    return took["gate"] <= 2 * bar


def _ran(row: str, events: int) -> float:
    told = subprocess.run([sys.executable, __file__, row, str(events)], capture_output=True, check=True, encoding="ascii")
    return float(told.stdout)


def main(row: str, events: int) -> None:
    """Raise events with one hook, which nobody can take out again, and print what one costs in nanoseconds."""
    if row == "nothing":
        sys.addaudithook(lambda _event, _args: None)
    elif row == "gate":
        from invcheck.sandbox import box  # in this row only

        box.install(Path.cwd())
    rounds = events // len(EVENTS)
    began = time.perf_counter_ns()
    for _ in range(rounds):
        for event in EVENTS:
            sys.audit(event, "a.py", None, 0)
    print((time.perf_counter_ns() - began) / (rounds * len(EVENTS)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
