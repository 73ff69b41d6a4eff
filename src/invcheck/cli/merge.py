"""``invcheck merge``: one report of a run's shards, told and judged as if it had been one run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from invcheck.cli import flags


def merge(
    files: Annotated[list[str], typer.Argument(help="The JSON Lines of every shard.", metavar="FILE")],
    output: flags.Output = None,
    format: flags.Format = None,  # noqa: A002  # the flag's own name
    quiet: flags.Quiet = 0,
    verbose: flags.Verbose = 0,
) -> Callable[[], int]:
    """Merge the shards of one run; a missing, doubled or unfinished one is an error."""
    said = {"output": output, "format": format, "quiet": quiet, "verbose": verbose}
    return lambda: execute(files, said, os.environ, Path.cwd())


def execute(files: Sequence[str], said: Mapping[str, Any], environ: Mapping[str, str], here: Path) -> int:
    """Merge and give the exit status of the whole run; UsageError for what does not make a whole."""
    from invcheck import settings  # noqa: PLC0415  # --help must not load the house
    from invcheck.cli import options, outputs, telling  # noqa: PLC0415  # --help must not load the house
    from invcheck.errors import UsageError  # noqa: PLC0415  # as above
    from invcheck.report import jsonlines  # noqa: PLC0415  # as above
    from invcheck.report.merge import merge as merged  # noqa: PLC0415  # as above

    targets, form, verbosity = options.reporting(said, environ, here)
    outputs.check(targets)
    shards = []
    for name in files:
        try:
            with (here / name).open(encoding="utf-8") as lines:
                shards.append((name, list(jsonlines.read(lines, name))))
        except (OSError, UnicodeDecodeError) as error:
            what = getattr(error, "strerror", None) or "it is no UTF-8 text"
            raise UsageError(f"{name} cannot be read: {what}", code="REPORT_FILE") from error
    report = merged(shards)
    return telling.deliver(report, settings.project(here), targets, form, verbosity, environ)
