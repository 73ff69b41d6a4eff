"""The kinds of fault, and the exception that each is by default.

Statuses are those of RFC 9110 §15 and RFC 6585 §4; 529 is what providers send when they are overloaded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from invcheck.vocabulary import Fault, Reply


class ModelFault(Exception):
    """A fault as an exception, with its ``kind``, ``status``, ``retry_after`` in seconds and ``message``.

    >>> error = exception(Fault("rate-limit", retry_after=2.0))
    >>> error.status, error.retry_after, str(error)
    (429, 2.0, 'too many requests')
    """

    def __init__(self, message: str, *, kind: str = "server", status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.status = status
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.message, self.kind, self.status, self.retry_after))


class ModelTimeout(ModelFault, TimeoutError):
    """No answer in time."""


class ModelConnectionError(ModelFault, ConnectionError):
    """The connection could not be made, or broke."""


def _rebuild(kind: type[ModelFault], message: str, name: str, status: int | None, retry_after: float | None) -> ModelFault:
    return kind(message, kind=name, status=status, retry_after=retry_after)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fault: its HTTP status where there is a response, its default message and exception."""

    status: int | None
    message: str
    exception: type[ModelFault] = ModelFault


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "bad-request": Kind(400, "bad request"),
        "unauthorized": Kind(401, "unauthorized"),
        "forbidden": Kind(403, "forbidden"),
        "not-found": Kind(404, "not found"),
        "conflict": Kind(409, "conflict"),
        "too-large": Kind(413, "request too large"),
        "unprocessable": Kind(422, "unprocessable request"),
        "rate-limit": Kind(429, "too many requests"),
        "server": Kind(500, "internal server error"),
        "bad-gateway": Kind(502, "bad gateway"),
        "unavailable": Kind(503, "service unavailable"),
        "gateway-timeout": Kind(504, "gateway timeout"),
        "overloaded": Kind(529, "overloaded"),
        "timeout": Kind(None, "the request timed out", ModelTimeout),
        "connection": Kind(None, "the connection failed", ModelConnectionError),
        "cut": Kind(None, "the connection broke in the middle of the reply", ModelConnectionError),
        "truncated": Kind(None, "the reply ended before it was whole"),
        "stream-error": Kind(None, "an error arrived in the middle of the reply"),
        "stall": Kind(None, "nothing more arrived", ModelTimeout),
    }
)
"""Every kind by its name."""

DELIVERY = ("cut", "truncated", "stream-error", "stall")
"""The kinds that break a reply which has begun to arrive."""

_STATUSES = range(200, 600)  # an informational one comes before the answer
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIELD = re.compile(r"([\x21-\x7e]([\x20\x09\x21-\x7e]*[\x21-\x7e])?)?")  # no client takes what RFC 9110 calls obsolete


def known(kind: object) -> None:
    """Raise ValueError, with the nearest kind, where ``kind`` is none."""
    if isinstance(kind, str) and kind in KINDS:
        return
    from invcheck.resolve import did_you_mean  # noqa: PLC0415  # only a mistake needs it

    close = did_you_mean(str(kind), list(KINDS))
    raise ValueError(f"{kind!r} is no kind of fault; {f'did you mean {close!r}?' if close else 'there are ' + ', '.join(KINDS)}")


def completed(fault: Fault) -> Fault:
    """Give the fault with its kind's message and status where it says none; ValueError says what is wrong with it.

    >>> completed(Fault("overloaded"))
    Fault(kind='overloaded', message='overloaded', status=529, retry_after=None)
    """
    known(fault.kind)
    if fault.status is not None and (type(fault.status) is not int or fault.status not in _STATUSES):
        raise ValueError(f"status is an integer from 200 to 599, got {fault.status!r}")
    if not isinstance(fault.message, str):
        raise ValueError(f"message is text, got {type(fault.message).__name__}")  # noqa: TRY004  # one kind of error for one kind of mistake
    after = fault.retry_after
    if after is not None and (isinstance(after, bool) or not isinstance(after, int | float) or not 0 <= after < float("inf")):
        raise ValueError(f"retry_after is a number of seconds from 0, got {after!r}")
    wrong = _wrong(fault)
    if wrong:
        raise ValueError(wrong)
    kind = KINDS[fault.kind]
    status = kind.status if fault.status is None else fault.status
    return replace(fault, message=fault.message or kind.message, status=status)


def headers_wrong(headers: Mapping[str, str]) -> str | None:
    """Say which header no HTTP message can hold, or None (RFC 9110 §5.1, §5.5).

    >>> headers_wrong({"x-request": "a\\nb"})
    "the header x-request cannot hold 'a\\\\nb'"
    """
    for name, value in headers.items():
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            return f"{name!r} is no name of a header"
        if not isinstance(value, str) or not _FIELD.fullmatch(value):
            return f"the header {name} cannot hold {value!r}"
    return None


def _wrong(fault: Fault) -> str | None:
    """Say what is wrong with what a fault sends, or None."""
    if fault.body is not None and not isinstance(fault.body, str):
        return f"body is text, got {type(fault.body).__name__}"
    if fault.headers is not None and (told := headers_wrong(fault.headers)) is not None:
        return told
    if fault.kind in DELIVERY:
        return _breaks(fault)
    if fault.kind == "timeout" and fault.seconds is not None:
        return _seconds(fault.seconds)
    spare = next((name for name in ("reply", "after", "seconds") if getattr(fault, name) is not None), None)
    return None if spare is None else f"{spare} belongs to a fault of delivery ({', '.join(DELIVERY)}), not to {fault.kind}"


def _seconds(seconds: object) -> str | None:
    if seconds is None or (isinstance(seconds, int | float) and type(seconds) is not bool and 0 <= seconds < float("inf")):
        return None
    return f"seconds is a number from 0, got {seconds!r}"


def _breaks(fault: Fault) -> str | None:
    """Say what is wrong with how a fault breaks a reply, or None."""
    after, seconds = fault.after, fault.seconds
    if fault.body is not None:
        return f"{fault.kind} breaks a reply that has begun, so it has no body of its own"
    if (wrong := _seconds(seconds)) is not None:
        return wrong
    if after is not None and after != "character" and (type(after) is not int or after < 0):
        return f'after is a number of bytes from 0, or "character", got {after!r}'
    return None if isinstance(fault.reply, Reply | None) else f"reply is a Reply, got {type(fault.reply).__name__}"


def breaks_nothing(fault: Fault) -> str | None:
    """Say that a fault has no reply to break, where nothing of one has come, or None; a stall alone needs none."""
    if fault.kind not in DELIVERY or fault.kind == "stall" or fault.reply is not None:
        return None
    return f"{fault.kind} breaks a reply that has begun: say which one, reply="


def exception(fault: Fault) -> ModelFault:
    """Give the exception that a fault is by default: timeouts are a TimeoutError, broken connections a ConnectionError."""
    fault = completed(fault)
    return KINDS[fault.kind].exception(fault.message, kind=fault.kind, status=fault.status, retry_after=fault.retry_after)
