"""The programs that an app starts: who started them, so that what they reach for can be told as the app's own doing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from invcheck.sandbox import ambient

_MOST = 64
_LONGEST = 160  # characters of a command line in a result
_CUT = "…"
_INTERPRETER = re.compile(r"^python[\d.]*(?= |$)")

FORK_EXEC = "_posixsubprocess.fork_exec"
"""An event of our own."""

EVENTS: dict[str, Callable[..., Sequence[Any]]] = {
    "subprocess.Popen": lambda _program, arguments, *_: arguments,
    "os.system": lambda command: ("sh", "-c", command),
    "os.posix_spawn": lambda _path, arguments, *_: arguments,
    "os.exec": lambda _path, arguments, *_: arguments,
    "os.spawn": lambda _mode, _path, arguments, *_: arguments,
    "os.startfile": lambda path, *_: (path,),
    FORK_EXEC: lambda arguments, *_: arguments,
}
"""The audit events of starting a program, and how each tells the program's arguments."""


@dataclass(frozen=True, slots=True)
class Started:
    """A program that the app has started: its command line in words, and the call site with its line, if it is the project's."""

    text: str
    where: str | None
    line: int | None


_started: list[Started] = []


def spoken(arguments: Sequence[Any]) -> str:
    """Give a command line in words: the program without folder and version, no sign that a terminal acts on.

    >>> spoken(["/usr/bin/python3.11", "-c", b"print()\\n"]), spoken("/bin/true")
    ('python -c print() ', 'true')
    """
    words = [arguments] if isinstance(arguments, str | bytes | os.PathLike) else list(arguments)
    program, *others = [os.fsdecode(word) for word in words] or [""]
    return plain(" ".join((program.rpartition("/")[2], *others)))


def plain(command: str) -> str:
    """Give a command line that names no version of Python and no number that multiprocessing has given.

    >>> plain("python3.12 -c from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=7)")
    'python -c from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=N)'
    """
    text = "".join(sign if sign.isprintable() else " " for sign in _INTERPRETER.sub("python", command))
    return re.sub(r"\d+", "N", text) if " -c from multiprocessing." in text else text


def started(arguments: Sequence[Any], frame: FrameType | None) -> Started:
    """Remember a program that is being started, and give what is known of it."""
    where, line = ambient.nearest(frame) or (None, None)
    return remember(Started(spoken(arguments), where, line))


def remember(program: Started) -> Started:
    """Remember who started a program, the last ones only."""
    if program in _started:
        _started.remove(program)
    _started.append(program)
    del _started[:-_MOST]
    return program


def any_started() -> bool:
    """Say whether this process, or the one that it is a fork of, has started a program."""
    return bool(_started)


def of(command: str) -> Started | None:
    """Give who started the program of a command line, which may be cut: the last that fits, else the only one there is."""
    stem = command.removesuffix(_CUT)
    cut = stem != command
    latest = _started[::-1]
    program = stem.partition(" ")[0]
    for fits in (
        lambda each: each.text == command or (cut and each.text.startswith(stem)),
        lambda each: stem in each.text,  # a shell
        lambda each: each.text.partition(" ")[0] == program,
    ):
        found = next(filter(fits, latest), None)
        if found is not None:
            return found
    return latest[0] if len({(each.where, each.line) for each in latest}) == 1 else None


def shown(command: str, program: Started | None) -> str:
    """Give a command line for a result: whole where it is known, without the project's folder, cut where it is long."""
    stem = command.removesuffix(_CUT)
    text = program.text if program is not None and program.text.startswith(stem) else command
    text = ambient.inside(text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}{_CUT}"
