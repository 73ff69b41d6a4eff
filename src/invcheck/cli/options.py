"""What was asked for: flags over ``INVCHECK_`` variables over the project's settings over defaults, each read once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from invcheck import settings
from invcheck.cli import reading, state
from invcheck.errors import UsageError
from invcheck.events import RunOptions

if TYPE_CHECKING:
    from invcheck.settings import Settings


@dataclass(frozen=True, slots=True)
class Asked:
    """Everything that a command was asked: the run's options, and what concerns the command line alone.

    ``outputs`` are absolute files; ``verbosity`` is -v minus -q.
    """

    options: RunOptions
    outputs: tuple[Path, ...]
    format: str
    verbosity: int


def ask(flags: Mapping[str, Any], environ: Mapping[str, str], here: Path) -> Asked:
    """Put together what was asked for from folder ``here``; raises UsageError for whatever cannot be read."""
    given, root = reading.Given(flags, environ), settings.project(here)
    given.no_strangers()
    own = settings.load(root)
    paths = given.several("paths")
    stop = [1] if given.switch("fail_fast") else []
    most = given.one("max_failures", reading.whole(1), "a whole number from 1", own.max_failures)
    options = RunOptions(
        root=root,
        paths=own.paths if paths is None else tuple(_selector(text, here, root) for text in paths),
        keyword=given.one("keyword", str, "words", own.keyword),
        tags=given.several("tag") or own.tags,
        runs=given.one("runs", reading.whole(1), "a whole number from 1", own.runs),
        seed=given.one("seed", reading.whole(0), "a whole number from 0", own.seed),
        jobs=given.one("jobs", reading.jobs, "a whole number from 1, or auto", own.jobs),
        shard=given.one("shard", reading.shard, "i/n with i from 1 to n", None),
        fail_fast_after=min([*stop, *([most] if most else [])], default=None),
        last_failed=state.failed(root) if given.switch("last_failed") else None,
        allow_empty=given.switch("allow_empty", own.allow_empty),
        audit=given.switch("audit", own.audit),
        require_kernel=own.gate_require == "kernel" or given.switch("require_kernel"),  # a variable takes nothing back
        trial_seconds=own.trial_seconds,
        cpu_seconds=own.cpu_seconds,
        memory=own.gate_memory,
        keep_env=own.gate_keep_env,
        allow=own.gate_allow,
    )
    return Asked(options, _outputs(given, own, here, root), _format(given, own), _verbosity(given, own))


def reporting(flags: Mapping[str, Any], environ: Mapping[str, str], here: Path) -> tuple[tuple[Path, ...], str, int]:
    """Give files, format and verbosity for a command that runs nothing, whose files are none of the settings'."""
    given = reading.Given(flags, environ)
    given.no_strangers()
    own = settings.load(settings.project(here))
    files = _files(given.several("output") or (), here)
    return files, _format(given, own), _verbosity(given, own)


def _format(given: reading.Given, own: Settings) -> str:
    formats = settings.FORMATS
    return given.one("format", lambda text: text if text in formats else None, f"one of {', '.join(formats)}", own.format)


def _verbosity(given: reading.Given, own: Settings) -> int:
    """-v minus -q; where either is said, the settings are silent on both."""
    verbose, quiet = given.times("verbose"), given.times("quiet")
    return own.verbose - own.quiet if verbose is None and quiet is None else (verbose or 0) - (quiet or 0)


def _outputs(given: reading.Given, own: Settings, here: Path, root: Path) -> tuple[Path, ...]:
    asked = given.several("output")
    return _files(own.output, root) if asked is None else _files(asked, here)


def _files(names: tuple[str, ...], folder: Path) -> tuple[Path, ...]:
    files = tuple(Path(os.path.normpath(folder / name)) for name in names)
    twice = next((name for name, file in zip(names, files, strict=True) if files.count(file) > 1), None)
    if twice is not None:
        raise UsageError(f"-o {twice} is given twice", code="OUTPUT")
    return files


def _selector(text: str, here: Path, root: Path) -> str:
    """Give a selector relative to the project: as seen from where one stands, else from the project itself."""
    where, colons, name = text.partition("::")
    seen = Path(os.path.normpath(here / where))
    if not seen.exists() and (root / where).exists():
        seen = Path(os.path.normpath(root / where))
    if not seen.is_relative_to(root):
        raise UsageError(
            f"{where!r} lies outside of the project {root.name!r}", code="OUTSIDE", hint="run invcheck from that project's folder"
        )
    return seen.relative_to(root).as_posix() + colons + name
