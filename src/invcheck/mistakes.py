"""Mistakes of the test itself, and errors of a double: they are findings, which no ``except`` in the app may hide."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from opcode import opname
from typing import Any, TypeVar

from invcheck import record
from invcheck.errors import InvcheckError
from invcheck.escaped import raised_here, tail
from invcheck.show import one_line
from invcheck.vocabulary import Finding, Verdict

T = TypeVar("T")

_LIBRARIES = tuple({"<frozen", f"{sys.prefix}/", f"{sys.base_prefix}/"})
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def own(what: str, function: Callable[..., T], given: object = None) -> Callable[..., T]:
    """Give a function of the test's own so that an error of it is a finding, which no ``except`` in the app may hide.

    ``given`` is what the test wrote, where ``function`` was made of it. Errors of the double's own are latched by the
    double itself.
    """

    def asked(*args: Any) -> T:
        try:
            return function(*args)
        except Exception as error:
            mistaken(what, function if given is None else given, error)
            raise

    return asked


def mistaken(what: str, function: object, error: Exception) -> None:
    """Latch an error of a test's own function."""
    held = record.current()
    if held is not None and not isinstance(error, InvcheckError):
        name = getattr(function, "__name__", type(function).__name__)
        message = f"the test's own {what}={name} raised {type(error).__name__}"
        hint = "it makes what the app is given, so the app was not judged"
        held.latch(Finding("DOUBLE_RAISED", Verdict.ERRORED, message, got=said(error), hint=hint))


def said(error: BaseException) -> str | None:
    """Give an error with its text, where that is the test's or ours: a library's wording differs between its versions."""
    code = tail(error).tb_frame.f_code if error.__traceback__ is not None else None
    if code is None or (code.co_filename.startswith(_LIBRARIES) and not raised_here(error)):
        return None
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # an exception may not even be able to say what it is
        return None
    return one_line(f"{type(error).__name__}: {_ADDRESS.sub('', text)}") if text else None


def finding(error: InvcheckError, verdict: Verdict) -> Finding:
    """Give the finding that an error of a double is."""
    return Finding(
        error.code,
        verdict,
        error.message,
        path=error.fields.get("at"),
        expected=error.fields.get("expected"),
        got=error.fields.get("got"),
        call=error.fields.get("call"),
        hint=error.hint,
    )


_THROWN = (RuntimeError,)
"""What people throw into a generator where a lambda leaves no room for a statement."""

_RAISING = ("invcheck.sources.steps", "invcheck.sources.outcomes")
"""Where what the test wrote is raised: a step that is an exception, and an exception that a fake gives."""


def unmeant(error: BaseException) -> bool:
    """Say whether nothing of the test raised an error: a missing attribute or file, a library's refusal, a broken assert.

    Meant is what a ``raise`` of the test's own code raises, also an SDK's error, and a step that is an exception.
    """
    if error.__traceback__ is None:
        return False
    trace = tail(error)
    frame = trace.tb_frame
    raised = opname[frame.f_code.co_code[trace.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")
    if not raised:
        return not isinstance(error, _THROWN) or isinstance(error, RecursionError) or isinstance(error.__cause__, StopIteration)
    module = str(frame.f_globals.get("__name__"))
    if module in _RAISING:
        return False
    return isinstance(error, AssertionError) or module.startswith("invcheck.") or frame.f_code.co_filename.startswith(_LIBRARIES)


def stumbled(n: int, error: BaseException) -> Finding:
    """Give the finding of what answers the ``n``-th call (from 0) and failed by mistake."""
    return Finding(
        "DOUBLE_RAISED",
        Verdict.ERRORED,
        f"what answers call {n + 1} raised {type(error).__name__}, and by no raise statement",
        got=said(error),
        call=f"call {n + 1}",
        hint="mend the fake; an error that it means to raise it raises itself, or gives as a Fault",
    )
