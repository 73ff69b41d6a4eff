"""How an app's parameters are filled from a case's input and from what invcheck gives by name.

A mapping fills the parameters of the same names; a parameter ``input`` gets the input whole; any other input goes to
the first parameter. The names in `GIVEN` belong to invcheck: no input may fill them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

from invcheck.errors import CheckFileError
from invcheck.vocabulary import Json

GIVEN = frozenset({"model", "ledger", "sleep", "rng", "clock"})
"""What invcheck gives to parameters that are named so."""


@dataclass(frozen=True, slots=True)
class _Shape:
    name: str
    names: tuple[str, ...]  # every parameter that can be filled by its name, in order
    empty: frozenset[str]  # those of them without a default
    others: bool  # whether any further name is taken (**kwargs)
    positional_only: tuple[str, ...]

    @property
    def first(self) -> str | None:
        return next((name for name in self.names if name not in GIVEN), None)


def wanted(function: Callable[..., object]) -> Mapping[str, Any]:
    """Give the parameters of ``function`` that invcheck fills by name, each with its annotation.

    An annotation that is written as text is resolved; where that fails it stays text. None stands for no annotation.

    >>> def answer(question: str, rng, *, model: int): ...
    >>> dict(wanted(answer))
    {'rng': None, 'model': <class 'int'>}
    """
    found: Mapping[str, Any] = _cached(_wanted, function)
    return found


def fits(function: Callable[..., object], value: Json, names: AbstractSet[str] = GIVEN, *, open_ended: bool = False) -> None:
    """Check that an input and the ``names`` that will be given fill the parameters of ``function``, without calling it.

    ``open_ended`` leaves it to a setup to fill what is still empty. Raises CheckFileError INPUT_MISMATCH.

    >>> def answer(question, model): ...
    >>> fits(answer, {"question": "Why?"})
    >>> fits(answer, {"qestion": "Why?"})
    Traceback (most recent call last):
    invcheck.errors.CheckFileError: the input has a key 'qestion', and answer(question, model) no such parameter
      hint: did you mean 'question'?
    """
    shape = _shaped(function)
    filled = {*_placed(shape, value), *names}
    empty = [name for name in shape.names if name in shape.empty and name not in filled]
    if empty and not open_ended:
        raise _left_empty(shape, empty[0], value)


def takes_model(function: Callable[..., object]) -> None:
    """Refuse a function that a double cannot reach, since no parameter is named ``model``: CheckFileError INPUT_MISMATCH.

    >>> takes_model(lambda question, modle=None: question)
    Traceback (most recent call last):
    invcheck.errors.CheckFileError: no parameter of <lambda>(question, modle) takes the model
      hint: did you mean 'model' in place of 'modle'?
    """
    shape = _shaped(function)
    if "model" in shape.names:
        return
    from invcheck.resolve import did_you_mean  # noqa: PLC0415  # only a mistake pays for it

    near = next((name for name in shape.names if did_you_mean(name, ["model"])), None)
    hint = f"did you mean 'model' in place of {near!r}?" if near else "name a parameter `model`, or let a setup hand over trial.model"
    raise CheckFileError(f"no parameter of {shape.name} takes the model", code="INPUT_MISMATCH", hint=hint)


def arguments(function: Callable[..., object], value: Json, given: Mapping[str, object]) -> dict[str, Any]:
    """Give the keyword arguments with which ``function`` is called for the input ``value``.

    ``given`` holds what invcheck and a setup offer by name: names of `GIVEN` that the function does not take are left out,
    any other must be a parameter, and wins over the input. Raises CheckFileError INPUT_MISMATCH.

    >>> def answer(question, rng=None): ...
    >>> arguments(answer, "Why?", {"rng": 4, "clock": 5})
    {'question': 'Why?', 'rng': 4}
    """
    shape = _shaped(function)
    filled = _placed(shape, value)
    for name, item in given.items():
        if name in shape.names or (shape.others and name not in GIVEN):
            filled[name] = item
        elif name not in GIVEN:
            raise _mismatch(f"the setup gives {name!r}, and {shape.name} has no such parameter", name, shape)
    empty = [name for name in shape.names if name in shape.empty and name not in filled]
    if empty:
        raise _left_empty(shape, empty[0], value)
    return filled


def _placed(shape: _Shape, value: Json) -> dict[str, Any]:
    """Where the input goes, by parameter."""
    if "input" in shape.names:
        return {"input": value}
    if not isinstance(value, Mapping):
        if shape.first is not None:
            return {shape.first: value}
        if value is None:
            return {}
        raise _mismatch(f"{shape.name} has no parameter for the input", "", shape)
    for key in value:
        if key in GIVEN:
            hint = "invcheck fills this parameter itself: give the input another name, or take it whole as `input`"
            raise _mismatch(f"the input has a key {key!r}, which is the name of what invcheck gives", key, shape, hint)
        if key not in shape.names and not shape.others:
            raise _mismatch(f"the input has a key {key!r}, and {shape.name} no such parameter", key, shape)
    return dict(value)


def _left_empty(shape: _Shape, name: str, value: Json) -> CheckFileError:
    message = f"the parameter {name!r} of {shape.name} is left empty"
    if name == "model":
        return _mismatch(message, name, shape, "give the check a `model`")
    keys = ", ".join(map(repr, value)) if isinstance(value, Mapping) else ""
    hint = f"the input fills {keys}" if keys else "let the input be a mapping that names every parameter"
    return _mismatch(message, name, shape, hint)


def _mismatch(message: str, name: str, shape: _Shape, hint: str | None = None) -> CheckFileError:
    if hint is None and name:
        from invcheck.resolve import did_you_mean  # noqa: PLC0415  # only a mistake pays for it

        near = did_you_mean(name, [known for known in shape.names if known not in GIVEN])
        hint = f"did you mean {near!r}?" if near else "a parameter named `input` takes the input whole"
    return CheckFileError(message, code="INPUT_MISMATCH", hint=hint)


def _shaped(function: Callable[..., object]) -> _Shape:
    shape: _Shape = _cached(_shape, function)
    if shape.positional_only:
        raise CheckFileError(
            f"{shape.name} takes {shape.positional_only[0]!r} by position only",
            code="INPUT_MISMATCH",
            hint="wrap it in a function of your own, whose parameters have names",
        )
    return shape


def _shape(function: Callable[..., object]) -> _Shape:
    name, parameters = _called(function), _parameters(function)
    by_name = [each for each in parameters if each.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)]
    return _Shape(
        name=f"{name}({', '.join(each.name for each in by_name)})",
        names=tuple(each.name for each in by_name),
        empty=frozenset(each.name for each in by_name if each.default is Parameter.empty),
        others=any(each.kind is Parameter.VAR_KEYWORD for each in parameters),
        positional_only=tuple(
            each.name for each in parameters if each.kind is Parameter.POSITIONAL_ONLY and each.default is Parameter.empty
        ),
    )


def _parameters(function: Callable[..., object]) -> list[Parameter]:
    if not callable(function):
        raise CheckFileError(f"{_called(function)} is {type(function).__name__}, not a function", code="INPUT_MISMATCH")
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:
        raise CheckFileError(
            f"{_called(function)} does not tell its parameters", code="INPUT_MISMATCH", hint="wrap it in a function of your own"
        ) from None


def _wanted(function: Callable[..., object]) -> Mapping[str, Any]:
    found = {each.name: each.annotation for each in _parameters(function) if each.name in GIVEN}
    space = getattr(_written(function), "__globals__", {})
    return {name: None if annotation is Parameter.empty else _hint(annotation, space) for name, annotation in found.items()}


def _hint(annotation: object, space: dict[str, Any]) -> object:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, space)  # noqa: S307  # the user's own annotation, in the module that wrote it
    except Exception:  # noqa: BLE001  # a name that only type checkers see; the face says what it needs of it
        return annotation


def _written(function: Any) -> Any:
    """The function that somebody wrote: behind partials, decorators, methods, instances and classes."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isclass(function):
        function = function.__init__
    elif not inspect.isroutine(function):
        function = type(function).__call__
    function = inspect.unwrap(function)
    return getattr(function, "__func__", function)


def _called(function: object) -> str:
    if isinstance(function, functools.partial):
        return _called(function.func)
    return str(getattr(function, "__name__", type(function).__name__))


_memory: dict[tuple[object, int], tuple[object, Any]] = {}


def _cached(make: Callable[[Callable[..., object]], Any], function: Callable[..., object]) -> Any:
    """Keep what was made of the last few functions: a signature costs more than a trial's bookkeeping."""
    key = (make, id(function))
    kept = _memory.get(key)
    if kept is None or kept[0] is not function:
        if len(_memory) >= 64:  # noqa: PLR2004  # far more than the functions of one check
            _memory.clear()
        kept = _memory[key] = (function, make(function))
    return kept[1]
