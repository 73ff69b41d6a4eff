"""The part of JSON Schema that a double can drift by: what pydantic's models of plain data need, and nothing silently.

Any other keyword is refused with its path, since a generator that reads past a keyword makes values that break it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from invcheck.errors import DoubleError
from invcheck.show import show
from invcheck.sources.conform import breach
from invcheck.vocabulary import Json

PAST = frozenset({"title", "description", "default", "examples"})
"""What says nothing about which values are valid."""

BY_TYPE: Mapping[str, frozenset[str]] = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "array": frozenset({"items", "minItems", "maxItems"}),
    "string": frozenset({"minLength", "maxLength"}),
    "integer": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}),
    "boolean": frozenset(),
    "null": frozenset(),
}
"""The supported types, and the keywords that each may have."""

SPAN = 1000
"""How far a number goes from a bound, or from 0, where the schema gives no other."""


def supported(schema: Json) -> dict[str, Json]:
    """Give the schema when every keyword in it is supported, or raise DoubleError with the keyword's path.

    >>> supported({"type": "string", "pattern": "a+"})
    Traceback (most recent call last):
    ...
    invcheck.errors.DoubleError: $.pattern: the keyword "pattern" is not supported for drift
      hint: answer from a function (rng, request) instead
    """
    if not isinstance(schema, dict):
        raise _refusal("$", f"a schema is an object, got {show(schema, 40)}")
    definitions = schema.get("$defs", {})
    if not isinstance(definitions, dict):
        raise _refusal("$.$defs", "$defs is an object")
    for name, inner in definitions.items():
        _check(inner, f"$.$defs.{name}", definitions, (name,))
    _check({key: value for key, value in schema.items() if key != "$defs"}, "$", definitions, ())
    return schema


def _refusal(path: str, reason: str) -> DoubleError:
    return DoubleError(f"{path}: {reason}", code="SCHEMA_UNSUPPORTED", path=path, hint="answer from a function (rng, request) instead")


def _check(schema: Json, path: str, definitions: dict[str, Json], above: tuple[str, ...]) -> None:
    if not isinstance(schema, dict):
        raise _refusal(path, f"a schema is an object, got {show(schema, 40)}")
    if "$ref" in schema:
        _only(schema, path, {"$ref"})
        _follow(schema["$ref"], f"{path}.$ref", definitions, above)
    elif "anyOf" in schema:
        _only(schema, path, {"anyOf"})
        _check_any(schema["anyOf"], f"{path}.anyOf", definitions, above)
    elif "const" in schema or "enum" in schema:
        _only(schema, path, {"const", "enum", "type"})
        _check_listed(schema, path)
    else:
        _check_typed(schema, path, definitions, above)


def _only(schema: dict[str, Json], path: str, known: set[str] | frozenset[str]) -> None:
    for keyword in schema:
        if keyword not in known and keyword not in PAST:
            raise _refusal(f"{path}.{keyword}", f'the keyword "{keyword}" is not supported for drift')


def _follow(ref: Json, path: str, definitions: dict[str, Json], above: tuple[str, ...]) -> None:
    name = target(ref)
    if name not in definitions:
        raise _refusal(path, f"{show(ref, 60)} is no name in $defs")
    if name in above:
        raise _refusal(path, f'"{name}" refers to itself, and recursion is not supported for drift')
    _check(definitions[name], f"$.$defs.{name}", definitions, (*above, name))


def target(ref: Json) -> str | None:
    """Give the name in ``$defs`` that a reference is to, unescaped as JSON Pointer says (RFC 6901 §4); None for others."""
    if not isinstance(ref, str) or not ref.startswith("#/$defs/"):
        return None
    return ref.removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")


def _check_any(options: Json, path: str, definitions: dict[str, Json], above: tuple[str, ...]) -> None:
    if not isinstance(options, list) or not any(isinstance(each, dict) and each.get("type") == "null" for each in options):
        raise _refusal(path, "anyOf is supported where one of its options is null")
    for index, option in enumerate(options):
        _check(option, f"{path}[{index}]", definitions, above)


def _check_listed(schema: dict[str, Json], path: str) -> None:
    if "type" in schema:
        _known_type(schema["type"], path)
    listed = [schema["const"]] if "const" in schema else schema["enum"]
    if not isinstance(listed, list) or not any(not breach(value, schema, {}) for value in listed):
        raise _refusal(path, "no listed value fits the rest of the schema")


def _check_typed(schema: dict[str, Json], path: str, definitions: dict[str, Json], above: tuple[str, ...]) -> None:
    kind = schema.get("type")
    if kind is None:
        _only(schema, path, frozenset().union(*BY_TYPE.values()))
        raise _refusal(path, "a schema needs a type, enum, const, $ref or anyOf")
    _known_type(kind, path)
    _only(schema, path, BY_TYPE[kind] | {"type"})
    if kind == "object":
        _check_object(schema, path, definitions, above)
    elif kind == "array":
        if "items" in schema:
            _check(schema["items"], f"{path}.items", definitions, above)
        elif schema.get("maxItems") != 0:
            raise _refusal(path, "an array needs items")
        _range(schema, path, "minItems", "maxItems")
    elif kind == "string":
        _range(schema, path, "minLength", "maxLength")
    elif kind in ("integer", "number"):
        _check_number(schema, path, kind)


def _known_type(kind: Json, path: str) -> None:
    if not isinstance(kind, str) or kind not in BY_TYPE:
        raise _refusal(f"{path}.type", f"the type {show(kind, 40)} is not supported for drift")


def _check_object(schema: dict[str, Json], path: str, definitions: dict[str, Json], above: tuple[str, ...]) -> None:
    if schema.get("additionalProperties", False) is not False:
        raise _refusal(f"{path}.additionalProperties", "additionalProperties is supported as false only")
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        raise _refusal(path, "properties is an object and required an array")
    for name in required:
        if name not in properties:
            raise _refusal(f"{path}.required", f"{show(name, 40)} is required, but properties does not describe it")
    for name, inner in properties.items():
        _check(inner, f"{path}.properties.{name}", definitions, above)


def _range(schema: dict[str, Json], path: str, least: str, most: str) -> None:
    for name in (least, most):
        bound = schema.get(name, 0)
        if type(bound) is not int or bound < 0:
            raise _refusal(f"{path}.{name}", f"{name} is an integer from 0, got {show(bound, 40)}")
    if schema.get(least, 0) > schema.get(most, math.inf):
        raise _refusal(f"{path}.{most}", f"{least} {schema[least]} is more than {most} {schema[most]}, so no value fits")


def _check_number(schema: dict[str, Json], path: str, kind: str) -> None:
    for name in BY_TYPE["number"]:
        if name in schema and (isinstance(schema[name], bool) or not isinstance(schema[name], int | float)):
            raise _refusal(f"{path}.{name}", f"{name} is a number, got {show(schema[name], 40)}")
    if kind == "integer":
        low, high = integers(schema)
        empty = low > high
    else:
        bottom, top = floats(schema)
        empty = bottom > top or (bottom == top and excluded(bottom, schema))
    if empty:
        raise _refusal(path, f"no {kind} lies within its bounds")


def integers(schema: dict[str, Json]) -> tuple[int, int]:
    """Give the least and the greatest integer that a schema allows, or that are chosen where it gives no bound."""
    lows = [math.ceil(schema["minimum"])] if "minimum" in schema else []
    lows += [math.floor(schema["exclusiveMinimum"]) + 1] if "exclusiveMinimum" in schema else []
    highs = [math.floor(schema["maximum"])] if "maximum" in schema else []
    highs += [math.ceil(schema["exclusiveMaximum"]) - 1] if "exclusiveMaximum" in schema else []
    low = max(lows) if lows else min(-SPAN, min(highs) - SPAN) if highs else -SPAN
    return low, min(highs) if highs else max(SPAN, low + SPAN)


def floats(schema: dict[str, Json]) -> tuple[float, float]:
    """Give the least and the greatest number likewise; an exclusive bound is given as well."""
    lows = [schema[name] for name in ("minimum", "exclusiveMinimum") if name in schema]
    highs = [schema[name] for name in ("maximum", "exclusiveMaximum") if name in schema]
    low = float(max(lows)) if lows else min(0.0, float(min(highs)) - SPAN) if highs else 0.0
    return low, float(min(highs)) if highs else low + SPAN


def excluded(value: float, schema: dict[str, Json]) -> bool:
    """Whether a number is an exclusive bound of its schema."""
    return value in (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))
