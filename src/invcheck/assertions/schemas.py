"""JSON Schema 2020-12, read strictly: what would be ignored silently is refused.

A keyword that JSON Schema does not know, a format that is not judged here, bounds that cross, a pattern that does not
compile, a ``$ref`` that is not in the document itself (nothing is ever fetched).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from invcheck.assertions.claim import invalid
from invcheck.assertions.formats import FORMATS
from invcheck.errors import NotJson, UsageError
from invcheck.jsontext import loads
from invcheck.paths import below, kind
from invcheck.resolve import did_you_mean
from invcheck.show import show
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Json

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_ONE = frozenset(["additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then"])
_ONE |= {"unevaluatedItems", "unevaluatedProperties"}
_MANY = frozenset(["allOf", "anyOf", "oneOf", "prefixItems"])
_NAMED = frozenset(["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"])
_NOTES = frozenset(["$comment", "$id", "$schema", "default", "deprecated", "description", "examples", "title"])
_NOTES |= {"contentEncoding", "contentMediaType", "readOnly", "writeOnly"}
_PLAIN = frozenset(["format", "$anchor", "$dynamicAnchor", "$dynamicRef", "$ref", "const", "dependentRequired", "enum", "multipleOf"])
_PLAIN |= {"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "pattern", "required", "type", "uniqueItems"}
_PLAIN |= {f"{end}{what}" for end in ("min", "max") for what in ("Contains", "Items", "Length", "Properties")}
_KNOWN = _ONE | _MANY | _NAMED | _NOTES | _PLAIN
_SILENT = _NOTES | {"$defs", "definitions", "$anchor", "$dynamicAnchor", "contentSchema"}
_BOUNDS = [(f"min{what}", f"max{what}") for what in ("imum", "Length", "Items", "Properties", "Contains")]


def read_file(name: str) -> Json:
    """Read a schema from a JSON file relative to the current directory, or raise UsageError MISSING_FILE or BAD_SCHEMA."""
    try:
        with open(name, encoding="utf-8-sig") as file:  # noqa: PTH123  # the name is a text of the user's, as given
            text = file.read()
    except FileNotFoundError:
        raise UsageError(
            f"the schema file {name} does not exist", code="MISSING_FILE", field="is_", hint="it is sought from the project's root"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the schema file {name} cannot be read: {type(error).__name__}", code="MISSING_FILE", field="is_") from None
    try:
        return loads(text)
    except NotJson as error:
        raise UsageError(f"the schema file {name} is no JSON: {error.message}", code="BAD_SCHEMA", field="is_") from None


def refuse(schema: Json) -> None:
    """Refuse a schema that is none, or that says something that would be ignored, with UsageError BAD_SCHEMA."""
    if not isinstance(schema, Mapping):
        raise bad("$", f"a schema is a mapping, got {kind(schema)} {show(schema)}")
    if not schema.keys() - _SILENT:
        raise bad("$", "this schema accepts everything", "say at least type, properties, enum or const")
    if schema.get("$schema", DIALECT) not in {DIALECT, DIALECT + "#"}:
        raise bad("$", f"the schema is written for {show(schema['$schema'])}, only JSON Schema 2020-12 is understood")
    for at, part in parts(schema, "$"):
        _refuse_part(at, part)


def known(schema: Mapping[str, Json]) -> bool:
    """Whether any of a mapping's keys is a word of JSON Schema; where none is, it was meant as something else.

    >>> known({"typ": "object", "required": ["q"]}), known({"q": "refund"})
    (True, False)
    """
    return not _KNOWN.isdisjoint(schema)


def bad(at: str, what: str, hint: str | None = None) -> UsageError:
    """Give the error of a schema that is refused, with its place in the schema."""
    return UsageError(f"schema at {at}: {what}", code="BAD_SCHEMA", hint=hint, path=at)


def parts(schema: Json, at: str) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Give every mapping of a schema that is a schema itself, with its place."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        raise bad(at, f"a schema is a mapping or a boolean, got {kind(schema)} {show(schema)}")
    yield at, schema
    for keyword, value in schema.items():
        here = below(at, keyword)
        if keyword in _ONE:
            yield from parts(value, here)
        elif keyword in _MANY and isinstance(value, list):
            for index, item in enumerate(value):
                yield from parts(item, below(here, index))
        elif keyword in _NAMED and isinstance(value, Mapping):
            for name, item in value.items():
                yield from parts(item, below(here, name))


def _refuse_part(at: str, part: Mapping[str, Json]) -> None:
    for keyword in part:
        if keyword not in _KNOWN and not keyword.startswith("x-"):
            raise bad(below(at, keyword), f"JSON Schema 2020-12 has no keyword {show(keyword)}", _meant(keyword))
    _refuse_format(at, part.get("format"))
    if "$id" in part and at != "$":
        raise bad(at, "a schema inside of a schema has no $id of its own here")
    for reference in (part.get("$ref"), part.get("$dynamicRef")):
        if isinstance(reference, str) and not reference.startswith("#"):
            raise bad(at, f"$ref {show(reference)} is not in this document, and nothing is fetched", "put it under $defs")
    for low, high in _BOUNDS:
        if low in part and high in part and _number(part[low]) and _number(part[high]) and part[low] > part[high]:
            raise bad(at, f"{low} {part[low]} is above {high} {part[high]}: no value fits")
    patterns = part.get("patternProperties")
    for pattern in [part.get("pattern"), *(patterns if isinstance(patterns, Mapping) else ())]:
        if isinstance(pattern, str):
            _refuse_pattern(at, pattern)


def _refuse_format(at: str, name: Json) -> None:
    if isinstance(name, str) and name not in FORMATS:
        hint = f"judged are {', '.join(sorted(FORMATS))}; or write a pattern"
        raise bad(below(at, "format"), f"the format {show(name)} is not judged here, so it would be ignored", hint)


def _refuse_pattern(at: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise bad(at, f"pattern {show(pattern)}: {error.msg} at position {error.pos}") from None


def _meant(keyword: str) -> str | None:
    near = did_you_mean(keyword, sorted(_KNOWN))
    return f"did you mean {near}?" if near else None


def _number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def plainly(value: object, what: str, field: str) -> Json:
    """Detach a value that was given in Python, or raise UsageError where it is no plain JSON."""
    try:
        return snapshot(value, strict=True)
    except NotJson as error:
        raise invalid(f"{what}: {error.message}", field) from None
