"""What a Protocol declares: its members, each with every signature, its defaults, its async flag and its resolved hints."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, ClassVar, Final, Generic, ParamSpec, Protocol, TypeVar, get_args, get_origin, get_overloads, get_type_hints

EMPTY = inspect.Parameter.empty

_OURS = frozenset({"_is_protocol", "_is_runtime_protocol", "_abc_impl"})
_MAKING = frozenset({"__init__", "__new__", "__init_subclass__", "__class_getitem__", "__subclasshook__"})
_SELVES = frozenset({"Self", "typing.Self", "typing_extensions.Self"})


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A hint that only a type checker can see: it is compared as text."""

    text: str


@dataclass(frozen=True, slots=True)
class Form:
    """One signature of a method, without ``self``: kinds and defaults, resolved hints, and how it is run.

    ``flag`` is "plain", "async", "generator" or "async generator", by the Protocol's own body.
    """

    name: str
    signature: inspect.Signature
    hints: dict[str, Any]
    flag: str

    @property
    def returns(self) -> Any:
        """The resolved return hint."""
        return self.hints.get("return", EMPTY)

    def __str__(self) -> str:
        return f"{'async ' if self.flag.startswith('async') else ''}def {self.name}{shown(self.signature)}"


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a Protocol: a method (plain, static or class) with its forms, or an attribute with its hint."""

    name: str
    kind: str
    forms: tuple[Form, ...] = ()
    hint: Any = EMPTY
    default: Any = EMPTY


@dataclass(frozen=True, slots=True)
class Shape:
    """All members of a Protocol, and what in it cannot be compared."""

    name: str
    members: tuple[Member, ...]
    not_compared: tuple[str, ...] = field(default=())


def shown(signature: inspect.Signature) -> str:
    """Give a signature as text; hints as they were written, texts without their quotes."""
    parameters = [
        p.replace(
            annotation=_Raw(p.annotation) if isinstance(p.annotation, str) else p.annotation,
            default=_Raw("...") if p.default is ... else p.default,
        )
        for p in signature.parameters.values()
    ]
    back = signature.return_annotation
    return str(signature.replace(parameters=parameters, return_annotation=_Raw(back) if isinstance(back, str) else back))


class _Raw:
    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


@lru_cache(maxsize=256)
def shape(protocol: Any) -> Shape:
    """Read a Protocol, or one given its type arguments (``Chat[Answer]``); TypeError where it is no class.

    >>> class Chat(Protocol):
    ...     async def complete(self, prompt: str, *, limit: int = 8) -> str: ...
    >>> [str(member.forms[0]) for member in shape(Chat).members]
    ['async def complete(prompt: str, *, limit: int = 8) -> str']
    """
    origin = get_origin(protocol) or protocol
    if not isinstance(origin, type):
        raise TypeError(f"a Protocol is a class, got {type(origin).__name__}")
    found: dict[str, Member] = {}
    for cls in reversed(origin.__mro__):
        if cls not in (object, Protocol, Generic):
            bound = _arguments(protocol, cls)
            for member in _declared(cls, bound):
                found[member.name] = member
    members = tuple(found.values())
    return Shape(origin.__name__, members, tuple(_not_compared(members)))


def _arguments(protocol: Any, cls: type) -> dict[Any, Any]:
    """What the type variables of ``cls`` stand for, seen from ``protocol``."""
    origin = get_origin(protocol) or protocol
    given = dict(zip(getattr(origin, "__parameters__", ()), get_args(protocol), strict=False))
    if origin is cls:
        return given
    for written in getattr(origin, "__orig_bases__", ()):
        kind = get_origin(written) or written
        if cls in getattr(kind, "__mro__", ()):
            return _arguments(substituted(written, given), cls)
    return next((_arguments(kind, cls) for kind in origin.__bases__ if cls in kind.__mro__), {})


def substituted(hint: Any, given: dict[Any, Any]) -> Any:
    """Give the hint with its type variables replaced by what they stand for."""
    if isinstance(hint, TypeVar):
        return given.get(hint, hint)
    parameters = getattr(hint, "__parameters__", ())
    if isinstance(hint, type) or not parameters or not any(p in given for p in parameters):
        return hint
    return hint[tuple(given.get(p, p) for p in parameters)]


def _declared(cls: type, bound: dict[Any, Any]) -> list[Member]:
    space = vars(cls)
    names = dict.fromkeys([*space.get("__annotations__", {}), *space])
    return [member for name in names if (member := _member(cls, name, space, bound)) is not None]


def _member(cls: type, name: str, space: Any, bound: dict[Any, Any]) -> Member | None:
    value = space.get(name, EMPTY)
    dunder = name.startswith("__") and name.endswith("__")
    function = value.__func__ if isinstance(value, staticmethod | classmethod) else value
    if name in _OURS or name in _MAKING:
        return None
    if isinstance(value, property):
        hint = _hint(value.fget, "return", cls, bound)
        return Member(name, "attribute", hint=hint)
    if inspect.isfunction(function):
        kind = "static" if isinstance(value, staticmethod) else "class" if isinstance(value, classmethod) else "method"
        written = overloads(cls, name) or [function]
        return Member(name, kind, tuple(form(each, cls, bound, drop=kind != "static") for each in written))
    if dunder or (name not in space.get("__annotations__", {})):
        return None
    hint = _hint(cls, name, cls, bound)
    if get_origin(hint) is Callable and value is EMPTY:
        return Member(name, "method", (_of_callable(name, hint),))
    return Member(name, "attribute", hint=hint, default=value)


def _of_callable(name: str, hint: Any) -> Form:
    """The form of an attribute that is declared as a Callable; one text is called its prompt."""
    given, back = get_args(hint)
    kind = inspect.Parameter
    if isinstance(given, list):
        names = ["prompt"] if given == [str] else [f"arg{n}" for n in range(1, len(given) + 1)]
        parameters = [kind(each, kind.POSITIONAL_ONLY, annotation=type_) for each, type_ in zip(names, given, strict=True)]
    else:
        parameters = [kind("args", kind.VAR_POSITIONAL), kind("kwargs", kind.VAR_KEYWORD)]
    hints = {p.name: p.annotation for p in parameters}
    return Form(name, inspect.Signature(parameters, return_annotation=back), {**hints, "return": back}, "plain")


def overloads(cls: type, name: str) -> list[Callable[..., Any]]:
    """Give the overloads of one method, in order; a Protocol keeps none of them, so they are asked for by name."""
    return list(get_overloads(SimpleNamespace(__module__=cls.__module__, __qualname__=f"{cls.__qualname__}.{name}")))  # type: ignore[arg-type]  # only these two are read


def form(function: Callable[..., Any], owner: type | None = None, bound: dict[Any, Any] | None = None, *, drop: bool = False) -> Form:
    """Read one function; ``drop`` leaves out its first parameter, ``self``, unless that gathers all positional ones."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    named = bool(parameters) and parameters[0].kind is not inspect.Parameter.VAR_POSITIONAL
    signature = signature.replace(parameters=parameters[1:] if drop and named else parameters)
    names = [*signature.parameters, "return"]
    hints = {name: _hint(function, name, owner, bound or {}) for name in names}
    return Form(getattr(function, "__name__", "call"), signature, hints, flag(function))


