"""The command line: thin commands, one file each; heavy imports wait until a command needs them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from invcheck.cli import console, exits, signals

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit status; nothing but a broken claim is 1, and nobody sees a traceback.

    ``argv`` are the words after the program's name, those of this process where it is None.
    """
    console.open_all()
    console.use_utf8()
    words = [*(sys.argv[1:] if argv is None else argv)]
    with signals.interrupting(final=True):
        return exits.settled(lambda: _dispatch(words), debug=bool(os.environ.get("INVCHECK_DEBUG")))


def _dispatch(words: list[str]) -> int:
    from invcheck.cli import parser  # noqa: PLC0415  # most of what a start takes, in which somebody may press Ctrl-C

    return parser.dispatch(words)
