"""The three streams: UTF-8 whatever the locale, quiet when the reader is gone, no colour where none is wanted."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Mapping
from typing import TextIO


def use_utf8() -> None:
    """Have both output streams write UTF-8 and spell what has no such form, under any locale."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def write(stream: TextIO | None, text: str) -> None:
    """Write and flush; a reader that has gone away (``invcheck run | head``) changes no verdict and makes no noise."""
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
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
