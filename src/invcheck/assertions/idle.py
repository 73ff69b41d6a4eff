"""What says nothing: patterns that every text holds, or none; schemas that every value fits."""

from __future__ import annotations

import re
from collections.abc import Mapping

from invcheck.errors import UsageError
from invcheck.vocabulary import Json

_CONDITIONS = re.compile(r"[\^$]|\(\?|\\[bBAZ]")
_NEVER = re.compile(r"\(\?!\)|\[\^\\s\\S\]|\[\^\\S\\s\]|\[\^\\d\\D\]|\[\^\\w\\W\]")


def refuse_idle(key: str, pattern: str) -> None:
    """Refuse a pattern, one that compiles, where it is plain that every text holds it, or none: UsageError."""
    rest = pattern.removeprefix("^").removeprefix("\\A")
    if not _CONDITIONS.search(rest) and re.match(rest, ""):
        raise UsageError(f"{key}: the pattern {pattern!r} is found in every text", code="ASSERTION_INVALID", field="pattern")
    if _NEVER.search(pattern):
        raise UsageError(f"{key}: the pattern {pattern!r} is found in no text", code="ASSERTION_INVALID", field="pattern")


_NOTES = frozenset(["$anchor", "$comment", "$defs", "$dynamicAnchor", "$id", "$schema", "contentEncoding", "contentMediaType"])
_NOTES |= {"contentSchema", "default", "definitions", "deprecated", "description", "examples", "format", "readOnly", "title", "writeOnly"}
_TYPES = frozenset(["array", "boolean", "integer", "null", "number", "object", "string"])
_TYPED = frozenset(["$dynamicRef", "$ref", "allOf", "anyOf", "const", "enum", "if", "not", "oneOf", "type"])
_OF = dict.fromkeys(["additionalProperties", "dependentRequired", "dependentSchemas", "maxProperties", "minProperties"], "object")
_OF |= dict.fromkeys(["patternProperties", "properties", "propertyNames", "required", "unevaluatedProperties"], "object")
_OF |= dict.fromkeys(["contains", "items", "maxItems", "minItems", "prefixItems", "unevaluatedItems", "uniqueItems"], "array")
_OF |= dict.fromkeys(["maxLength", "minLength", "pattern"], "string")
_OF |= dict.fromkeys(["exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"], "number")
"""Keywords that pass over a value of another type than this."""


def refuse_idle_schema(schema: Mapping[str, Json]) -> None:
    """Refuse a schema, one that is sound, that every value fits, or every value of another type: UsageError BAD_SCHEMA."""
    if _open(schema):
        raise _bad("this schema accepts everything", "say at least type, properties, enum or const")
    partial = None if schema.keys() & _TYPED else next((key for key in schema if key in _OF), None)
    if partial is not None:
        raise _bad(f"{partial} says nothing of a value of another type", f"say type: {_OF[partial]} beside it")


def _open(schema: Json) -> bool:
    """Whether it is plain that every value fits a schema."""
    if not isinstance(schema, Mapping):
        return schema is True
    return all(keyword in _NOTES or keyword.startswith("x-") or _says_nothing(keyword, value) for keyword, value in schema.items())


def _says_nothing(keyword: str, value: Json) -> bool:
    if keyword == "type":
        return isinstance(value, list | tuple) and {*map(str, value), "integer"} >= _TYPES
    if keyword in ("anyOf", "allOf") and isinstance(value, list | tuple) and value:
        return (any if keyword == "anyOf" else all)(map(_open, value))
    return False


def _bad(what: str, hint: str | None) -> UsageError:
    return UsageError(f"schema at $: {what}", code="BAD_SCHEMA", hint=hint, path="$", field="is_")
