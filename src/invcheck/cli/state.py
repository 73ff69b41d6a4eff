"""What the last run left behind for ``--last-failed``: one small file in the project, and nothing outside of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from invcheck.cli.outputs import replace
from invcheck.errors import UsageError
from invcheck.report import explain
from invcheck.vocabulary import Result, Verdict

FILE = ".invcheck/last-failed.json"
_VERSION = 1


def read(root: Path) -> tuple[str, ...] | None:
    """Give the ids that were not kept in the last run, None where no run was remembered; UsageError if it is damaged."""
    try:
        plain = json.loads((root / FILE).read_text("utf-8"))
        if plain["invcheck"] == _VERSION:
            return tuple(str(name) for name in plain["failed"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError):
        pass  # the one answer for all that it can be instead stands below
    raise UsageError(f"{FILE} cannot be read", code="NO_LAST_RUN", hint="delete it, the next run writes it again")


def failed(root: Path) -> tuple[str, ...]:
    """Give the ids that were not kept in the last run; UsageError where none was remembered, too."""
    ids = read(root)
    if ids is None:
        hint = f"a run leaves its failures in {FILE}"
        raise UsageError("--last-failed: no run has been remembered here yet", code="NO_LAST_RUN", hint=hint)
    return ids


def write(root: Path, results: Iterable[Result]) -> None:
    """Remember what was not kept: what failed before and did not run now stays. OSError where the project is read-only."""
    try:
        failed = set(read(root) or ())
    except UsageError:
        failed = set()
    for result in results:
        name = explain.name(result)
        failed = failed - {name} if result.verdict is Verdict.KEPT else failed | {name}
    folder = (root / FILE).parent
    folder.mkdir(exist_ok=True)
    if not (folder / ".gitignore").exists():
        replace(folder / ".gitignore", b"*\n")
    text = json.dumps({"invcheck": _VERSION, "failed": sorted(failed)}, indent=1)
    replace(root / FILE, f"{text}\n".encode("utf-8", "backslashreplace"))
