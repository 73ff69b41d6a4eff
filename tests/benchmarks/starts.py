"""What a start costs: the command itself, and a run of one trivial check against pytest on one trivial test."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from processes import Run, pairs, run

CHECK_PY = """from invcheck import check


@check()
def adds(trial):
    assert 1 + 1 == 2
"""
CHECK_YAML = """check: adds
app: app:add
cases:
  - id: one
    input: {number: 1}
expect:
  - equals: {of: $.output, to: 2}
"""
APP = "def add(number):\n    return number + 1\n"
TEST = "def test_adds():\n    assert 1 + 1 == 2\n"

BARS = {"invcheck --version": 2.0, "invcheck run, Python check": 1.0, "invcheck run, YAML check": 1.0}


def measure(folder: Path, times: int) -> bool:
    """Print CPU medians and the median of paired ratios; False where a bar is missed by a factor of two."""
    projects = _projects(folder)
    python = sys.executable
    invcheck = [str(Path(python).parent / "invcheck")]
    test = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_one.py"]
    rows = {
        "invcheck --version": ([python, "-c", "import typer"], [*invcheck, "--version"], "test"),
        "invcheck run, Python check": (test, [*invcheck, "run", "-q"], "python"),
        "invcheck run, YAML check": (test, [*invcheck, "run", "-q"], "yaml"),
    }
    print(f"{'start':<30}{'against ms':>12}{'ours ms':>9}{'CPU ratio':>11}{'bar':>6}")
    good = True
    for name, (other, ours, project) in rows.items():
        theirs, own, ratio = pairs(
            lambda other=other: _in(projects["test"], other),
            lambda ours=ours, project=project: _in(projects[project], ours),
            times,
        )
        ms = [1000 * statistics.median(each.cpu for each in runs) for runs in (theirs, own)]
        print(f"{name:<30}{ms[0]:>12.0f}{ms[1]:>9.0f}{ratio:>11.2f}{BARS[name]:>6.2f}")
        good &= ratio <= 2 * BARS[name]
    return good


def _in(project: Path, command: list[str]) -> Run:
    return run(command, folder=project)


def _projects(folder: Path) -> dict[str, Path]:
    made = {}
    for name, files in {
        "test": {"test_one.py": TEST},
        "python": {"checks/check_one.py": CHECK_PY},
        "yaml": {"checks/one.yaml": CHECK_YAML, "app.py": APP},
    }.items():
        made[name] = folder / name
        for file, text in files.items():
            (made[name] / file).parent.mkdir(parents=True, exist_ok=True)
            (made[name] / file).write_text(text, encoding="utf-8")
    return made
