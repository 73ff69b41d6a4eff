"""Deep snapshots, frozen views, canonical bytes and digests: one encoder for every byte that is compared."""

from __future__ import annotations

import dataclasses
import json
import math
from base64 import b64encode
from collections.abc import Iterable, Mapping
from datetime import date, time
from decimal import Decimal
from enum import Enum
from hashlib import sha256
from pathlib import PurePath
from typing import Any, NoReturn

from invcheck.errors import NotJson
from invcheck.vocabulary import Json

_SCALARS = (str, int, bool, type(None))


class FrozenDict(dict[str, Any]):
    """A dict that cannot be changed; equal to a plain dict of the same items."""

    __slots__ = ()

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is frozen: it is a record of what happened, copy it before a change")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse  # type: ignore[assignment]  # every way to change it is refused

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (dict(self),))


class FrozenList(list[Any]):
    """A list that cannot be changed; equal to a plain list of the same items."""

    __slots__ = ()

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("FrozenList is frozen: it is a record of what happened, copy it before a change")

    __setitem__ = __delitem__ = append = clear = extend = insert = pop = remove = reverse = sort = _refuse  # type: ignore[assignment]  # every way to change it is refused
    __iadd__ = __imul__ = _refuse  # type: ignore[assignment]  # every way to change it is refused

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (FrozenList, (list(self),))


def frozen(value: Json) -> Json:
    """Give a deeply frozen view of plain JSON; it compares equal to what it was made of.

    >>> frozen({"a": [1]}) == {"a": [1]}
    True
    """
    if isinstance(value, dict):
        return FrozenDict({key: frozen(item) for key, item in value.items()})
    if isinstance(value, list):
        return FrozenList([frozen(item) for item in value])
    return value


def snapshot(value: object, *, strict: bool = False) -> Json:
    """Give a deep, detached copy of ``value`` as plain JSON, without consuming iterators or running properties.

    Dataclasses and pydantic models become objects, tuples arrays, enums their values, sets ``{"$set": [...]}`` in
    canonical order, bytes ``{"$bytes": base64}``, decimals, dates and paths text. What cannot be copied becomes a typed
    placeholder without an address, ``{"$object": "module.Class"}``. NaN and infinities become ``{"$number": "nan"}``.

    With ``strict`` the last two, and text keys that are none, raise NotJson with the path instead.

    >>> snapshot({"b": (1, 2), "a": {3}})
    {'b': [1, 2], 'a': {'$set': [3]}}
    """
    return _copy(value, "$", (), strict)


def _copy(value: object, path: str, above: tuple[int, ...], strict: bool) -> Json:
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is float:
        return _float(value, path, strict)  # type: ignore[arg-type]  # its type was just seen
    if id(value) in above:
        return _placeholder({"$cycle": path}, value, path, strict)
    above = (*above, id(value))
    if kind is dict or isinstance(value, Mapping):
        return _mapping(value, path, above, strict)  # type: ignore[arg-type]  # its type was just seen
    if isinstance(value, list | tuple):
        return [_copy(item, f"{path}[{i}]", above, strict) for i, item in enumerate(value)]
    return _other(value, path, above, strict)


def _mapping(value: Mapping[Any, Any], path: str, above: tuple[int, ...], strict: bool) -> Json:
    plain: dict[str, Json] = {}
    for key, item in value.items():
        if type(key) is not str:
            if strict and not isinstance(key, str):
                raise NotJson(f"a key at {path} is {type(key).__name__}, JSON has text keys only", path=path)
            key = key.value if isinstance(key, Enum) and isinstance(key.value, str) else str(key) if _plain_key(key) else _name(key)
        plain[key] = _copy(item, f"{path}.{key}", above, strict)
    return plain


def _plain_key(key: object) -> bool:
    return key is None or isinstance(key, str | int | float)


def _float(value: float, path: str, strict: bool) -> Json:
    return value if math.isfinite(value) else _placeholder({"$number": str(value)}, value, path, strict)


def _other(value: Any, path: str, above: tuple[int, ...], strict: bool) -> Json:
    if isinstance(value, Enum):
        return _copy(value.value, path, above, strict)
    if isinstance(value, str | int):
        return str(value) if isinstance(value, str) else int(value)
    if isinstance(value, float):
        return _float(float(value), path, strict)
    if isinstance(value, set | frozenset):
        items = [_copy(item, path, above, strict) for item in value]
        return {"$set": sorted(items, key=canonical)}
    if isinstance(value, bytes | bytearray):
        return {"$bytes": b64encode(value).decode("ascii")}
    if isinstance(value, Decimal | PurePath):
        return str(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((field.name, getattr(value, field.name, None)) for field in dataclasses.fields(value))
        return _mapping(dict(fields), path, above, strict)
    fields_set = getattr(type(value), "model_fields", None)
    if isinstance(fields_set, Mapping):  # a pydantic model, recognised without importing pydantic
        return _mapping({**vars(value), **(getattr(value, "__pydantic_extra__", None) or {})}, path, above, strict)
    return _placeholder({"$object": _name(value)}, value, path, strict)


def _name(value: object) -> str:
    kind = value if isinstance(value, type) else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _placeholder(mark: dict[str, Json], value: object, path: str, strict: bool) -> Json:
    if not strict:
        return mark
    what = str(value) if isinstance(value, float) else _name(value)
    raise NotJson(f"{path} is {what}, which is no plain JSON", path=path, hint="return text, numbers, lists, dicts, dataclasses or pydantic models")


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def canonical(value: Json) -> bytes:
    """Give the one byte form of plain JSON: sorted keys, no blanks, UTF-8, lone surrogates as ``\\udXXX`` escapes.

    NaN and infinities raise NotJson.

    >>> canonical({"b": 1, "a": "é"})
    b'{"a":"\\xc3\\xa9","b":1}'
    """
    try:
        return _encode(value).encode("utf-8", "backslashreplace")
    except (ValueError, TypeError, RecursionError) as error:
        raise NotJson(f"this value has no canonical form: {error}") from error


def digest(value: Json) -> str:
    """Give the sha256 of the canonical bytes, in hexadecimal."""
    return sha256(canonical(value)).hexdigest()


def show(value: Json, limit: int = 120) -> str:
    """Give a short text for people: compact JSON in the order given, cut in the middle beyond ``limit`` code points.

    >>> show({"a": [1, "x"]})
    '{"a": [1, "x"]}'
    """
    text = json.dumps(value, ensure_ascii=False, default=_name)
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]} ... {text[-limit // 4 :]} ({len(text)} characters)"


def listed(items: Iterable[Json], limit: int = 12) -> str:
    """Give the items as one short JSON array text, with a count of what was left out."""
    rows = list(items)
    return show(rows) if len(rows) <= limit else f"{show(rows[:limit])} and {len(rows) - limit} more"
