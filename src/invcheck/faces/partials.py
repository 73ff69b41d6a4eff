"""A partial double: the app's real object, of which the test answers some methods."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType, SimpleNamespace
from typing import Any, TypeVar

from invcheck import record
from invcheck.double import Double
from invcheck.errors import PortMismatch
from invcheck.faces.call import Plain
from invcheck.faces.compare import check_port
from invcheck.faces.ports import port
from invcheck.faces.signature import Form, is_self, shape
from invcheck.resolve import meant

P = TypeVar("P")
_MISSING = object()


def partial(real: P, /, **methods: object) -> P:
    """Give an object that is ``real`` but for some of its methods, each answered by a double or by a function of the test.

    A double answers through a port of the method's own signature: async, generator and stream as the method is, the reply made
    to what its hint says. A function gets the arguments of the call. A dotted name reaches what the object holds:
    ``partial(client, **{"chat.completions.create": double})``. All else runs really, with the network shut as ever.

    The object is an instance of a subclass of the real one's class and has the same attributes, so ``self.complete(...)`` in a
    method that was kept reaches the double. What is set on it does not reach ``real``, and objects that ``real`` holds go on
    to refer to ``real``. Of a class it gives that subclass, of a module a copy whose own functions call each other in it.

    PortMismatch where there is no such method, where a function's signature has drifted from it (both are shown), or where the
    object cannot be copied, since its state is held by C code. NotInTest outside of a test.

    >>> import invcheck
    >>> class Client:
    ...     name = "real"
    ...     def complete(self, prompt: str) -> str:
    ...         raise OSError("no network")
    ...     def greet(self, who: str) -> str:
    ...         return self.complete(f"greet {who}")
    >>> with invcheck.testing():
    ...     client = partial(Client(), complete=invcheck.ScriptedModel("hello"))
    ...     client.greet("Ada"), client.name, isinstance(client, Client)
    ('hello', 'real', True)
    """
    record.required("partial")
    made: P = _partial(real, methods, type(real).__name__ if not isinstance(real, type | ModuleType) else real.__name__)
    return made


def _partial(real: Any, methods: Mapping[str, object], name: str) -> Any:
    parts: dict[str, Any] = {}
    within: dict[str, dict[str, object]] = {}
    for path, answer in methods.items():
        head, _, rest = path.partition(".")
        if rest:
            within.setdefault(head, {})[rest] = answer
        else:
            parts[head] = _answer(real, head, answer, name)
    for head, inner in within.items():
        if head in parts:
            raise PortMismatch(f"{name}.{head} is answered whole, so nothing in it can be answered apart")
        parts[head] = _Part(head, _partial(_found(real, head, name), inner, f"{name}.{head}"))
    if isinstance(real, ModuleType):
        return _module(real, parts)
    kind = _subclass(real if isinstance(real, type) else type(real), parts)
    return kind if isinstance(real, type) else _copied(real, kind)


class _Part:
    """What stands in place of an attribute: a data descriptor, which goes before what the object itself holds."""

    def __init__(self, name: str, value: Any, *, bound: bool = False) -> None:
        self.name, self.value, self.bound = name, value, bound

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None and self.bound:
            return lambda _self, /, *args, **kwargs: self.value(*args, **kwargs)  # noqa: PLW0108  # it leaves out its first argument
        return self.value

    def __set__(self, instance: object, value: object) -> None:
        raise AttributeError(f"{type(instance).__name__}.{self.name} is answered by the test, and cannot be set")


def _found(real: Any, name: str, spoken: str) -> Any:
    found = getattr(real, name, _MISSING)
    if found is _MISSING:
        raise _no_such(real, name, spoken)
    return found


def _no_such(real: Any, name: str, spoken: str) -> PortMismatch:
    known = [each for each in dir(real) if not each.startswith("_")]
    return PortMismatch(f"{spoken} has no {name}, so nothing can answer it", hint=meant(name, known))


# what answers one method


def _answer(real: Any, name: str, answer: Any, spoken: str) -> _Part:
    held = inspect.getattr_static(real, name, _MISSING)
    written = isinstance(held, FunctionType | staticmethod | classmethod)
    if not written:
        held = _found(real, name, spoken)  # a property, an attribute of the instance, or what __getattr__ makes
    if not callable(held) and not isinstance(held, staticmethod | classmethod):
        raise PortMismatch(f"{spoken}.{name} is {type(held).__name__}, and only a method can be answered")
    kind = real if isinstance(real, type) else type(real)
    bound = written and isinstance(held, FunctionType) and (isinstance(real, type) or name not in getattr(real, "__dict__", {}))
    declared = _declared(kind, name, held, bound=bound)
    if not isinstance(answer, Plain | Double):
        return _Part(name, _function(declared, name, answer, spoken), bound=bound)
    form = _form(declared, name)
    if form.returns is type(None) or is_self(form.returns):
        raise PortMismatch(f"{spoken}.{name} gives nothing that a reply could be: {form}", hint="answer it by a function")
    double, lane = (answer._whom(), answer._lane_name) if isinstance(answer, Plain) else (answer, None)  # noqa: SLF001  # a face of the double; it tells whose
    return _Part(name, getattr(port(double, declared, lane=lane), name), bound=bound)


def _declared(kind: type, name: str, held: Any, *, bound: bool) -> Any:
    """A class that declares this one method as the real one is written, as a Protocol would."""
    home = next((cls for cls in kind.__mro__ if name in vars(cls)), kind)
    written = held if isinstance(held, staticmethod | classmethod) else _stand_in(held, name)
    space = {
        name: written if bound or not isinstance(written, FunctionType) else staticmethod(written),
        "__module__": home.__module__,
        "__qualname__": home.__qualname__,  # overloads are asked for by it
    }
    return type(f"{kind.__name__} (the real one)", (), space)


def _stand_in(held: Any, name: str) -> Any:
    """A function of that name with the signature of another callable, as it is seen from where it is called."""
    function = held if isinstance(held, FunctionType | MethodType) else type(held).__call__
    function = getattr(function, "__func__", function)

    def stand_in(*args: Any, **kwargs: Any) -> Any: ...

    stand_in.__name__ = name
    if isinstance(function, FunctionType):
        stand_in.__wrapped__ = function  # type: ignore[attr-defined]  # how functools tells what is wrapped
        stand_in.__annotations__ = function.__annotations__
    with suppress(ValueError, TypeError):  # a callable of C code shows no signature: it takes anything
        stand_in.__signature__ = inspect.signature(held)  # type: ignore[attr-defined]  # how inspect is told
    return stand_in


def _form(declared: Any, name: str) -> Form:
    return next(member for member in shape(declared).members if member.name == name).forms[0]


def _function(declared: Any, name: str, answer: Any, spoken: str) -> Callable[..., Any]:
    if not callable(answer):
        raise PortMismatch(
            f"{spoken}.{name} is to be answered by {type(answer).__name__}",
            hint='pass a double, such as ScriptedModel("hello"), or a function',
        )
    written = type(spoken, (), {})()
    written.__dict__[name] = answer
    check_port(written, declared)
    function: Callable[..., Any] = answer
    return function


# the object that holds it


class _Quiet:
    """Goes before the real class, whose hook for subclasses must not hear of this one: it may be a registry."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Tell nobody."""


