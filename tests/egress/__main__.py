"""Print ways out by tiers, as listeners judged them: `python -m tests.egress [--user USER] [--tier TIER] [WAY...]`.

Exit 1 where anything is not as its tier promises: a leak, a way that is not seen without walls, one that must work and does not.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.egress.harness import NO_WORLD, ROOT
from tests.egress.verdicts import Found, faults, missing, table

USERS = ("root", "ordinary")
TIERS = ("K1", "K2", "K3", "soft")
_SECONDS = 900


class NoWorld(Exception):
    """The kernel grants the harness no network of its own, in which its listeners could stand."""


def judged(user: str, tiers: Sequence[str] = TIERS, ways: Sequence[str] = ()) -> Found:
    """Take the ways as a user, all of them where none is named; NoWorld where there is no place for it."""
    with tempfile.TemporaryDirectory(prefix="egress-") as folder:
        words = [user, "|".join(ways), ",".join(tiers), str(Path(folder, "place"))]
        Path(folder).chmod(0o755)
        done = subprocess.run(
            [sys.executable, "-m", "tests.egress.harness", *words], cwd=ROOT, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    if done.returncode == NO_WORLD:
        raise NoWorld(done.stderr.strip())
    if done.returncode:
        raise SystemExit(done.stderr)
    found: Found = json.loads(done.stdout)
    return found


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.egress")
    parser.add_argument("ways", nargs="*", metavar="WAY")
    parser.add_argument("--user", action="append", choices=USERS)
    parser.add_argument("--tier", action="append", choices=TIERS)
    asked = parser.parse_args()
    wrong = list[str]()
    for user in asked.user or USERS:
        if user == "root" and os.getuid():
            say("as root: not judged, since we are not root\n")
            continue
        found = judged(user, asked.tier or TIERS, asked.ways)
        say(f"as {'root' if user == 'root' else 'an ordinary user'}\n\n{table(found)}\n")
        say("".join(f"not taken here, {each}\n" for each in missing(found)))
        wrong += [f"as {user}: {fault}" for fault in faults(found)]
    say("\n".join(wrong) or "everything is as its tier promises")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
