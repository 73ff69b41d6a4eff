"""The judge's benchmark finds exactly what was planted; its figures are printed by `python -m tests.benchmarks judge`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SIZE = 1000


def script(name: str, *args: object) -> None:
    subprocess.run([sys.executable, str(HERE / name), *map(str, args)], check=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("recordings")
    script("gen.py", made, SIZE)
    return made


@pytest.mark.parametrize("shape", ["rows", "observations"])
def test_exactly_what_was_planted_is_found(folder: Path, shape: str, tmp_path: Path) -> None:
    """In both shapes the judge finds the planted records, each by the one planted check, and so does the loop."""
    planted = json.loads((folder / f"planted_{SIZE}.json").read_text())
    assert 10 <= len(planted["planted"]) <= 40
    result = tmp_path / "result.json"
    for command in (["judge.py", shape], ["loop.py", "all", shape]):
        script(*command, folder / f"{shape}_{SIZE}.jsonl", result)
        assert json.loads(result.read_text()) == {"n": SIZE, "failing": {ident: [check] for ident, check in planted["planted"].items()}}


@pytest.mark.parametrize("shape", ["rows", "observations"])
def test_duplicate_keys_are_refused_in_both(folder: Path, shape: str, tmp_path: Path) -> None:
    """A key that stands twice, in the row or in the output's text, makes that record fail and no other."""
    lines = (folder / f"{shape}_{SIZE}.jsonl").read_text(encoding="utf-8").splitlines()[:3]
    lines[1] = lines[1].replace('{\\"answer\\":', '{\\"cites\\": [], \\"answer\\":')
    file, result = tmp_path / "twice.jsonl", tmp_path / "result.json"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    script("judge.py", shape, file, result)
    assert json.loads(result.read_text()) == {"n": 3, "failing": {"r000001": ["parse"]}}
