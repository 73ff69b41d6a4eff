"""Whether a value has the type that a claim's field declares: small, strict, and without a validation library.

A worker builds every claim from plain JSON, and must not pay for pydantic to do so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_amount(value: object) -> bool:
    """A count, or a range of counts that is neither empty nor all of them."""
    if not isinstance(value, Mapping):
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    ends = value.get("min", 0), value.get("max", value.get("min", 0))
    return bool(value) and value.keys() <= {"min", "max"} and all(map(_is_int, ends)) and 0 <= ends[0] <= ends[1] and value != {"min": 0}


_TYPES: dict[str, Callable[[Any], bool]] = {
    "None": lambda value: value is None,
    "bool": lambda value: isinstance(value, bool),
    "int": _is_int,
    "float": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf"),
    "str": lambda value: isinstance(value, str),
    "Amount": _is_amount,
}


_WORDS = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "Amount": "a whole number from 0 or {min, max}",
    "list": "a list",
    "Sequence": "a list",
    "dict": "a mapping",
    "Mapping": "a mapping",
}


def worded(annotation: str) -> str:
    """Say what type a field has, for people.

    >>> worded("list[str] | float | None"), worded("Literal['asc', 'desc']")
    ('a list of text or a number', 'asc or desc')
    """
    return " or ".join(_worded(part) for part in _parts(annotation, "|") if part != "None")


def _worded(part: str) -> str:
    outer, _, rest = part.partition("[")
    inner = rest.removesuffix("]")
    if outer == "Literal":
        return " or ".join(str(_word(word)) for word in _parts(inner, ","))
    of = f" of {worded(inner).removeprefix('a ')}" if outer in ("list", "Sequence") and inner else ""
    return _WORDS.get(outer, outer) + of


def fits(annotation: str, value: object) -> bool:
    """Tell whether a value has a field's type, from the annotation's text; types that are not known here fit.

    >>> fits("int | None", True), fits("list[str]", ["a"]), fits("Literal['asc', 'desc']", "up")
    (False, True, False)
    """
    return any(_fits_one(part, value) for part in _parts(annotation, "|"))


def _fits_one(annotation: str, value: object) -> bool:
    outer, _, rest = annotation.partition("[")
    inner = rest.removesuffix("]")
    if outer == "Literal":
        return any(isinstance(value, type(word)) and value == word for word in map(_word, _parts(inner, ",")))
    if outer in ("list", "Sequence"):
        return isinstance(value, list | tuple) and all(fits(inner, item) for item in value)
    if outer in ("dict", "Mapping"):
        member = _parts(inner, ",")[-1]
        return isinstance(value, Mapping) and all(isinstance(key, str) and fits(member, item) for key, item in value.items())
    return _TYPES.get(outer, lambda _: True)(value)


def _word(text: str) -> str | int:
    return text[1:-1] if text[0] in "'\"" else int(text)


def _parts(text: str, separator: str) -> list[str]:
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == separator and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
