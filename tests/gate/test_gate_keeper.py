"""The keeper of a cell stays what a program's processes hang on, however late it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from invcheck.engines import limits
from invcheck.gate import cell, keeper
from invcheck.gate.tiers import Tier
from invcheck.sandbox.network import notes_file


def test_who_stands_by_outlives_its_own_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program shows its own /proc before whoever stands by has closed what it holds: the tree hangs together all the same."""
    real = keeper._alone

    def late(*keep: int, **options: Any) -> None:
        if options.get("among") is not None:
            while Path("/proc/self").exists():
                os.sched_yield()
        real(*keep, **options)

    monkeypatch.setattr(keeper, "_alone", late)
    notes, sites, null = notes_file(), notes_file(), os.open(os.devnull, os.O_RDWR)
    life, kept = os.pipe()
    program = cell.Program(["/bin/sleep", "1000"], {}, str(tmp_path), str(tmp_path), life, notes, sites, stdio=(null, null, null))
    walls = cell.walls(Tier.K1, seen=[str(tmp_path)])
    if not walls.own_pids:
        pytest.skip("no process numbers of its own here")
    running = cell.Cell(program, walls)
    try:
        seen = set()
        for _ in range(2_000):  # it may not be so far yet
            seen.add(len(limits.used(running.keeper).processes))
            os.sched_yield()
        assert max(seen) >= 3
        assert len(limits.used(running.keeper).processes) >= 3
    finally:
        running.end()
        for descriptor in (notes, sites, null, life, kept):
            os.close(descriptor)
