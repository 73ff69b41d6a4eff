"""Where GitHub Actions runs us: annotations in addition to the report, and the step's summary."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from invcheck.cli import console
from invcheck.report import Report


def here(environ: Mapping[str, str]) -> bool:
    """Say whether a GitHub runner reads what we print."""
    return environ.get("GITHUB_ACTIONS") == "true"


def prefix(root: Path, environ: Mapping[str, str]) -> str:
    """Give the project's folder as the repository sees it, since annotations name files from there."""
    workspace = environ.get("GITHUB_WORKSPACE", "")
    return root.relative_to(workspace).as_posix() if workspace and root.is_relative_to(workspace) else ""


def fenced(text: str, form: str, environ: Mapping[str, str]) -> str:
    """Give text for people so that a runner obeys nothing in it; data for programs, and commands, stay as they are."""
    from invcheck.report import github  # noqa: PLC0415  # --help must not load the house

    return github.fenced(text) if here(environ) and form in ("table", "md") else text


def tell(report: Report, form: str, folder: str, environ: Mapping[str, str]) -> None:
    """Print annotations where a runner reads them, and append to its summary where it offers one."""
    from invcheck.report import github  # noqa: PLC0415  # --help must not load the house

    if here(environ) and form != "github":
        # where stdout is data for another program, the runner reads the same commands from stderr
        console.write(sys.stdout if form == "table" else sys.stderr, github.encode(report, prefix=folder))
    if environ.get("GITHUB_STEP_SUMMARY"):
        _summarise(report, Path(environ["GITHUB_STEP_SUMMARY"]))


def _summarise(report: Report, path: Path) -> None:
    from invcheck.report import markdown  # noqa: PLC0415  # --help must not load the house

    try:
        left = markdown.LIMIT - (path.stat().st_size if path.exists() else 0)
        with path.open("ab") as stream:
            stream.write(markdown.encode(report, limit=left))
    except OSError as error:
        console.say(f"note: the step summary cannot be written: {error.strerror}")
