"""The words of the command line: which command they name, what it is to do, and what is wrong with them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from invcheck import __version__
from invcheck.cli import console
from invcheck.cli.doctor import doctor
from invcheck.cli.flags import TWINS
from invcheck.cli.list import list_cases
from invcheck.cli.merge import merge
from invcheck.cli.run import run
from invcheck.cli.schema import schema
from invcheck.cli.serve import serve
from invcheck.events import KEPT, USAGE

_USAGE_ERROR: Any = typer.BadParameter.__mro__[1]
"""The base of every usage error of the parser, which typer has inside itself since 0.26 and does not name."""

app = typer.Typer(
    help="Deterministic, offline tests for applications built on language models.",
    add_completion=False,  # it would write outside of the project
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command(epilog=TWINS)(run)
app.command("list", epilog=TWINS)(list_cases)
app.command(epilog=TWINS)(merge)
app.command(epilog=TWINS)(serve)
app.command()(doctor)
app.command()(schema)


def _version(asked: bool) -> None:
    if asked:
        console.data(f"invcheck {__version__}\n")
        raise typer.Exit


@app.callback()
def _invcheck(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version.")] = False,
) -> None:
    pass


def dispatch(words: list[str]) -> int:
    """Find the command, have its words read, and do it; wrong words are told here and are status 2."""
    command = typer.main.get_command(app)
    try:
        job = command.main(args=words or ["--help"], prog_name="invcheck", standalone_mode=False)
    except _USAGE_ERROR as error:
        where = getattr(error.ctx, "command_path", "invcheck")
        console.say(f"error: {error.format_message()}\n  hint: `{where} --help` shows what can be said")
        return USAGE
    except typer.Abort:
        raise KeyboardInterrupt from None
    except OSError as error:  # the help has nowhere to go
        raise console.undelivered(error) from error
    except SystemExit:  # the parser's own answer to a reader that went away while it printed help
        return KEPT
    # commands give back what is to be done, so that the parser's handling of errors ends before ours begins
    if callable(job):
        return int(job())
    # no command at all, as an empty variable in a script gives, is no success
    return KEPT if words else USAGE
