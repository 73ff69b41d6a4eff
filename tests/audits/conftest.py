"""Projects that are audited: made of the planted answers, or written by a test."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.audits.corpus import FOLDER
from tests.checks.planted import Project


@dataclass(frozen=True)
class Audited(Project):
    """A project of which an audit is told as data."""

    def findings(self, *arguments: str) -> tuple[int, dict[str, list[dict[str, Any]]]]:
        """Audit it: the status, and every check's findings by its name."""
        lines = self.root / "told.jsonl"
        done = subprocess.run(
            [sys.executable, "-m", "invcheck", "run", "--audit", "-q", "-o", lines.name, *arguments],
            cwd=self.root, capture_output=True, text=True, check=False, timeout=500,
        )  # fmt: skip
        events = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
        assert not [event for event in events if event["kind"] == "problem"], done.stderr
        cases = [event for event in events if event["kind"] == "case"]
        return done.returncode, {case["check"].partition("::")[2]: case["findings"] for case in cases}

    def plant_answers(self, functions: Iterable[str]) -> None:
        """Write the planted modules, and a check for each of the functions."""
        shutil.copytree(FOLDER, self.root, dirs_exist_ok=True)
        self.write({"checks/all.yaml": json.dumps({"checks": [_check(function) for function in functions]})})


def _check(function: str) -> dict[str, Any]:
    module, _, name = function.partition(":")
    tree = ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8"))
    found = next(node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name)
    model = {"model": {"script": ["fine"]}} if "model" in [each.arg for each in found.args.args] else {}
    claims = [{"equals": {"of": "$.input", "to": "anna"}}]
    return {"check": function, "app": function, **model, "cases": [{"id": "one", "input": "anna"}], "expect": claims}


@pytest.fixture
def audited(tmp_path: Path) -> Audited:
    """An empty project."""
    (tmp_path / "shop").mkdir()
    return Audited(tmp_path / "shop")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    """An empty project for the tests of one module."""
    return Audited(tmp_path_factory.mktemp("planted"))
