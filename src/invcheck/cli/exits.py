"""From whatever ends a command to its exit status and the words on stderr."""

from __future__ import annotations

from collections.abc import Callable

from invcheck.cli import console
from invcheck.errors import InvcheckError
from invcheck.events import INTERRUPTED, UNEVALUATED, status_of


def settled(command: Callable[[], int], *, debug: bool = False) -> int:
    """Run a command and give its status; an error of ours is told in its own words, any other is status 3.

    With ``debug`` the traceback is shown as well.
    """
    try:
        return command()
    except KeyboardInterrupt:
        console.say("interrupted")
        return INTERRUPTED
    except InvcheckError as error:
        _trace(debug)
        console.say(spoken(error))
        return status_of(error)
    except BaseException as error:  # noqa: BLE001  # whatever it is, a crash of ours must never read as a verdict
        _trace(debug)
        console.say(f"error: invcheck failed: {type(error).__name__}: {error}")
        if not debug:
            console.say("  hint: INVCHECK_DEBUG=1 shows the traceback; this is a fault of invcheck, please report it")
        return UNEVALUATED


def spoken(error: InvcheckError) -> str:
    """Give an error as it is told on stderr: place, message, then the hint."""
    where = f"{error.place}: " if error.place else ""
    hint = f"\n  hint: {error.hint}" if error.hint else ""
    return f"error: {where}{error.message}{hint}"


def _trace(debug: bool) -> None:
    if debug:
        import traceback  # noqa: PLC0415  # only for the curious

        console.say(traceback.format_exc().rstrip())
