"""Small projects, run as a user runs them, with what came of every case at hand."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.checks.planted import Project


@dataclass
class Told:
    """What a run told: status, the cases by ``name[case]``, the problems, and both streams."""

    status: int
    out: str
    err: str
    cases: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[dict[str, Any]] = field(default_factory=list)

    def codes(self, name: str) -> list[str]:
        """The codes of a case's findings, in order, but for what they leave unjudged."""
        return [finding["code"] for finding in self.cases[name]["findings"] if finding["code"] != "UNJUDGED"]

    def one(self, name: str) -> dict[str, Any]:
        """The one finding of a case, but for what it leaves unjudged."""
        (finding,) = [finding for finding in self.cases[name]["findings"] if finding["code"] != "UNJUDGED"]
        return dict(finding)

    def verdict(self, name: str) -> str:
        """What a case came to."""
        return str(self.cases[name]["verdict"])


class Shop(Project):
    """A project of which one run is told as data too."""

    def told(self, *arguments: str) -> Told:
        """Run it, with the JSON Lines read back."""
        lines = self.root / "told.jsonl"
        ran = self.run(*arguments, "-o", lines.name)
        told = Told(ran.status, ran.out, ran.err)
        for line in lines.read_text(encoding="utf-8").splitlines() if lines.exists() else ():
            event = json.loads(line)
            if event["kind"] == "case":
                told.cases[f"{event['check'].partition('::')[2]}[{event['case']}]"] = event
            elif event["kind"] == "problem":
                told.problems.append(event)
        return told

    def file(self, name: str) -> str:
        """The text of a file of the project."""
        return (self.root / name).read_text(encoding="utf-8")


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """An empty project."""
    (tmp_path / "shop").mkdir()
    return Shop(tmp_path / "shop")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """An empty project for the tests of one module."""
    return Shop(tmp_path_factory.mktemp("shop"))
