"""Whether a value is valid under the supported part of JSON Schema: the check before a chosen value is served.

It is written apart from the generator, so that a mistake in one is seen by the other.
"""

from __future__ import annotations

from typing import Any

from invcheck.canonical import canonical
from invcheck.vocabulary import Json

_TYPES: dict[str, Any] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer())),
    "number": lambda value: not isinstance(value, bool) and isinstance(value, int | float),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}

_BOUNDS: dict[str, tuple[str, Any]] = {
    "minimum": ("number", lambda value, bound: value >= bound),
    "maximum": ("number", lambda value, bound: value <= bound),
    "exclusiveMinimum": ("number", lambda value, bound: value > bound),
    "exclusiveMaximum": ("number", lambda value, bound: value < bound),
    "minLength": ("string", lambda value, bound: len(value) >= bound),
    "maxLength": ("string", lambda value, bound: len(value) <= bound),
    "minItems": ("array", lambda value, bound: len(value) >= bound),
    "maxItems": ("array", lambda value, bound: len(value) <= bound),
}


def breach(value: Json, schema: dict[str, Json], root: dict[str, Json], path: str = "$") -> str | None:  # noqa: PLR0911  # one return per rule
    """Say where and how a value breaks a supported schema, or None.

    >>> breach([1, "x"], {"type": "array", "items": {"type": "integer"}}, {})
    '$[1] is no integer'
    """
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
        return breach(value, root["$defs"][name], root, path)
    if "anyOf" in schema:
        wrong = [breach(value, option, root, path) for option in schema["anyOf"]]
        return None if None in wrong else wrong[0]
    kind = schema.get("type")
    if kind is not None and not _TYPES[kind](value):
        return f"{path} is no {kind}"
    if "const" in schema and not _same(value, schema["const"]):
        return f"{path} is not the constant"
    if "enum" in schema and not any(_same(value, each) for each in schema["enum"]):
        return f"{path} is none of the listed values"
    for keyword, (applies, holds) in _BOUNDS.items():
        if keyword in schema and _TYPES[applies](value) and not holds(value, schema[keyword]):
            return f"{path} breaks {keyword} {schema[keyword]}"
    return _inside(value, schema, root, path)


def _same(one: Json, other: Json) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and (one == other or canonical(one) == canonical(other))


def _inside(value: Json, schema: dict[str, Json], root: dict[str, Json], path: str) -> str | None:
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        missing = [name for name in schema.get("required", []) if name not in value]
        if missing:
            return f"{path} lacks {missing[0]}"
        if schema.get("additionalProperties") is False and (extra := [name for name in value if name not in properties]):
            return f"{path} has {extra[0]}, which is not allowed"
        wrong = (breach(value[name], inner, root, f"{path}.{name}") for name, inner in properties.items() if name in value)
    elif isinstance(value, list) and "items" in schema:
        wrong = (breach(item, schema["items"], root, f"{path}[{index}]") for index, item in enumerate(value))
    else:
        return None
    return next((each for each in wrong if each), None)
