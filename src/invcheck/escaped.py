"""What escaped from user code, told without what differs between machines and Python versions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from invcheck.asserts import claimed
from invcheck.errors import InvcheckError
from invcheck.folders import Folders
from invcheck.vocabulary import Finding, Json, Verdict

_RENAMED = {"PatternError": "error"}
"""Exceptions that newer Pythons call otherwise: the older name stands in every result."""


def told(error: BaseException, folders: Folders, check_file: str | None) -> dict[str, Json]:
    """Give ``$.error``: type, module, message and where, the last as ``path:function`` in the project.

    The message is kept only where the project's own code raised, or a double what it was given to raise; ``in_check`` marks
    an error of the check itself.
    """
    frames = _frames(error.__traceback__, folders.roots)
    innermost = frames[-1] if frames else None
    where = next((frame for frame in reversed(frames) if frame), None)
    module, _, name = f"{type(error).__module__}.{type(error).__qualname__}".rpartition(".")
    fields: dict[str, Json] = {
        "type": _RENAMED.get(name, name),
        "module": module,
        "message": _text(error, folders) if innermost or isinstance(error, InvcheckError) or raised_here(error) else None,
        "where": f"{where[0]}:{where[1]}" if where else None,
    }
    if check_file is not None and where is not None and where[0] == check_file:
        fields["in_check"] = {"line": where[2], "assertion": isinstance(error, AssertionError)}
        if isinstance(error, AssertionError):
            spoken = claimed(error.__traceback__, f"{folders.root}/{check_file}")
            fields["in_check"] |= {name: folders.spelt(text) for name, text in spoken.items()}
    return fields


def _text(error: BaseException, folders: Folders) -> str | None:
    try:
        return folders.spelt(str(error))
    except Exception:  # noqa: BLE001  # an exception of the app's may not even be able to say what it is
        return None


def tail(error: BaseException) -> TracebackType:
    """Give where an error that was raised comes from."""
    trace = error.__traceback__
    assert trace is not None  # it was raised
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def said(error: BaseException) -> bool:
    """Whether a ``raise`` raised it, and not the interpreter or C code."""
    from opcode import opname  # noqa: PLC0415  # only for errors that both may raise

    trace = tail(error)
    return opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"


def raised_here(error: BaseException) -> bool:
    """Whether code of ours raised it: with words of ours, or what the test wrote for a double to raise."""
    return error.__traceback__ is not None and _ours(tail(error))


def _ours(trace: TracebackType) -> bool:
    return f"{trace.tb_frame.f_globals.get('__name__')}.".startswith("invcheck.")


def _frames(traceback: TracebackType | None, roots: Sequence[Path]) -> list[tuple[str, str, int] | None]:
    """The call chain, outermost first: (file, function, line) of project frames, None for all others."""
    frames: list[tuple[str, str, int] | None] = []
    homes = [f"{root}/" for root in roots]
    while traceback is not None:
        code = traceback.tb_frame.f_code
        home = next((home for home in homes if code.co_filename.startswith(home)), "")
        inside = bool(home) and "site-packages" not in code.co_filename and "/.venv/" not in code.co_filename
        if not _ours(traceback):  # what a double raises is raised, for the app, where it asked
            frames.append((code.co_filename[len(home) :], code.co_name, traceback.tb_lineno) if inside else None)
        traceback = traceback.tb_next
    return frames


def in_threads(heard: list[BaseException], folders: Folders) -> Finding:
    """Give the finding of what ended the app's threads, in an order of its own, since theirs is chance."""
    ended = [told(error, folders, None) for error in heard]
    first, *more = sorted(f"{each['type']}: {each['message'] or '(no message)'} in {each['where']}" for each in ended)
    message = f"a thread of the app ended with {first}{f', and {len(more)} more' if more else ''}"
    return Finding("THREAD_RAISED", Verdict.BROKEN, message, expected="no error", got=first, hint="catch it in the thread, or hand it over")
