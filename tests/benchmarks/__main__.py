"""Print a benchmark's table: `python -m tests.benchmarks [BENCHMARK] [--size N] [--times N] [--folder DIR]`.

Exit 1 only where a bar is missed by a factor of two, since machines are noisy; the figures are for reading.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import clocks as clock  # noqa: E402  # the rows are scripts that stand beside each other
import doubles as double  # noqa: E402  # as above
import drift  # noqa: E402  # as above
import events as event  # noqa: E402  # as above
import relays as relay  # noqa: E402  # as above
import sdks as sdk  # noqa: E402  # as above
import starts as start  # noqa: E402  # as above
import unrelated  # noqa: E402  # as above
import walls as wall  # noqa: E402  # as above
from gen import write  # noqa: E402  # the rows are scripts that stand beside each other
from processes import Run, pairs, run  # noqa: E402  # as above
from verify import verify  # noqa: E402  # as above

BARS = {"observations": 0.75, "rows": 0.85}
FEW = 1_000


def judge(folder: Path, size: int, times: int) -> bool:
    """Hold the judge against the hand-written loop over the same files, and its peak at 1,000 against its peak at the size."""
    for number in {FEW, size}:
        if not (folder / f"planted_{number}.json").exists():
            write(folder, number)
    print(f"{'file':<14}{'loop s':>8}{'judge s':>9}{'CPU ratio':>11}{'bar':>6}{'peak MB':>10}{'peak at 1,000':>15}  found")
    good = True
    for shape, bar in BARS.items():
        by_hand, judged, ratio = pairs(
            lambda shape=shape: _row(folder, size, "loop.py", "all", shape),
            lambda shape=shape: _row(folder, size, "judge.py", shape),
            times,
        )
        few = _row(folder, FEW, "judge.py", shape)
        cpu = [statistics.median(each.cpu for each in runs) for runs in (by_hand, judged)]
        peak = statistics.median(each.peak for each in judged)
        print(f"{shape:<14}{cpu[0]:>8.2f}{cpu[1]:>9.2f}{ratio:>11.2f}{bar:>6.2f}{peak:>10.1f}{few.peak:>15.1f}  exactly what was planted")
        good &= ratio <= 2 * bar and peak <= 2 * few.peak
    return good


def _row(folder: Path, size: int, script: str, *args: str) -> Run:
    result = folder / f"result_{script}_{size}.json"
    result.unlink(missing_ok=True)
    done = run([sys.executable, str(HERE / script), *args, str(folder / f"{args[-1]}_{size}.jsonl"), str(result)])
    wrong = verify(result, folder / f"planted_{size}.json")
    if wrong:
        raise SystemExit(f"{script} {' '.join(args)}: {wrong}; a figure counts only where exactly what was planted is found")
    return done


def every(folder: Path, size: int, times: int) -> bool:
    """Run all of them, at a size that a gate can wait for."""
    return all(
        [
            judge(folder, size, times),
            drifts(folder, size, times),
            doubles(folder, size, times),
            starts(folder, size, times),
            plugs(folder, size, times),
            wire(folder, size, times),
            walls(folder, size, times),
            events(folder, size, times),
            clocks(folder, size, times),
            relays(folder, size, times),
        ]
    )


def drifts(_: Path, size: int, times: int) -> bool:
    """Hold a trial against a bare loop that does the same."""
    return drift.measure(min(size, 5_000), min(times, 5))


def doubles(_: Path, __: int, times: int) -> bool:
    """Hold a call of a double against a bare function, and its memory over many calls."""
    return double.measure(min(times, 5))


def starts(folder: Path, _: int, times: int) -> bool:
    """Hold a start against one of typer, and a run of one trivial check against pytest on one trivial test."""
    return start.measure(folder, times)


def plugs(folder: Path, _: int, times: int) -> bool:
    """Hold an unrelated suite of pytest against itself without our plugin."""
    return unrelated.measure(folder, times)


def wire(_: Path, size: int, times: int) -> bool:
    """Hold a double behind an SDK's client against a canned body behind the same."""
    return sdk.measure(min(size, 1_000), min(times, 5))


def walls(_: Path, __: int, times: int) -> bool:
    """Hold a confined worker's start against one without walls."""
    return wall.measure(min(times, 5))


def clocks(_: Path, __: int, times: int) -> bool:
    """Hold a trial under the virtual clock against the same under the real one."""
    return clock.measure(min(times, 5))


def relays(_: Path, __: int, times: int) -> bool:
    """Hold an echo through an allowed port against one that is asked directly."""
    return relay.measure(min(times, 5))


def events(_: Path, __: int, times: int) -> bool:
    """Hold the gate's hook on an audit event against one that does nothing."""
    return event.measure(min(times, 5))


BENCHMARKS = {
    "judge": judge,
    "drift": drifts,
    "doubles": doubles,
    "starts": starts,
    "plugin": plugs,
    "wire": wire,
    "walls": walls,
    "clock": clocks,
    "events": events,
    "relay": relays,
    "all": every,
}


def main() -> int:
    """Run one benchmark."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("benchmark", nargs="?", default="all", choices=sorted(BENCHMARKS))
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="where the generated files stay; a temporary folder otherwise")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        return 0 if BENCHMARKS[options.benchmark](options.folder or Path(temporary), options.size, options.times) else 1


if __name__ == "__main__":
    sys.exit(main())
