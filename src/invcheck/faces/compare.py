"""Whether a hand-written object still satisfies a Protocol: names, kinds, defaults, hints, the async flag, every overload."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from invcheck.errors import PortMismatch
from invcheck.faces.fits import fitter, named
from invcheck.faces.signature import EMPTY, Form, Member, Unresolved, form, open_parts, overloads, shape

_MISSING = object()


def check_port(candidate: Any, protocol: Any) -> tuple[str, ...]:
    """Compare a hand-written object or class with a Protocol; PortMismatch shows both signatures where they differ.

    A candidate may take more than the Protocol asks for, where the rest has defaults. Gives what could not be compared,
    such as hints that only a type checker can resolve and unbound type variables.

    >>> from typing import Protocol
    >>> class Chat(Protocol):
    ...     def complete(self, prompt: str, *, limit: int = 8) -> str: ...
    >>> class Ours:
    ...     def complete(self, prompt: str, *, limit: int = 16) -> str:
    ...         return prompt
    >>> check_port(Ours, Chat)
    Traceback (most recent call last):
    ...
    invcheck.errors.PortMismatch: Ours.complete: limit has the default 16, the Protocol says 8
      Protocol: def complete(prompt: str, *, limit: int = 8) -> str
      got:      def complete(prompt: str, *, limit: int = 16) -> str
    """
    read = shape(protocol)
    name = candidate.__name__ if isinstance(candidate, type) else type(candidate).__name__
    told: list[str] = []
    for member in read.members:
        if member.kind == "attribute":
            _attribute(candidate, name, member)
        else:
            told += _method(candidate, name, member)
    return tuple(dict.fromkeys([*read.not_compared, *told]))


def _attribute(candidate: Any, name: str, member: Member) -> None:
    kind = candidate if isinstance(candidate, type) else type(candidate)
    held = inspect.getattr_static(candidate, member.name, _MISSING)
    if held is _MISSING:
        if any(member.name in vars(cls).get("__annotations__", {}) for cls in kind.__mro__) and isinstance(candidate, type):
            return
        raise PortMismatch(f"{name} has no attribute {member.name}, which the Protocol declares")
    fits = fitter(member.hint)
    # a property or slot of the candidate is its own code, which a comparison does not run
    if fits is not None and not hasattr(held, "__get__") and not fits(held):
        raise PortMismatch(f"{name}.{member.name} is {type(held).__name__}, the Protocol says {named(member.hint)}")


def _method(candidate: Any, name: str, member: Member) -> list[str]:
    held = inspect.getattr_static(candidate, member.name, _MISSING)
    if held is _MISSING:
        raise PortMismatch(f"{name} has no {member.name}\n  Protocol: {member.forms[0]}")
    if member.kind != "method" and inspect.isfunction(held) and isinstance(candidate, type):
        raise PortMismatch(f"{name}.{member.name} is a plain method, the Protocol says it is a {member.kind} method")
    function = held.__func__ if isinstance(held, staticmethod | classmethod) else held
    bound = inspect.isfunction(function) and not isinstance(held, staticmethod) and member.name not in getattr(candidate, "__dict__", {})
    bound = bound or (isinstance(candidate, type) and inspect.isfunction(function) and not isinstance(held, staticmethod))
    if not callable(function):
        raise PortMismatch(f"{name}.{member.name} is {type(held).__name__}, the Protocol says it is a method")
    kind = candidate if isinstance(candidate, type) else type(candidate)
    home = next((cls for cls in kind.__mro__ if member.name in vars(cls)), None)
    written = overloads(home, member.name) if home is not None else []
    forms = [_read(each, member.name, drop=bound) for each in (*written, function)]
    told: list[str] = []
    for wanted in member.forms:
        reasons = [_differences(wanted, got) for got in forms]
        if not any(reason is None for reason, _ in reasons):
            best, got = (reasons[-1][0], forms[-1]) if len(forms) == 1 else (f"no overload fits: {reasons[0][0]}", forms[0])
            raise PortMismatch(f"{name}.{member.name}: {best}\n  Protocol: {wanted}\n  got:      {got}")
        told += next(notes for reason, notes in reasons if reason is None)
    return [f"{member.name}: {each}" for each in told]


def _read(function: Any, name: str, *, drop: bool) -> Form:
    try:
        got = form(function, drop=drop)
    except (ValueError, TypeError):
        got = form(lambda *args, **kwargs: None)  # noqa: ARG005  # a callable of C code shows no signature: it takes anything
    return Form(name, got.signature, got.hints, got.flag)


def _differences(wanted: Form, got: Form) -> tuple[str | None, list[str]]:
    """The first difference, or None and what could not be compared."""
    notes: list[str] = []
    reason = _parameters(wanted, got, notes) or _run(wanted, got, notes)
    return reason or _hints(given(wanted), given(got), "the result", notes, into=False), notes


def _parameters(wanted: Form, got: Form, notes: list[str]) -> str | None:
    """The first difference between what the Protocol gives and what the candidate takes."""
    theirs = got.signature.parameters
    takers = _Takers(
        {**theirs},
        [p for p in theirs.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)],
        next((p for p in theirs.values() if p.kind is p.VAR_POSITIONAL), None),
        next((p for p in theirs.values() if p.kind is p.VAR_KEYWORD), None),
    )
    used: set[str] = set()
    for position, p in enumerate(wanted.signature.parameters.values()):
        found = _counterpart(p, position, takers)
        if isinstance(found, str):
            return found
        used.add(found.name)
        if found.kind in (found.VAR_POSITIONAL, found.VAR_KEYWORD) and found.kind is not p.kind:
            notes.append(f"{p.name} goes into {found.name}")
            continue
        hint = got.hints.get(found.name, EMPTY)
        reason = _default(p, found) or _hints(wanted.hints[p.name], hint, p.name, notes, into=True)
        if reason:
            return reason
    stars = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    extra = [p.name for p in theirs.values() if p.name not in used and p.default is EMPTY and p.kind not in stars]
    return f"{extra[0]} is required, the Protocol does not give it" if extra else None


@dataclass(frozen=True, slots=True)
class _Takers:
    """A candidate's parameters: by name, in their places, and the two that gather the rest."""

    named: dict[str, inspect.Parameter]
    places: list[inspect.Parameter]
    rest: inspect.Parameter | None
    more: inspect.Parameter | None


