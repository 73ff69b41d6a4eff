"""Mistakes of the test itself, and errors of a double: they are findings, which no ``except`` in the app may hide."""

from __future__ import annotations

from collections.abc import Callable
from opcode import opname
from typing import Any, TypeVar

from invcheck import record
from invcheck.errors import InvcheckError
from invcheck.vocabulary import Finding, Verdict

T = TypeVar("T")


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
        held.latch(Finding("DOUBLE_RAISED", Verdict.ERRORED, message, hint="it makes what the app is given, so the app was not judged"))


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


def unmeant(error: BaseException) -> bool:
    """Say whether no ``raise`` raised an error: an attribute that is missing, say, in a fake that nobody meant to fail."""
    trace = error.__traceback__
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    return opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] not in ("RAISE_VARARGS", "RERAISE")


def stumbled(n: int, error: BaseException) -> Finding:
    """Give the finding of what answers the ``n``-th call (from 0) and failed by mistake."""
    return Finding(
        "DOUBLE_RAISED",
        Verdict.ERRORED,
        f"what answers call {n + 1} raised {type(error).__name__}, and by no raise statement",
        call=f"call {n + 1}",
        hint="mend the fake; an error that it means to raise it raises itself, or gives as a Fault",
    )
