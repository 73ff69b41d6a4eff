"""``invcheck run``: run checks, tell what came of it, and end with the status of the worst."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from invcheck.cli import flags


def run(  # the parser reads these: their order is that of the help
    paths: flags.Paths = None,
    keyword: flags.Keyword = None,
    tag: flags.Tags = None,
    runs: flags.Runs = None,
    seed: flags.Seed = None,
    jobs: flags.Jobs = None,
    shard: flags.Shard = None,
    fail_fast: flags.FailFast = False,
    max_failures: flags.MaxFailures = None,
    last_failed: flags.LastFailed = False,
    allow_empty: flags.AllowEmpty = False,
    audit: flags.Audit = False,
    require_kernel: flags.RequireKernel = False,
    output: flags.Output = None,
    format: flags.Format = None,  # noqa: A002  # the flag's own name
    quiet: flags.Quiet = 0,
    verbose: flags.Verbose = 0,
) -> Callable[[], int]:
    """Run checks: deterministic, offline, free.

    Exit status: 0 kept, 1 a claim is broken, 2 usage, 3 could not be judged, 4 refused, 5 nothing selected.
    """
    said = dict(locals())
    return lambda: execute(said, os.environ, Path.cwd())


def execute(said: Mapping[str, Any], environ: Mapping[str, str], here: Path) -> int:
    """Run what was asked for and give the exit status; errors of ours are raised."""
    from invcheck import _pipeline  # noqa: PLC0415  # --help must not load the house
    from invcheck.cli import notes, options, outputs, telling  # noqa: PLC0415  # as above

    asked = options.ask(said, environ, here)
    outputs.check(asked.outputs)
    if asked.verbosity > 0:
        notes.withheld(environ, asked.options.keep_env)
    told = telling.Telling(asked.options.root, asked.outputs, asked.format, asked.verbosity, environ)
    try:
        _pipeline.run(asked.options, told.take)
    except KeyboardInterrupt:
        pass  # what was told so far is a report: it says itself that it was interrupted
    except BaseException:
        told.abandon()
        raise
    return told.finish()
