"""Whether a value fits a type hint: plain ones by hand, the rest through pydantic, which is imported only then."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, Literal, NewType, Union, get_args, get_origin, get_type_hints, is_typeddict

from invcheck.faces.signature import EMPTY, Unresolved, open_parts

Fits = Callable[[Any], bool]


def fitter(hint: Any) -> Fits | None:
    """Give what says whether a value fits ``hint``; None where the hint says nothing, or cannot be compared.

    >>> fitter(list[str] | None)(["a"]), fitter(list[str] | None)([1])
    (True, False)
    """
    if hint in (EMPTY, Any, object) or open_parts(hint):
        return None
    try:
        return _cached(hint)
    except TypeError:  # a hint that holds something unhashable
        return _fitter(hint)


def _fitter(hint: Any) -> Fits | None:  # noqa: PLR0911  # one return per kind of hint
    if hint is None or hint is type(None):
        return lambda value: value is None
    if isinstance(hint, NewType):
        return fitter(hint.__supertype__)
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return lambda value: any(type(value) is type(each) and value == each for each in args)
    if origin in (Union, types.UnionType):
        return _any([fitter(arm) for arm in args])
    if is_typeddict(hint):
        return _typed_dict(hint)
    if isinstance(hint, type) and origin is None:
        return _class(hint)
    if isinstance(origin, type) and args and issubclass(origin, Mapping | Sequence | AbstractSet) and origin is not tuple:
        return _container(origin, [fitter(arg) for arg in args])
    return _validated(hint)


_cached = lru_cache(maxsize=512)(_fitter)


def _any(arms: list[Fits | None]) -> Fits | None:
    known = [arm for arm in arms if arm is not None]
    return None if len(known) < len(arms) else lambda value: any(arm(value) for arm in known)


def _class(kind: type) -> Fits:
    if kind is float:
        return lambda value: isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return lambda value: isinstance(value, int) and not isinstance(value, bool)
    if getattr(kind, "_is_protocol", False):
        from invcheck.faces.signature import shape  # noqa: PLC0415  # only a Protocol in a hint needs it

        names = [member.name for member in shape(kind).members]
        return lambda value: all(hasattr(value, name) for name in names)
    return lambda value: isinstance(value, kind)


def _typed_dict(kind: Any) -> Fits:
    inner = {name: fitter(hint) for name, hint in get_type_hints(kind).items()}

    def fits(value: Any) -> bool:
        if not isinstance(value, dict) or not kind.__required_keys__ <= set(value) <= set(inner):
            return False
        return all(one is None or one(value[name]) for name, one in inner.items() if name in value)

    return fits


def _container(origin: type, inner: list[Fits | None]) -> Fits:
    def fits(value: Any) -> bool:
        if not isinstance(value, origin) or isinstance(value, str | bytes):
            return False
        rows: list[Any] = [value, value.values()] if isinstance(value, Mapping) else [value]
        return all(one is None or all(map(one, row)) for one, row in zip(inner, rows, strict=False))

    return fits


def _validated(hint: Any) -> Fits | None:
    from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter, ValidationError  # noqa: PLC0415  # heavy, and rarely needed

    try:
        validate = TypeAdapter(hint).validate_python
    except (PydanticSchemaGenerationError, PydanticUserError):
        return None

    def fits(value: Any) -> bool:
        try:
            validate(value, strict=True)
        except ValidationError:
            return False
        return True

    return fits


def named(hint: Any) -> str:
    """Give a hint as people write it.

    >>> named(int), named(list[int]), named(Any)
    ('int', 'list[int]', 'Any')
    """
    if isinstance(hint, Unresolved):
        return hint.text
    return hint.__name__ if isinstance(hint, type) and get_origin(hint) is None else str(hint).replace("typing.", "")
