"""A fault as an exception: the default of its kind, or the app's own where `raises` names one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from invcheck import faults
from invcheck.errors import DoubleError
from invcheck.handing import Render
from invcheck.mistakes import own
from invcheck.vocabulary import Fault

_SPELLINGS = {"text": "message", "detail": "message", "msg": "message", "status_code": "status", "code": "status"}


def renderer(raises: Mapping[str, Any] | None) -> Render:
    """Give what makes an exception of a fault: ``raises`` maps a kind to an exception class, or to a function of the fault.

    A class gets what its parameters name (message, status, retry_after, kind), the message first. DoubleError where a kind
    is unknown or a value makes no exception.

    >>> renderer({"rate-limit": OverflowError})(Fault("rate-limit"))
    OverflowError('too many requests')
    """
    if not raises:
        return faults.exception
    made = {kind: own("raises", _maker(kind, value), value) for kind, value in raises.items()}

    def render(fault: Fault) -> BaseException:
        make = made.get(fault.kind)
        return faults.exception(fault) if make is None else make(faults.completed(fault))

    return render


def _maker(kind: str, value: Any) -> Callable[[Fault], BaseException]:
    try:
        faults.known(kind)
    except ValueError as error:
        raise DoubleError(f"raises: {error}") from None
    if isinstance(value, type) and issubclass(value, BaseException):
        return _of_class(value)
    if isinstance(value, type) or not callable(value):
        shown = value.__name__ if isinstance(value, type) else type(value).__name__
        raise DoubleError(f"raises: {kind} needs an exception class or a function of the fault, got {shown}")
    return _of_function(kind, value)


def _of_function(kind: str, function: Callable[[Fault], object]) -> Callable[[Fault], BaseException]:
    def make(fault: Fault) -> BaseException:
        made = function(fault)
        if not isinstance(made, BaseException):
            raise DoubleError(f"raises: the function for {kind} gave {type(made).__name__}, not an exception")
        return made

    return make


def _of_class(kind: type[BaseException]) -> Callable[[Fault], BaseException]:
    try:
        parameters = [p for p in inspect.signature(kind).parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    except (ValueError, TypeError):
        parameters = []
    if not parameters:
        return lambda fault: kind(fault.message)

    def make(fault: Fault) -> BaseException:
        fields = asdict(fault)
        places: list[object] = []
        named: dict[str, object] = {}
        for position, parameter in enumerate(parameters):
            known = _SPELLINGS.get(parameter.name, parameter.name)
            if known in fields:
                value = fields[known]
            elif position == 0:
                value = fault.message
            else:
                continue
            if parameter.kind is parameter.POSITIONAL_ONLY:
                places.append(value)
            else:
                named[parameter.name] = value
        return kind(*places, **named)

    return make
