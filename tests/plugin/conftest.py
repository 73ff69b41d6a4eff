"""Projects of a user, run by a pytest of their own that knows the plugin by its entry point alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest


@dataclass(frozen=True, slots=True)
class Told:
    """What a run said: exit status, what became of each test with its message, and the terminal's text."""

    status: int
    outcomes: dict[str, str]
    messages: dict[str, str]
    text: str


Tests = Callable[..., Told]


@pytest.fixture
def tests(tmp_path: Path) -> Tests:
    """Run the text of a test module (or files by name) with pytest, warnings being errors; randomly only where asked."""

    def run(text: str, *args: str, **files: str) -> Told:
        (tmp_path / "pytest.ini").write_text(files.pop("ini", "[pytest]\nfilterwarnings = error\n"), encoding="utf-8")
        (tmp_path / "test_it.py").write_text(text, encoding="utf-8")
        for name, content in files.items():
            (tmp_path / f"{name}.py").write_text(content, encoding="utf-8")
        quiet = [] if any("randomly" in arg for arg in args) else ["-p", "no:randomly"]
        command = [sys.executable, "-m", "pytest", "--junitxml=out.xml", "-p", "no:cacheprovider", *quiet, *args]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        outcomes, messages = {}, {}
        cases = ET.parse(tmp_path / "out.xml").iter("testcase") if (tmp_path / "out.xml").exists() else ()
        for case in cases:
            name = case.attrib["name"]
            for child in case:
                if child.tag in ("failure", "error", "skipped"):
                    outcomes[name], messages[name] = child.tag, child.attrib["message"]
            outcomes.setdefault(name, "passed")
        return Told(done.returncode, outcomes, messages, done.stdout + done.stderr)

    return run