def flag(function: Any) -> str:
    """Say how a function runs; wrappers that name what they wrap are looked through."""
    for one in (function, inspect.unwrap(function)):
        if inspect.isasyncgenfunction(one):
            return "async generator"
        if inspect.iscoroutinefunction(one):
            return "async"
        if inspect.isgeneratorfunction(one):
            return "generator"
    return "plain"


def _hint(holder: Any, name: str, owner: type | None, bound: dict[Any, Any]) -> Any:
    """One hint, resolved apart from the others, so that one name that only a type checker sees spoils nothing else."""
    written = getattr(holder, "__annotations__", {}).get(name, EMPTY)
    if written is EMPTY:
        return EMPTY
    globals_ = getattr(inspect.unwrap(holder), "__globals__", None) or vars(
        sys.modules.get(getattr(holder, "__module__", ""), SimpleNamespace())
    )
    local = {owner.__name__: owner, **vars(owner)} if owner is not None else {}
    try:
        # in a class, where ClassVar and Final may stand
        hint = get_type_hints(type("Holder", (), {"__annotations__": {name: written}}), globals_, local, include_extras=True)[name]
    except Exception:  # noqa: BLE001  # whatever a hint raises, it is compared as text and reported so
        return Unresolved(written if isinstance(written, str) else repr(written))
    if get_origin(hint) in (ClassVar, Final):
        hint = next(iter(get_args(hint)), EMPTY)
    return substituted(hint, bound)


def open_parts(hint: Any) -> list[str]:
    """Name what in a hint cannot be compared: unbound type variables, ParamSpec, Self, and text.

    >>> open_parts(list[TypeVar("T")])
    ['the unbound TypeVar T']
    """
    if isinstance(hint, Unresolved):
        return [f"the hint {hint.text}, which is compared as text"]
    if isinstance(hint, TypeVar):
        return [f"the unbound TypeVar {hint.__name__}"]
    if isinstance(hint, ParamSpec):
        return [f"the ParamSpec {hint.__name__}"]
    if str(hint) in _SELVES:
        return ["Self"]
    parts = hint if isinstance(hint, list) else get_args(hint)
    return list(dict.fromkeys(part for inner in parts for part in open_parts(inner)))


def is_self(hint: Any) -> bool:
    """Whether a hint is ``Self``."""
    return str(hint) in _SELVES


def _not_compared(members: tuple[Member, ...]) -> list[str]:
    told = []
    for member in members:
        for one in member.forms:
            for name, hint in one.hints.items():
                where = f"{member.name}() returns" if name == "return" else f"{member.name}({name})"
                told += [f"{where}: {part}" for part in open_parts(hint)]
        told += [f"{member.name}: {part}" for part in open_parts(member.hint)]
    return list(dict.fromkeys(told))
