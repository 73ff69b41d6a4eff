"""Projects that are planted for a test, and the command run over them as a user would."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

CHECKS = Path(__file__).parents[2] / "checks"


@dataclass(frozen=True)
class Ran:
    """What the command gave."""

    status: int
    out: str
    err: str

    def line(self, begin: str) -> str:
        """The one line of the output that begins so, blanks aside."""
        found = [line.strip() for line in self.out.splitlines() if line.strip().startswith(begin)]
        assert len(found) == 1, f"{len(found)} lines begin with {begin!r} in:\n{self.out}\n{self.err}"
        return found[0]

    def codes(self) -> list[str]:
        """The codes of all findings and problems that are told, in order."""
        words = [line.split()[0] for line in (self.out + self.err).splitlines() if line.strip()]
        return [word for word in words if word.replace("_", "").isupper() and word not in ("BROKEN", "ERRORED", "UNJUDGED")]


@dataclass(frozen=True)
class Project:
    """A project in a folder of its own."""

    root: Path

    def write(self, files: Mapping[str, str]) -> None:
        """Write files, the indentation of their texts taken off."""
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(dedent(text).lstrip("\n"), encoding="utf-8")

    def plant(self, name: str, old: str, new: str) -> None:
        """Change the one place of a file where ``old`` stands."""
        text = (self.root / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        (self.root / name).write_text(text.replace(old, new), encoding="utf-8")

    def run(self, *arguments: str) -> Ran:
        """Run ``invcheck run`` over the project, in a process of its own."""
        return self.command("invcheck run " + shlex.join(arguments))

    def command(self, line: str) -> Ran:
        """Run a command line that begins with invcheck, such as a replay line."""
        words = shlex.split(line)
        assert words[0] == "invcheck"
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("INVCHECK_", "PYTEST_", "GITHUB_"))}
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=self.root,
            env=environ | {"NO_COLOR": "1"},
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=120,
        )
        return Ran(done.returncode, done.stdout, done.stderr)
