"""The flags that commands share, as the parser wants them; their texts are read in `options`, with their twins."""

from __future__ import annotations

from typing import Annotated

import typer


def _option(*names: str, text: str, metavar: str, env: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(*names, help=f"{text} [env: INVCHECK_{env}]", metavar=metavar, show_default=False)
    return option


def _switch(*names: str, text: str, env: str, count: bool = False) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(*names, help=f"{text} [env: INVCHECK_{env}]", count=count, show_default=False)
    return option


Paths = Annotated[
    list[str] | None,
    typer.Argument(help="Files, folders, PATH::name or PATH::name[case]. [env: INVCHECK_PATHS]", metavar="[PATH]...", show_default=False),
]
Keyword = Annotated[
    str | None, _option("-k", "--keyword", text="Only cases whose name holds these words (and, or, not).", metavar="EXPR", env="KEYWORD")
]
Tags = Annotated[list[str] | None, _option("--tag", text="Only checks with this tag; repeatable.", metavar="TAG", env="TAG")]
Runs = Annotated[str | None, _option("--runs", text="Trials per case, in place of each check's own number.", metavar="N", env="RUNS")]
Seed = Annotated[str | None, _option("--seed", text="The first trial's seed; trial i has seed N + i.", metavar="N", env="SEED")]
Jobs = Annotated[str | None, _option("-j", "--jobs", text="Workers at once.", metavar="N", env="JOBS")]
Shard = Annotated[str | None, _option("--shard", text="Only the i-th of n parts of the plan.", metavar="I/N", env="SHARD")]
FailFast = Annotated[bool, _switch("-x", "--fail-fast", text="Stop after the first case that is not kept.", env="FAIL_FAST")]
MaxFailures = Annotated[
    str | None, _option("--max-failures", text="Stop after so many cases that are not kept.", metavar="N", env="MAX_FAILURES")
]
LastFailed = Annotated[bool, _switch("--last-failed", "--lf", text="Only what was not kept in the last run.", env="LAST_FAILED")]
AllowEmpty = Annotated[bool, _switch("--allow-empty", text="A selection of nothing is fine.", env="ALLOW_EMPTY")]
Require = Annotated[str | None, _option("--require", text="Refuse to run without this gate.", metavar="kernel", env="REQUIRE")]
Output = Annotated[
    list[str] | None,
    _option("-o", "--output", text="Write a report too: .jsonl .json .xml .md or .txt; repeatable.", metavar="FILE", env="OUTPUT"),
]
Format = Annotated[
    str | None,
    _option("--format", text="What stdout gets: table, jsonl, json, junit, md or github.", metavar="FORMAT", env="FORMAT"),
]
Quiet = Annotated[int, _switch("-q", "--quiet", text="No table; twice: the summary alone.", env="QUIET", count=True)]
Verbose = Annotated[int, _switch("-v", "--verbose", text="A row for every case, and what stays unjudged.", env="VERBOSE", count=True)]
