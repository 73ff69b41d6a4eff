"""The command line over a pipeline that tells what a test has prepared."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import invcheck
from invcheck.cli import main
from invcheck.events import CaseDone, Ended, Event, Listing, RunOptions, Started, summarise
from invcheck.sandbox.environ import scrubbed
from invcheck.vocabulary import Finding, Place, Result, Verdict


def broken_run() -> list[Event]:
    """Two cases, the second one broken."""
    finding = Finding(
        "EQUALS", Verdict.BROKEN, "", claim="equals: of=$.output to=1", path="$.output", expected="1", got="2",
        place=Place("checks/a.yaml", 9, 5), seed=3, count=2,
    )  # fmt: skip
    results = [
        Result("checks/a.yaml::adds", "one", Place("checks/a.yaml", 1, 1), 0, 4, {"kept": 4}, Verdict.KEPT),
        Result("checks/a.yaml::adds", "two", Place("checks/a.yaml", 1, 1), 0, 4, {"kept": 2, "broken": 2}, Verdict.BROKEN, (finding,)),
    ]
    started = Started(2, 8, 0, None, 2, "p" * 64, "K1", None)
    return [started, *(CaseDone(n, result) for n, result in enumerate(results)), Ended(summarise(results))]


@dataclass
class Fake:
    """A pipeline: what it tells, what it raises at the end, and what it was asked."""

    events: list[Event] = field(default_factory=broken_run)
    error: BaseException | None = None
    listing: Listing = field(default_factory=lambda: Listing(()))
    options: RunOptions | None = None

    def run(self, options: RunOptions, emit: Callable[[Event], None]) -> None:
        self.options = options
        for event in self.events:
            emit(event)
        if self.error is not None:
            raise self.error

    def list_cases(self, options: RunOptions) -> Listing:
        self.options = options
        return self.listing


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    fake = Fake()
    monkeypatch.setitem(sys.modules, "invcheck._pipeline", fake)  # type: ignore[arg-type]  # it stands for the module
    monkeypatch.setattr(invcheck, "_pipeline", fake, raising=False)
    return fake


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project where we stand, and nothing of this machine's environment that a run listens to."""
    for name in [*os.environ]:
        if name.startswith(("INVCHECK_", "GITHUB_", "NO_COLOR", "FORCE_COLOR")):
            monkeypatch.delenv(name)
    for name in scrubbed(os.environ, "")[1]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def said(project: Path, fake: Fake, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command and give its status, stdout and stderr, whole."""

    def run(*words: str) -> tuple[int, str, str]:
        status = main(words)
        return status, *capsys.readouterr()

    return run


Said = Callable[..., Any]
