"""What coverage leaves out because only another kernel or machine gets there: all of it stands here."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARK = re.compile(r"# elsewhere: (?P<reason>\S.*)$")
OTHER = re.compile(r"#\s*pragma: no (cover|branch)|# elsewhere(?!: \S)")

ELSEWHERE: dict[str, list[str]] = {"gate/relay.py": ["a kernel without IPv6"]}
"""By file, the reasons of what is left out, in order."""


def _lines() -> dict[str, list[str]]:
    files = sorted((ROOT / "src" / "invcheck").rglob("*.py"))
    return {path.relative_to(ROOT / "src" / "invcheck").as_posix(): path.read_text(encoding="utf-8").splitlines() for path in files}


def test_everything_that_is_left_out_is_listed() -> None:
    """Each mark is one of the list above, and each of the list is there."""
    found = {name: [mark["reason"] for line in lines if (mark := MARK.search(line))] for name, lines in _lines().items()}
    assert {name: reasons for name, reasons in found.items() if reasons} == ELSEWHERE


def test_nothing_is_left_out_in_another_way() -> None:
    """No other marker of coverage stands in the package, and no mark lacks its reason."""
    assert [f"{name}: {line.strip()}" for name, lines in _lines().items() for line in lines if OTHER.search(line)] == []


def test_coverage_knows_the_mark() -> None:
    """Branches are measured, in workers too, and the mark is what leaves out."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["coverage"]
    assert settings["run"]["branch"]
    assert {"subprocess", "execv", "_exit"} <= set(settings["run"]["patch"])
    assert [pattern for pattern in settings["report"]["exclude_also"] if re.search(pattern, "return None  # elsewhere: an old kernel")]
