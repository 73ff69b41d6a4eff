"""Deep, detached copies: whatever an app hands over becomes plain JSON, or a typed mark where it cannot."""

from __future__ import annotations

import dataclasses
import math
import os
from binascii import b2a_base64
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from invcheck.canonical import canonical
from invcheck.errors import NotJson
from invcheck.freeze import FrozenDict, FrozenList
from invcheck.vocabulary import DEEPEST, Json

_SHORT = frozenset({str, bool, type(None)})
_LARGEST = 10**4299  # what every Python writes and reads, since 3.11 has a limit of digits
_WIDE = 80

_SPELLED: Mapping[str, Callable[[Any], str]] = {  # by name, since every worker would pay for the imports
    "datetime.date": lambda value: value.isoformat(),
    "datetime.time": lambda value: value.isoformat(),
    "decimal.Decimal": str,
    "uuid.UUID": str,
}


def snapshot(value: object, *, strict: bool = False) -> Json:
    """Give a deep, detached copy of ``value`` as plain JSON, without consuming iterators or running properties.

    Dataclasses and pydantic models become objects, tuples arrays, enums their values, sets ``{"$set": [...]}`` in
    canonical order, bytes ``{"$bytes": base64}``, decimals, dates, paths and uuids text, other keys than text their JSON.
    What cannot be copied becomes a typed placeholder without an address, ``{"$object": "module.Class"}``; so do a cycle,
    NaN, infinities and integers of 4,300 digits or more, ``{"$number": "nan"}``, and what is nested deeper than ``vocabulary.DEEPEST``.

    With ``strict`` each placeholder, and a key that is no text, is a NotJson with the path instead.

    >>> snapshot({"b": (1, 2), "a": {3}})
    {'b': [1, 2], 'a': {'$set': [3]}}
    """
    try:
        return _fast(value, 0)
    except (_NotPlain, RecursionError):
        return _copy(value, "$", (), strict)


class _NotPlain(Exception):
    """Something that only the careful copy knows what to do with."""


def _fast(value: Any, depth: int) -> Json:
    """Copy what is plain JSON already, which is nearly everything; it knows no paths, so it tells nothing but _NotPlain."""
    kind = type(value)
    if kind in _SHORT or (kind is int and -_LARGEST < value < _LARGEST):
        return value
    if depth < DEEPEST:
        if kind is dict or kind is FrozenDict:
            for key in value:
                if type(key) is not str:
                    raise _NotPlain
            return {key: item if type(item) in _SHORT else _fast(item, depth + 1) for key, item in value.items()}
        if kind is list or kind is tuple or kind is FrozenList:
            return [item if type(item) in _SHORT else _fast(item, depth + 1) for item in value]
        if kind is float and math.isfinite(value):
            return value
    raise _NotPlain


def _copy(value: object, path: str, above: tuple[int, ...], strict: bool) -> Json:  # noqa: PLR0911  # one return per kind
    kind = type(value)
    if kind in _SHORT:
        return value
    if kind is int:
        return _integer(value, path, strict)  # type: ignore[arg-type]  # its type was just seen
    if kind is float:
        return _float(value, path, strict)  # type: ignore[arg-type]  # its type was just seen
    if id(value) in above:
        return _placeholder({"$cycle": path}, value, path, strict)
    if len(above) >= DEEPEST:
        return _placeholder({"$deep": class_name(value)}, value, path, strict)
    above = (*above, id(value))
    if kind is dict:
        return _mapping(value, path, above, strict)  # type: ignore[arg-type]  # its type was just seen
    if kind is list or kind is tuple:
        return _items(value, path, above, strict)  # type: ignore[arg-type]  # its type was just seen
    try:
        return _other(value, path, above, strict)
    except NotJson:
        raise
    except Exception:  # noqa: BLE001  # a user's own container may raise anything when it is read; strict says so
        return _placeholder({"$object": class_name(value)}, value, path, strict)


def _items(value: Iterable[object], path: str, above: tuple[int, ...], strict: bool) -> Json:
    return [_copy(item, f"{path}[{i}]", above, strict) for i, item in enumerate(value)]


