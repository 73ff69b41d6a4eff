"""``invcheck list``: every case that a run would run, by the name that selects it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from invcheck.cli import flags


def list_cases(  # the parser reads these: their order is that of the help
    paths: flags.Paths = None,
    keyword: flags.Keyword = None,
    tag: flags.Tags = None,
    shard: flags.Shard = None,
    last_failed: flags.LastFailed = False,
    allow_empty: flags.AllowEmpty = False,
    verbose: flags.Verbose = 0,
) -> Callable[[], int]:
    """List the cases that would run, one name a line; -v adds trials, tags and places."""
    said = dict(locals())
    return lambda: execute(said, os.environ, Path.cwd())


def execute(said: Mapping[str, Any], environ: Mapping[str, str], here: Path) -> int:
    """List what was asked for and give the exit status; errors of ours are raised."""
    from invcheck import _pipeline  # noqa: PLC0415  # --help must not load the house
    from invcheck.cli import console, options  # noqa: PLC0415  # as above
    from invcheck.events import status_of, worst  # noqa: PLC0415  # as above
    from invcheck.report import explain, table, visible  # noqa: PLC0415  # as above
    from invcheck.vocabulary import case_name  # noqa: PLC0415  # as above

    asked = options.ask(said, environ, here)
    listing = _pipeline.list_cases(asked.options)
    names = [case_name(case.check, case.case) for case in listing.cases]
    if asked.verbosity > 0 and names:
        rows = [[str(case.runs), ", ".join(case.tags), str(case.place), name] for case, name in zip(listing.cases, names, strict=True)]
        text = table.grid(["trials", "tags", "place", "case"], rows, right=[0], optional=1) + "\n"
    else:
        text = "".join(f"{visible.visible(name)}\n" for name in names)
    console.data(text)
    for problem in listing.problems:
        console.say(explain.problem(problem))
    return worst(status_of(problem) for problem in listing.problems)
