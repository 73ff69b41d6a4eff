"""Words for whoever wants to get out: a library that dials by itself, or a program by its command line."""

from __future__ import annotations

import os
from pathlib import PurePath

_LONGEST = 80  # characters of a command line
_LIBRARIES = {
    b"/pycurl": "pycurl",
    b"/uvloop/": "uvloop",
    b"cygrpc": "grpcio",
    b"/psycopg": "psycopg",
    b"libpq": "psycopg",
    b"/zmq/": "pyzmq",
    b"/pymongo/": "pymongo",
}
"""Libraries that dial by themselves, by what their files are called."""

_THREADS = {"event_engine": "grpcio", "ZMQbg": "pyzmq"}
"""Those whose own threads dial, by what these are called."""


def library(thread: str, mapped: bytes) -> str | None:
    """Give the library that dials, by the name of its thread or as the only such one of what a process has ``mapped``.

    >>> library("MainThread", b"/lib/libpq.so.5"), library("MainThread", b"/lib/libpq.so.5 /lib/pycurl.so")
    ('psycopg', None)
    """
    for name, own in _THREADS.items():
        if thread.startswith(name):
            return own
    loaded = {name for part, name in _LIBRARIES.items() if part in mapped}
    return loaded.pop() if len(loaded) == 1 else None


def program(line: bytes, thread: str) -> str:
    """Give the program of a command line without its folder; what has none is called as its ``thread`` is."""
    return PurePath(os.fsdecode(line.split(b"\0")[0])).name or thread


def spoken(line: bytes) -> str:
    """Give a command line in words: the program without its folder, no sign that a terminal acts on.

    >>> spoken(b"/usr/bin/curl\\0-sS\\0http://x\\0")
    'curl -sS http://x'
    """
    first, *arguments = os.fsdecode(line).rstrip("\0").split("\0")
    words = " ".join((PurePath(first).name, *arguments))
    plain = "".join(sign if sign.isprintable() else " " for sign in words)
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"
