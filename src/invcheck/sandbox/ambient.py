"""Who asks: call sites inside the project, as ``relative/path.py:function`` without a line."""

from __future__ import annotations

import sys
from collections.abc import Collection
from threading import Thread
from types import CodeType, FrameType, TracebackType

from invcheck import record

OWN = __file__.rpartition("/")[0].rpartition("/")[0] + "/"
"""The package itself, which is no part of the project."""

_FOREIGN = ("/site-packages/", "/dist-packages/")

OUTSIDE = "(outside the project)"
"""Where something stands that no code of the project's asked for, as far as can be seen."""

_root = _other = ""
_outside: tuple[str, ...] = ()
_files: dict[str, str | None] = {}


def install(root: str, *, other: str = "") -> None:
    """Say where the project stands; an interpreter inside of it (a virtual environment) is no part of it.

    ``other`` is where the project stands as well, for who runs in a folder that only holds the same.
    """
    global _root, _other, _outside  # noqa: PLW0603  # one project per process
    _root = root.rstrip("/") + "/"
    _other = other and other.rstrip("/") + "/"
    _outside = (OWN, *(prefix for prefix in (sys.prefix + "/", sys.base_prefix + "/") if prefix.startswith(_root)))
    _files.clear()


def relative(file: str) -> str | None:
    """Give a file's path below the project's root, or None for a file that is not the project's."""
    try:
        return _files[file]
    except KeyError:
        stands = next((root for root in (_root, _other) if root and file.startswith(root)), "")
        inside = bool(stands) and not file.startswith(_outside) and not any(part in file for part in _FOREIGN)
        _files[file] = found = file[len(stands) :] if inside else None
        return found


def own(file: str) -> bool:
    """Say whether a file is a part of invcheck itself."""
    return file.startswith(OWN)


def inside(text: str) -> str:
    """Give a text in which files of the project stand by their paths below its root."""
    return text.replace(_root, "") if _root else text


def site(code: CodeType) -> str | None:
    """Give the call site that a code object is, or None for code that is not the project's."""
    file = relative(code.co_filename)
    return f"{file}:{code.co_name}" if file else None


def nearest(frame: FrameType | None) -> tuple[str, int] | None:
    """Give the innermost project frame at or above ``frame``: its call site and its line."""
    while frame is not None:
        where = site(frame.f_code)
        if where:
            return where, frame.f_lineno
        frame = frame.f_back
    return None


def innermost(trace: TracebackType | None) -> tuple[str, int] | None:
    """Give the innermost project frame of a traceback: its call site and its line.

    >>> innermost(None) is None
    True
    """
    found = None
    while trace is not None:
        where = site(trace.tb_frame.f_code)
        if where:
            found = where, trace.tb_lineno
        trace = trace.tb_next
    return found


def place(frame: FrameType | None, thread: Thread | None) -> str:
    """Say where a thread is: its innermost project call site, else its name, in which numbers say nothing.

    >>> place(None, None)
    'a thread'
    """
    found = nearest(frame)
    if found:
        return found[0]
    return "".join("N" if sign.isdigit() else sign for sign in thread.name) if thread else "a thread"


def read(source: str, frame: FrameType | None, through: Collection[object] = ()) -> None:
    """Note a read of something ambient in the record in hand, when the code that asks is the project's own.

    Frames of the modules in ``through`` stand for their caller. Reads while a module is imported belong to no trial,
    since only the first trial of a worker would see them.
    """
    held = record.current()
    while held is not None and frame is not None:
        if frame.f_globals.get("__name__") not in through:
            where = site(frame.f_code)
            if where and not where.endswith(":<module>"):
                held.read(source, where)
            return
        frame = frame.f_back


def importing(frame: FrameType | None) -> bool:
    """Say whether an import is under way above ``frame``."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False
