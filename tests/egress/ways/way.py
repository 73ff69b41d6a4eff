"""What a way is: a name, a function that takes it, and what is to come of it."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

PATIENCE = 2.0  # seconds for an answer that nobody else waits for


Targets = Any
"""A mapping: `host`, `host6`, `port`, `name`, `path` and more; see the harness's judges."""


class Missing(Exception):
    """This machine has not what the way needs; the text says what."""


Taking = Callable[[Targets], object]


@dataclass(frozen=True)
class Way:
    """One way: ``works`` says that the sandbox must let it pass, ``hidden`` that no hook of Python sees it.

    ``local`` says that it leads to a Unix socket, which no network namespace and no static filter holds, ``quiet`` that it is
    refused without a word: no address stands in the call, or nobody but the C library makes it.
    """

    name: str
    take: Callable[[Targets], object]
    works: bool
    hidden: bool
    local: bool
    quiet: bool


WAYS: dict[str, Way] = {}


def way(name: str, *, works: bool = False, hidden: bool = False, local: bool = False, quiet: bool = False) -> Callable[[Taking], Taking]:
    """Put a function among the ways."""

    def put(take: Taking) -> Taking:
        WAYS[name] = Way(name, take, works, hidden, local, quiet)
        return take

    return put


def module(name: str) -> Any:
    """A library that a way is about; Missing where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Missing(f"{name} is not installed") from None


def program(name: str) -> str:
    """A program that a way is about; Missing where there is none."""
    found = shutil.which(name)
    if found is None:
        raise Missing(f"there is no program {name}")
    return found


def dialling(to: Targets) -> str:
    """The text of a Python program that connects."""
    return f"import socket; socket.create_connection(({to['host']!r}, {to['port']}), timeout={PATIENCE})"
