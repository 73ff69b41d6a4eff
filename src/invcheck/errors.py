"""Every error that invcheck raises, in one tree.

    InvcheckError                    code, hint, place; exit status of its kind
    ├── UsageError          exit 2   what the user wrote cannot be used
    │   ├── ConfigError              a settings file or an option
    │   ├── CheckFileError           a check file: unknown key, no case, no assertion, wrong type ...
    │   └── PathError                a JSONPath outside the guaranteed subset
    ├── DoubleError         exit 2   a double was built or fed wrongly
    │   ├── ScriptInvalid            a step that no script can hold; the queue stays as it was
    │   │   └── FixtureInvalid       a line of a fixture file that is no recording; ``place`` says where
    │   ├── PortMismatch             a double's port and the user's Protocol disagree
    │   └── NotInTest                a double outside of a test
    ├── ScriptedModelError  exit 1   raised into the app by a double, and latched: SCRIPT_EXHAUSTED ...
    ├── CallCancelled       exit 1   raised into the app, which had aborted the call's signal
    ├── NotJson             exit 1   a value or a text that is no plain, strict JSON
    ├── Unevaluated         exit 3   something could not be judged
    ├── Refused             exit 4   no opt-in, no budget, no kernel gate
    └── NothingSelected     exit 5   a selection that holds no case

    NetworkBlocked                   a BaseException: an attempt to leave the sandbox

None of them is a TimeoutError, ConnectionError or OSError, which retry code catches.
"""

from __future__ import annotations

from typing import Any, ClassVar

from invcheck.vocabulary import Place


class InvcheckError(Exception):
    """The root: a message, a stable ``code``, and where known a ``place`` and a ``hint``."""

    exit: ClassVar[int] = 3
    default_code: ClassVar[str] = "INTERNAL"

    def __init__(
        self, message: str, *, code: str | None = None, place: Place | None = None, hint: str | None = None, **fields: Any
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.place = place
        self.hint = hint
        self.fields = fields

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.message, self.code, self.place, self.hint, self.fields))

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{where}{self.message}{hint}"


def _rebuild(
    kind: type[InvcheckError], message: str, code: str, place: Place | None, hint: str | None, fields: dict[str, Any]
) -> InvcheckError:
    return kind(message, code=code, place=place, hint=hint, **fields)


class UsageError(InvcheckError):
    """What the user wrote cannot be used."""

    exit = 2
    default_code = "USAGE"


class ConfigError(UsageError):
    """A settings file or an option is wrong."""

    default_code = "CONFIG"


class CheckFileError(UsageError):
    """A check file is wrong; ``place`` names line and column."""

    default_code = "CHECK_FILE"


class PathError(UsageError):
    """A JSONPath lies outside the guaranteed subset; ``fields["column"]`` counts from 1 in the path's own text."""

    default_code = "PATH_UNSUPPORTED"


class DoubleError(InvcheckError):
    """A double was built or fed wrongly."""

    exit = 2
    default_code = "DOUBLE"


class ScriptInvalid(DoubleError):
    """A step that no script can hold; ``fields["index"]`` says which, and the queue stays as it was."""

    default_code = "SCRIPT_INVALID"


class FixtureInvalid(ScriptInvalid):
    """A line of a fixture file that is no recording; ``place`` says where, and what was queued stays as it was."""

    default_code = "FIXTURE_INVALID"


class PortMismatch(DoubleError):
    """A port and the user's Protocol disagree; the message shows both signatures."""

    default_code = "PORT_MISMATCH"


class NotInTest(DoubleError):
    """A double was built where it could answer users: outside of a trial, ``invcheck.testing()`` or a test session."""

    default_code = "NOT_IN_TEST"


class ScriptedModelError(InvcheckError):
    """What a double raises into the app when it cannot answer; it is also latched, so no ``except`` can hide it."""

    exit = 1
    default_code = "SCRIPT_EXHAUSTED"


class CallCancelled(InvcheckError):
    """What a double raises where the signal of its call is aborted; no finding, since the app asked for it."""

    exit = 1
    default_code = "CANCELLED"


class NotJson(InvcheckError):
    """A value or a text that is no plain, strict JSON; ``fields["path"]`` or ``fields["line"]`` says where."""

    exit = 1
    default_code = "NOT_JSON"


class Unevaluated(InvcheckError):
    """Something could not be judged."""

    exit = 3
    default_code = "UNEVALUATED"


class Refused(InvcheckError):
    """invcheck refuses: no opt-in, no budget, or no kernel gate where one is required."""

    exit = 4
    default_code = "REFUSED"


class NothingSelected(InvcheckError):
    """The selection holds no case."""

    exit = 5
    default_code = "NOTHING_SELECTED"


class NetworkBlocked(BaseException):
    """An attempt to leave the sandbox; a BaseException, since SDKs retry RuntimeError and apps swallow Exception.

    The verdict never depends on it: the breach is noted before it is raised.
    """

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild_blocked, (self.message, self.fields))


def _rebuild_blocked(message: str, fields: dict[str, Any]) -> NetworkBlocked:
    return NetworkBlocked(message, **fields)
