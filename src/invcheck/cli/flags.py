"""The flags that commands share, as the parser wants them; their texts are read in `options`, with their twins."""

from __future__ import annotations

from typing import Annotated

import typer

TWINS = (
    "Every option has a twin in the environment, such as INVCHECK_MAX_FAILURES for --max-failures, and the paths have "
    "INVCHECK_PATHS; several values stand in one variable as a shell reads words."
)
"""What the help of a command says about the environment."""


def _option(*names: str, text: str, metavar: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(*names, help=text, metavar=metavar, show_default=False)
    return option


def _switch(*names: str, text: str, count: bool = False) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(*names, help=text, count=count, show_default=False)
    return option


Paths = Annotated[
    list[str] | None,
    typer.Argument(help="Files, folders, PATH::name or PATH::name[case].", metavar="[PATH]...", show_default=False),
]
Keyword = Annotated[str | None, _option("-k", "--keyword", text="Only cases whose name holds these words (and, or, not).", metavar="EXPR")]
Tags = Annotated[list[str] | None, _option("--tag", text="Only checks with this tag; repeatable.", metavar="TAG")]
Runs = Annotated[str | None, _option("--runs", text="Trials per case, in place of each check's own number.", metavar="N")]
Seed = Annotated[str | None, _option("--seed", text="The first trial's seed; trial i has seed N + i.", metavar="N")]
Jobs = Annotated[str | None, _option("-j", "--jobs", text="Workers at once; auto: one for each processor.", metavar="N")]
Shard = Annotated[str | None, _option("--shard", text="Only the i-th of n parts of the plan.", metavar="I/N")]
FailFast = Annotated[bool, _switch("-x", "--fail-fast", text="Stop after the first case that is not kept.")]
MaxFailures = Annotated[str | None, _option("--max-failures", text="Stop after so many cases that are not kept.", metavar="N")]
LastFailed = Annotated[bool, _switch("--last-failed", "--lf", text="Only what was not kept in the last run.")]
AllowEmpty = Annotated[bool, _switch("--allow-empty", text="A selection of nothing is fine.")]
Audit = Annotated[bool, _switch("--audit", text="Name what comes of clock, order and chance: each case again, all of that changed.")]
RequireKernel = Annotated[bool, _switch("--require-kernel", text="Refuse to run where the kernel cannot cut the network.")]
Output = Annotated[
    list[str] | None,
    _option("-o", "--output", text="Write a report too: .jsonl .json .xml .md or .txt; repeatable.", metavar="FILE"),
]
Format = Annotated[
    str | None,
    _option("--format", text="What stdout gets: table, jsonl, json, junit, md or github.", metavar="FORMAT"),
]
Quiet = Annotated[int, _switch("-q", "--quiet", text="No table; twice: the summary alone.", count=True)]
Verbose = Annotated[
    int, _switch("-v", "--verbose", text="A row for every case, what stays unjudged, and the calls of a failing trial.", count=True)
]
