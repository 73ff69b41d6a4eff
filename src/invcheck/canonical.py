"""Canonical bytes and digests: one encoder for every byte that is compared, and one for what is sent to another process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NoReturn

from invcheck.errors import NotJson
from invcheck.vocabulary import Json


def _unknown(value: object) -> NoReturn:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


# what JSONEncoder(ensure_ascii=False, ...) makes anew for each text, made once
_encoder: Callable[..., Callable[[Json, int], tuple[str, ...]]] = vars(json.encoder)["c_make_encoder"]
_encode = _encoder(None, _unknown, vars(json.encoder)["encode_basestring"], None, ":", ",", True, False, False)
_pack = _encoder(None, _unknown, vars(json.encoder)["encode_basestring_ascii"], None, ":", ",", False, False, True)
_unpack: Callable[[str, int], tuple[Json, int]] = vars(json.JSONDecoder())["scan_once"]


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