def _subclass(kind: type, parts: Mapping[str, _Part]) -> type:
    space = {"__slots__": (), "__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    try:
        made = type(kind)(kind.__name__, (kind,) if issubclass(kind, _Quiet) else (_Quiet, kind), space)
    except TypeError as error:
        raise PortMismatch(f"{kind.__name__} can have no subclass, so no method of it can be answered: {error}", hint=_PORT) from error
    for name, part in parts.items():
        type.__setattr__(made, name, part)
    if hasattr(kind, "__del__"):
        type.__setattr__(made, "__del__", lambda _self: None)  # what the real object holds is its own to close
    return made


_PORT = "give the app a port of a Protocol instead, as model.port(Protocol)"


def _copied(real: Any, kind: type) -> Any:
    try:
        made: Any = (SimpleNamespace if isinstance(real, SimpleNamespace) else object).__new__(kind)
    except TypeError as error:
        raise PortMismatch(f"{kind.__name__} keeps its state in C code, so no copy of it can be made: {error}", hint=_PORT) from error
    if hasattr(real, "__dict__"):
        vars(made).update(vars(real))
    for cls in kind.__mro__:
        for member in vars(cls).values():
            if isinstance(member, MemberDescriptorType):
                try:
                    member.__set__(made, member.__get__(real))
                except AttributeError:  # a slot that holds nothing
                    continue
    type.__setattr__(kind, "__invcheck_real__", real)  # it lives as long as what shares its attributes
    return made


def _module(real: ModuleType, parts: Mapping[str, _Part]) -> ModuleType:
    made = ModuleType(real.__name__, real.__doc__)
    space = vars(made)
    space.update(vars(real))
    for name, value in vars(real).items():
        if isinstance(value, FunctionType) and value.__globals__ is vars(real):
            space[name] = _moved(value, space)
    space.update({name: part.value for name, part in parts.items()})
    return made


def _moved(function: FunctionType, space: dict[str, Any]) -> FunctionType:
    """The same function, which sees its module's names in ``space``."""
    made: FunctionType = FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__, made.__annotations__ = function.__kwdefaults__, function.__annotations__
    made.__qualname__, made.__doc__ = function.__qualname__, function.__doc__
    made.__dict__.update(function.__dict__)
    return made
