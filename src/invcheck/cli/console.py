"""The three streams: UTF-8 whatever the locale, quiet when the reader is gone, no colour where none is wanted."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Mapping
from typing import TextIO

from invcheck.errors import Unevaluated


def open_all() -> None:
    """Give a standard descriptor that is closed a place of its own, so that no file or pipe of ours is taken for it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest that is free


def use_utf8() -> None:
    """Have both output streams write UTF-8 and spell what has no such form, under any locale."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def data(text: str) -> None:
    """Write what was asked for to stdout; Unevaluated, code OUTPUT_FAILED, where it cannot be written.

    A reader that has gone away (``invcheck run | head``) changes no verdict and makes no noise.
    """
    if sys.stdout is None:
        raise failed("stdout", "it is closed")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
    except OSError as error:
        raise undelivered(error) from error


def undelivered(error: OSError) -> Unevaluated:
    """Give the error of a stdout that takes no more, and have it bother nobody at the end of the process."""
    _silence(sys.stdout)
    return failed("stdout", str(error.strerror))


def failed(what: str, reason: str) -> Unevaluated:
    """Give the error of a report that nobody can read: whatever the verdict is, it was not delivered."""
    hint = "-q with -o FILE asks for no table" if what == "stdout" else None
    return Unevaluated(f"{what} cannot be written: {reason}", code="OUTPUT_FAILED", hint=hint)


def write(stream: TextIO | None, text: str) -> None:
    """Write and flush what a person may read; where that fails nobody could be told."""
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        _silence(stream)


def _silence(stream: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError):  # a stream without a descriptor has nothing left to flush either
        gone = stream.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, gone)
        os.close(nowhere)


def say(text: str) -> None:
    """Tell a person something, on stderr: data has stdout for itself."""
    write(sys.stderr, text + "\n")


def colour(stream: TextIO | None, environ: Mapping[str, str]) -> bool:
    """Say whether to write ANSI colours: NO_COLOR forbids, FORCE_COLOR (but 0) demands, else a terminal decides.

    Each counts where it is set and not empty; a terminal of TERM=dumb has none.
    """
    if environ.get("NO_COLOR"):
        return False
    forced = environ.get("FORCE_COLOR", "")
    if forced:
        return forced != "0"
    return stream is not None and stream.isatty() and environ.get("TERM") != "dumb"