def _mapping(value: Mapping[Any, Any], path: str, above: tuple[int, ...], strict: bool) -> Json:
    plain: dict[str, Json] = {}
    for key, item in value.items():
        name = key if type(key) is str else _key(key, path, above, strict)
        if name in plain:  # two keys that only JSON cannot tell apart, such as 1 and "1"
            name = f"{name} ({class_name(key)})"
        plain[name] = _copy(item, f"{path}.{name}", above, strict)
    return plain


def _key(key: object, path: str, above: tuple[int, ...], strict: bool) -> str:
    if strict and not isinstance(key, str):
        raise NotJson(f"a key at {path} is {class_name(key)}, JSON has text keys only", path=path)
    plain = _copy(key, path, above, strict)
    return plain if isinstance(plain, str) else canonical(plain).decode()


def _float(value: float, path: str, strict: bool) -> Json:
    return value if math.isfinite(value) else _placeholder({"$number": str(value)}, value, path, strict)


def _integer(value: int, path: str, strict: bool) -> Json:
    return value if -_LARGEST < value < _LARGEST else _placeholder({"$number": "an integer of too many digits"}, value, path, strict)


def _other(value: Any, path: str, above: tuple[int, ...], strict: bool) -> Json:  # noqa: PLR0911  # one return per kind
    if isinstance(value, Enum):
        return _copy(value.value, path, above, strict)
    if isinstance(value, str | int):
        return str.__str__(value) if isinstance(value, str) else _integer(int.__int__(value), path, strict)
    if isinstance(value, float):
        return _float(float.__float__(value), path, strict)
    if isinstance(value, Mapping):
        return _mapping(value, path, above, strict)
    if isinstance(value, list | tuple):
        return _items(value, path, above, strict)
    if isinstance(value, set | frozenset):
        return {"$set": sorted((_copy(item, path, above, strict) for item in value), key=canonical)}
    if isinstance(value, bytes | bytearray):
        return {"$bytes": b2a_base64(value, newline=False).decode("ascii")}
    return _record(value, path, above, strict)


def _record(value: Any, path: str, above: tuple[int, ...], strict: bool) -> Json:
    """A path, a date and their like, a dataclass, or a pydantic model recognised without its import; all else is opaque."""
    if isinstance(value, os.PathLike):
        return _copy(os.fspath(value), path, above, strict)
    for base in type(value).__mro__:
        if (spell := _SPELLED.get(class_name(base))) is not None:
            return spell(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((field.name, getattr(value, field.name, None)) for field in dataclasses.fields(value))
        return _mapping(dict(fields), path, above, strict)
    if isinstance(getattr(type(value), "model_fields", None), Mapping):
        if getattr(type(value), "__pydantic_root_model__", False):
            return _copy(value.root, path, above, strict)
        declared = type(value).model_fields  # what a library has set beside them is no part of the model
        held = {name: item for name, item in vars(value).items() if name in declared}
        return _mapping({**held, **(getattr(value, "__pydantic_extra__", None) or {})}, path, above, strict)
    return _placeholder({"$object": class_name(value)}, value, path, strict)


def class_name(value: object) -> str:
    """Give the full name of a class, or of a value's class.

    >>> class_name(1), class_name(dict)
    ('builtins.int', 'builtins.dict')
    """
    kind = value if isinstance(value, type) else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _placeholder(mark: dict[str, Json], value: object, path: str, strict: bool) -> Json:
    if not strict:
        return mark
    reason = {
        "$cycle": "holds itself",
        "$deep": f"is nested deeper than {DEEPEST} levels",
    }.get(next(iter(mark)))
    if isinstance(value, int):
        reason = "is an integer of 4,300 digits or more, which many readers refuse"
    what = f"is {value if isinstance(value, float) else class_name(value)}, which is no plain JSON"
    hint = "return text, numbers, lists, dicts, dataclasses or pydantic models"
    raise NotJson(f"{_short(path)} {reason or what}", path=path, hint=hint)


def _short(path: str) -> str:
    return path if len(path) <= _WIDE else f"{path[:_WIDE]}..."