def _counterpart(p: inspect.Parameter, position: int, takers: _Takers) -> inspect.Parameter | str:  # noqa: PLR0911  # one return per kind
    """The candidate's parameter that takes what the Protocol's ``p`` is given, or why there is none."""
    if p.kind is p.VAR_POSITIONAL:
        return takers.rest or f"it has no *{p.name}"
    if p.kind is p.VAR_KEYWORD:
        return takers.more or f"it has no **{p.name}"
    if p.kind is p.KEYWORD_ONLY:
        named = takers.named.get(p.name)
        by_name = named is not None and named.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)
        return (named if by_name else takers.more) or f"it has no keyword {p.name}"
    if position >= len(takers.places):
        gathers = takers.rest is not None and (p.kind is p.POSITIONAL_ONLY or takers.more is not None)
        by_name = p.name in takers.named
        none = f"{p.name} is there, but not by position" if by_name else f"it has no positional {p.name}"
        return takers.rest if gathers and takers.rest is not None else none
    there = takers.places[position]
    if p.kind is p.POSITIONAL_ONLY or (there.name, there.kind) == (p.name, p.kind):
        return there
    if there.name != p.name:
        return f"parameter {position + 1} is called {there.name}, the Protocol says {p.name}"
    return f"{p.name} can only be given by position, the Protocol allows its name"


