"""Deep snapshots, frozen views, canonical bytes and digests: one encoder for every byte that is compared."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
from binascii import b2a_base64
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, NoReturn

from invcheck.errors import NotJson
from invcheck.vocabulary import DEEPEST, Json

_SCALARS = frozenset({str, int, bool, type(None)})
_UNSEEN = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_WIDE = 80

_SPELLED: Mapping[str, Callable[[Any], str]] = {  # by name, since every worker would pay for the imports
    "datetime.date": lambda value: value.isoformat(),
    "datetime.time": lambda value: value.isoformat(),
    "decimal.Decimal": str,
    "uuid.UUID": str,
}


class FrozenDict(dict[str, Any]):
    """A dict that cannot be changed; equal to a plain dict of the same items."""

    __slots__ = ()

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is frozen: it is a record of what happened, copy it before a change")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

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

    __setitem__ = __delitem__ = append = clear = extend = insert = pop = remove = reverse = sort = _refuse
    __iadd__ = __imul__ = _refuse

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
        return FrozenDict({key: item if type(item) in _SCALARS else frozen(item) for key, item in value.items()})
    if isinstance(value, list):
        return FrozenList([item if type(item) in _SCALARS else frozen(item) for item in value])
    return value


def snapshot(value: object, *, strict: bool = False) -> Json:
    """Give a deep, detached copy of ``value`` as plain JSON, without consuming iterators or running properties.

    Dataclasses and pydantic models become objects, tuples arrays, enums their values, sets ``{"$set": [...]}`` in
    canonical order, bytes ``{"$bytes": base64}``, decimals, dates, paths and uuids text, other keys than text their JSON.
    What cannot be copied becomes a typed placeholder without an address, ``{"$object": "module.Class"}``; so do a cycle,
    NaN and infinities, ``{"$number": "nan"}``, and what is nested deeper than ``vocabulary.DEEPEST``.

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


_PLAIN_SCALARS = frozenset({str, int, bool, type(None)})


def _fast(value: Any, depth: int) -> Json:
    """Copy what is plain JSON already, which is nearly everything; it knows no paths, so it tells nothing but _NotPlain."""
    kind = type(value)
    if kind in _PLAIN_SCALARS:
        return value
    if depth < DEEPEST:
        if kind is dict or kind is FrozenDict:
            for key in value:
                if type(key) is not str:
                    raise _NotPlain
            return {key: item if type(item) in _PLAIN_SCALARS else _fast(item, depth + 1) for key, item in value.items()}
        if kind is list or kind is tuple or kind is FrozenList:
            return [item if type(item) in _PLAIN_SCALARS else _fast(item, depth + 1) for item in value]
        if kind is float and math.isfinite(value):
            return value
    raise _NotPlain


def _copy(value: object, path: str, above: tuple[int, ...], strict: bool) -> Json:  # noqa: PLR0911  # one return per kind
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is float:
        return _float(value, path, strict)  # type: ignore[arg-type]  # its type was just seen
    if id(value) in above:
        return _placeholder({"$cycle": path}, value, path, strict)
    if len(above) >= DEEPEST:
        return _placeholder({"$deep": _name(value)}, value, path, strict)
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
        return _placeholder({"$object": _name(value)}, value, path, strict)


def _items(value: Iterable[object], path: str, above: tuple[int, ...], strict: bool) -> Json:
    return [_copy(item, f"{path}[{i}]", above, strict) for i, item in enumerate(value)]


def _mapping(value: Mapping[Any, Any], path: str, above: tuple[int, ...], strict: bool) -> Json:
    plain: dict[str, Json] = {}
    for key, item in value.items():
        name = key if type(key) is str else _key(key, path, above, strict)
        if name in plain:  # two keys that only JSON cannot tell apart, such as 1 and "1"
            name = f"{name} ({_name(key)})"
        plain[name] = _copy(item, f"{path}.{name}", above, strict)
    return plain


def _key(key: object, path: str, above: tuple[int, ...], strict: bool) -> str:
    if strict and not isinstance(key, str):
        raise NotJson(f"a key at {path} is {_name(key)}, JSON has text keys only", path=path)
    plain = _copy(key, path, above, strict)
    return plain if isinstance(plain, str) else canonical(plain).decode()


def _float(value: float, path: str, strict: bool) -> Json:
    return value if math.isfinite(value) else _placeholder({"$number": str(value)}, value, path, strict)


