"""Runs the example of each framework in the framework's own environment: ``python -m tests.frameworks [NAME...]``.

Two examples at a time; one line for each, and what went wrong whole. The exit status is 1 where anything did.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.frameworks import environments
from tests.frameworks.environments import Failed, ran

HERE = Path(__file__).parent
NAMES = sorted(folder.parent.name for folder in HERE.glob("*/requirements.txt"))


def example(name: str, wheel: Path, venvs: Path) -> tuple[bool, str]:
    """Build one environment and run its checks in it; says whether all was well, and what there is to tell."""
    began = time.perf_counter()
    try:
        tools = environments.ready(name, HERE / name / "requirements.txt", venvs)
        ran([tools / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--force-reinstall", wheel])
        built = time.perf_counter()
        kept = _kept(tools, HERE / name)
        refused = _refused(tools, HERE / name)
    except Failed as error:
        return False, f"failed  {name}\n{error}"
    done = time.perf_counter()
    size = environments.megabytes(venvs / name)
    times = f"{built - began:5.1f} s to build, {done - built:4.1f} s to run"
    return True, f"kept    {name:<14} {kept} checks kept, {refused} refused by the gate   {times}, {size:3} MB"


def _kept(tools: Path, folder: Path) -> int:
    report = json.loads(ran([tools / "invcheck", "run", "check_app.py", "--format", "json"], cwd=folder, seconds=120))
    return len(report["cases"])


def _refused(tools: Path, folder: Path) -> int:
    """The negative twin: what asks the framework's real client ends at the gate, whatever the framework makes of it."""
    report = json.loads(ran([tools / "invcheck", "run", "check_forgotten.py", "--format", "json"], cwd=folder, seconds=120, wanted=1))
    for case in report["cases"]:
        if "NETWORK" not in {finding["code"] for finding in case["findings"]}:
            raise Failed(f"{folder.name}: {case['check']} did not end at the gate: {json.dumps(case['findings'])}")
    return len(report["cases"])


def main() -> int:
    """Run the examples that were asked for, all of them where none was."""
    parser = argparse.ArgumentParser(prog="python -m tests.frameworks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; without one, all")
    parser.add_argument("--venvs", type=Path, default=environments.FOLDER, help="the folder that environments are built in")
    given = parser.parse_args()
    names = given.names or NAMES
    unknown = sorted({*names} - {*NAMES})
    if unknown:
        parser.error(f"there is no {unknown[0]!r}: {', '.join(NAMES)}")
    passed = 0
    with tempfile.TemporaryDirectory() as temp, ThreadPoolExecutor(2) as pool:
        wheel = environments.wheel(Path(temp))
        for well, told in pool.map(partial(example, wheel=wheel, venvs=given.venvs.resolve()), names):
            sys.stdout.write(f"{told}\n")
            sys.stdout.flush()
            passed += well
    sys.stdout.write(f"frameworks: {passed} passed, {len(names) - passed} failed\n")
    return 0 if passed == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