def _default(p: inspect.Parameter, found: inspect.Parameter) -> str | None:
    if p.default is EMPTY or p.default is found.default:
        return None
    if found.default is EMPTY:
        return f"{p.name} has no default, the Protocol says {p.default!r}"
    if p.default is ... or (type(p.default) is type(found.default) and p.default == found.default):
        return None
    return f"{p.name} has the default {found.default!r}, the Protocol says {p.default!r}"


def _run(wanted: Form, got: Form, notes: list[str]) -> str | None:
    if awaited(wanted) == awaited(got) and wanted.flag.endswith("generator") <= (got.flag.endswith("generator") or not awaited(got)):
        return None
    if got.flag == "plain" and got.returns in (EMPTY, Any):
        notes.append("its async flag, which only the call shows")
        return None
    return f"it is {_spoken(got)}, the Protocol says {_spoken(wanted)}"


def awaited(one: Form) -> bool:
    """Whether what a method gives must be awaited."""
    return one.flag == "async" or (one.flag == "plain" and hasattr(get_origin(one.returns), "__await__"))


def given(one: Form) -> Any:
    """The hint of what a method gives, once it was awaited."""
    return (get_args(one.returns) or (EMPTY,))[-1] if one.flag == "plain" and awaited(one) else one.returns


def _spoken(one: Form) -> str:
    return f"{'an' if one.flag.startswith('async') else 'a'} {one.flag} {'' if one.flag.endswith('generator') else 'function'}".rstrip()


def _hints(wanted: Any, got: Any, what: str, notes: list[str], *, into: bool) -> str | None:
    """Parameters may take more than the Protocol gives (``into``), results may be less; what is unknown is noted."""
    if wanted is EMPTY or got is EMPTY:
        return None
    if isinstance(wanted, Unresolved) or isinstance(got, Unresolved):
        one, other = (named(hint) for hint in (wanted, got))
        return None if one == other or one.rpartition(".")[2] == other.rpartition(".")[2] else f"{what} is {other}, the Protocol says {one}"
    for hint in (wanted, got):
        if open_parts(hint):
            notes.extend(f"{what}: {part}" for part in open_parts(hint))
            return None
    wide, narrow = (got, wanted) if into else (wanted, got)
    return None if takes(wide, narrow) else f"{what} is {named(got)}, the Protocol says {named(wanted)}"


def takes(wide: Any, narrow: Any) -> bool:  # noqa: PLR0911  # one return per kind of hint
    """Whether every value of the hint ``narrow`` fits the hint ``wide``, as far as hints tell.

    >>> takes(float, int), takes(list[str], list[int])
    (True, False)
    """
    if wide == narrow or Any in (wide, narrow) or wide is object:
        return True
    arms = _arms(narrow)
    if len(arms) > 1:
        return all(takes(wide, arm) for arm in arms)
    if len(_arms(wide)) > 1:
        return any(takes(arm, narrow) for arm in _arms(wide))
    if _literal(narrow):
        return all(_literal_in(wide, value) for value in get_args(narrow))
    one, other = _plain(wide), _plain(narrow)
    if not isinstance(one, type) or not isinstance(other, type):
        return False
    if getattr(one, "_is_protocol", False) and not getattr(other, "_is_protocol", False):
        return all(hasattr(other, member.name) for member in shape(one).members)
    if not (issubclass(other, one) or (one is float and other is int)):
        return False
    inner = list(zip(get_args(wide), get_args(narrow), strict=False))
    return all(takes(a, b) for a, b in inner) if one not in (Awaitable, Coroutine) else takes(get_args(wide)[-1], get_args(narrow)[-1])


def _arms(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _literal(hint: Any) -> bool:
    return get_origin(hint) is Literal


def _literal_in(wide: Any, value: object) -> bool:
    return value in get_args(wide) if _literal(wide) else takes(wide, type(value))


def _plain(hint: Any) -> Any:
    return type(None) if hint is None else get_origin(hint) or hint