def _other(value: Any, path: str, above: tuple[int, ...], strict: bool) -> Json:  # noqa: PLR0911  # one return per kind
    if isinstance(value, Enum):
        return _copy(value.value, path, above, strict)
    if isinstance(value, str | int):
        return str.__str__(value) if isinstance(value, str) else int.__int__(value)
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
        if (spell := _SPELLED.get(_name(base))) is not None:
            return spell(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((field.name, getattr(value, field.name, None)) for field in dataclasses.fields(value))
        return _mapping(dict(fields), path, above, strict)
    if isinstance(getattr(type(value), "model_fields", None), Mapping):
        if getattr(type(value), "__pydantic_root_model__", False):
            return _copy(value.root, path, above, strict)
        return _mapping(
            {**vars(value), **(getattr(value, "__pydantic_extra__", None) or {})},
            path,
            above,
            strict,
        )
    return _placeholder({"$object": _name(value)}, value, path, strict)


def _name(value: object) -> str:
    kind = value if isinstance(value, type) else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _placeholder(mark: dict[str, Json], value: object, path: str, strict: bool) -> Json:
    if not strict:
        return mark
    reason = {
        "$cycle": "holds itself",
        "$deep": f"is nested deeper than {DEEPEST} levels",
    }.get(next(iter(mark)))
    what = f"is {value if isinstance(value, float) else _name(value)}, which is no plain JSON"
    hint = "return text, numbers, lists, dicts, dataclasses or pydantic models"
    raise NotJson(f"{_short(path)} {reason or what}", path=path, hint=hint)


def _short(path: str) -> str:
    return path if len(path) <= _WIDE else f"{path[:_WIDE]}..."


def _unknown(value: object) -> NoReturn:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


# what JSONEncoder(ensure_ascii=False, ...) makes anew for each text, made once
_encoder: Callable[..., Callable[[Json, int], tuple[str, ...]]] = vars(json.encoder)["c_make_encoder"]
_encode = _encoder(None, _unknown, vars(json.encoder)["encode_basestring"], None, ":", ",", True, False, False)
_pack = _encoder(None, _unknown, vars(json.encoder)["encode_basestring_ascii"], None, ":", ",", False, False, True)
_unpack: Callable[[str, int], tuple[Json, int]] = vars(json.JSONDecoder())["scan_once"]
_spell = _encoder(None, _name, vars(json.encoder)["encode_basestring"], None, ": ", ", ", False, False, True)


def canonical(value: Json) -> bytes:
    """Give the one byte form of plain JSON: sorted keys, no blanks, UTF-8, lone surrogates as ``\\udXXX`` escapes.

    NaN and infinities raise NotJson.

    >>> canonical({"b": 1, "a": "é"})
    b'{"a":"\\xc3\\xa9","b":1}'
    """
    try:
        return "".join(_encode(value, 0)).encode("utf-8", "backslashreplace")
    except (ValueError, TypeError, RecursionError) as error:
        raise NotJson(f"this value has no canonical form: {error}") from error


def packed(value: Json) -> bytes:
    """Give plain JSON as one line of ASCII, keys in their order, for `unpacked` in another process.

    Whatever an app did to the module json since it was imported, these two know nothing of it.

    >>> packed({"b": "\u00e9", "a": [1]})
    b'{"b":"\\u00e9","a":[1]}\n'
    """
    return "".join(_pack(value, 0)).encode("ascii") + b"\n"


def unpacked(line: bytes) -> Json:
    """Give what `packed` made a line of; ValueError for what is none.

    >>> unpacked(packed({"a": 1}))
    {'a': 1}
    """
    try:
        value, end = _unpack(line.decode("ascii"), 0)
    except (StopIteration, RecursionError) as error:
        raise ValueError("this is no JSON") from error
    if line[end:].strip():
        raise ValueError("text stands after the value")
    return value


def digest(value: Json) -> str:
    """Give the sha256 of the canonical bytes, in hexadecimal."""
    from hashlib import sha256  # noqa: PLC0415  # it loads OpenSSL, which not every process needs

    return sha256(canonical(value)).hexdigest()


def show(value: Json, limit: int = 120) -> str:
    """Give a short text for people, on one line: JSON in the order given, cut in the middle beyond ``limit`` code points.

    What would break the line or move the cursor is escaped. It never raises.

    >>> show({"a": [1, "x"]})
    '{"a": [1, "x"]}'
    """
    try:
        text = "".join(_spell(value, 0))
    except (ValueError, TypeError, RecursionError):
        text = "".join(_spell(snapshot(value), 0))
    if not text.isprintable():
        text = _UNSEEN.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]} ... {text[-(limit // 4) :]} ({len(text)} characters)"


def one_line(text: str) -> str:
    """Give the text with its line breaks as single blanks.

    >>> one_line("first\\n  second")
    'first second'
    """
    return text.strip() if text.isprintable() else " ".join(part.strip() for part in text.splitlines())


def listed(items: Iterable[Json], limit: int = 12) -> str:
    """Give the items as one short JSON array text, with a count of what was left out.

    >>> listed(["a", "b", "c"], limit=2)
    '["a", "b"] and 1 more'
    """
    rows = list(items)
    return show(rows) if len(rows) <= limit else f"{show(rows[:limit])} and {len(rows) - limit} more"
