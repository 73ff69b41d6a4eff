"""The command line: thin commands, one file each; heavy imports wait until a command needs them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from invcheck import __version__
from invcheck.cli import console, exits
from invcheck.cli.list import list_cases
from invcheck.cli.merge import merge
from invcheck.cli.run import run
from invcheck.cli.schema import schema

__all__ = ["main"]

_USAGE_ERROR: Any = typer.BadParameter.__mro__[1]
"""The base of every usage error of the parser, which typer has inside itself since 0.26 and does not name."""

app = typer.Typer(
    help="Deterministic, offline tests for applications built on language models.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command()(run)
app.command("list")(list_cases)
app.command()(merge)
app.command()(schema)


def _version(asked: bool) -> None:
    if asked:
        console.write(sys.stdout, f"invcheck {__version__}\n")
        raise typer.Exit


@app.callback()
def _invcheck(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version.")] = False,
) -> None:
    pass


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit status; nothing but a broken claim is 1, and nobody sees a traceback.

    ``argv`` are the words after the program's name, those of this process where it is None.
    """
    console.use_utf8()
    words = list(sys.argv[1:] if argv is None else argv)
    return exits.settled(lambda: _dispatch(words), debug=bool(os.environ.get("INVCHECK_DEBUG")))


def _dispatch(words: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        job = command.main(args=words or ["--help"], prog_name="invcheck", standalone_mode=False)
    except _USAGE_ERROR as error:
        where = getattr(error.ctx, "command_path", "invcheck")
        console.say(f"error: {error.format_message()}\n  hint: `{where} --help` shows what can be said")
        return exits.USAGE
    except SystemExit:  # the parser's own answer to a reader that went away while it printed help
        return exits.KEPT
    # commands give back what is to be done, so that the parser's handling of errors ends before ours begins
    if callable(job):
        return int(job())
    # no command at all, as an empty variable in a script gives, is no success
    return exits.KEPT if words else exits.USAGE
