"""JSON Schema 2020-12 and pydantic models, read strictly, asked for the one deepest fault of a value.

A schema is refused when it is read: a keyword that JSON Schema does not know (it would be ignored silently), bounds
that cross, a pattern that does not compile, a ``$ref`` that is not in the document itself (nothing is ever fetched).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from invcheck.assertions.bounds import counted
from invcheck.assertions.claim import invalid
from invcheck.assertions.lowered import lowerable
from invcheck.canonical import canonical
from invcheck.errors import NotJson, UsageError
from invcheck.jsontext import loads
from invcheck.paths import below, kind
from invcheck.resolve import did_you_mean
from invcheck.show import show
from invcheck.snapshot import snapshot
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from jsonschema.exceptions import SchemaError, ValidationError

__all__ = ["Fault", "Find", "compiled", "described", "located", "model", "plainly", "read_file", "refuse_schema"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_ONE = frozenset(["additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then"])
_ONE |= {"unevaluatedItems", "unevaluatedProperties"}
_MANY = frozenset(["allOf", "anyOf", "oneOf", "prefixItems"])
_NAMED = frozenset(["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"])
_NOTES = frozenset(["$comment", "$id", "$schema", "default", "deprecated", "description", "examples", "format", "title"])
_NOTES |= {"contentEncoding", "contentMediaType", "readOnly", "writeOnly"}
_PLAIN = frozenset(["$anchor", "$dynamicAnchor", "$dynamicRef", "$ref", "const", "dependentRequired", "enum", "multipleOf"])
_PLAIN |= {"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "pattern", "required", "type", "uniqueItems"}
_PLAIN |= {f"{end}{what}" for end in ("min", "max") for what in ("Contains", "Items", "Length", "Properties")}
_KNOWN = _ONE | _MANY | _NAMED | _NOTES | _PLAIN
_SILENT = _NOTES | {"$defs", "definitions", "$anchor", "$dynamicAnchor", "contentSchema"}
_BOUNDS = [(f"min{what}", f"max{what}") for what in ("imum", "Length", "Items", "Properties", "Contains")]


class Fault(NamedTuple):
    """What is wrong with a value: where below it, what was expected there, and what was found."""

    steps: tuple[str | int, ...]
    expected: str
    got: str


Find: TypeAlias = Callable[[Json], Fault | None]
"""Judge one value: None when it fits, else its deepest fault."""


# reading a schema


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
        raise _bad("$", f"a schema is a mapping, got {kind(schema)} {show(schema)}")
    if not schema.keys() - _SILENT:
        raise _bad("$", "this schema accepts everything", "say at least type, properties, enum or const")
    if schema.get("$schema", DIALECT) not in {DIALECT, DIALECT + "#"}:
        raise _bad("$", f"the schema is written for {show(schema['$schema'])}, only JSON Schema 2020-12 is understood")
    for at, part in _parts(schema, "$"):
        _refuse_part(at, part)


def _bad(at: str, what: str, hint: str | None = None) -> UsageError:
    return UsageError(f"schema at {at}: {what}", code="BAD_SCHEMA", hint=hint, path=at)


def _parts(schema: Json, at: str) -> Iterator[tuple[str, Mapping[str, Json]]]:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        raise _bad(at, f"a schema is a mapping or a boolean, got {kind(schema)} {show(schema)}")
    yield at, schema
    for keyword, value in schema.items():
        here = below(at, keyword)
        if keyword in _ONE:
            yield from _parts(value, here)
        elif keyword in _MANY and isinstance(value, list):
            for index, item in enumerate(value):
                yield from _parts(item, below(here, index))
        elif keyword in _NAMED and isinstance(value, Mapping):
            for name, item in value.items():
                yield from _parts(item, below(here, name))


def _refuse_part(at: str, part: Mapping[str, Json]) -> None:
    for keyword in part:
        if keyword not in _KNOWN and not keyword.startswith("x-"):
            raise _bad(below(at, keyword), f"JSON Schema 2020-12 has no keyword {show(keyword)}", _meant(keyword))
    if "$id" in part and at != "$":
        raise _bad(at, "a schema inside of a schema has no $id of its own here")
    for reference in (part.get("$ref"), part.get("$dynamicRef")):
        if isinstance(reference, str) and not reference.startswith("#"):
            raise _bad(at, f"$ref {show(reference)} is not in this document, and nothing is fetched", "put it under $defs")
    for low, high in _BOUNDS:
        if low in part and high in part and _number(part[low]) and _number(part[high]) and part[low] > part[high]:
            raise _bad(at, f"{low} {part[low]} is above {high} {part[high]}: no value fits")
    patterns = part.get("patternProperties")
    for pattern in [part.get("pattern"), *(patterns if isinstance(patterns, Mapping) else ())]:
        if isinstance(pattern, str):
            _refuse_pattern(at, pattern)


def _refuse_pattern(at: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise _bad(at, f"pattern {show(pattern)}: {error.msg} at position {error.pos}") from None


def _meant(keyword: str) -> str | None:
    near = did_you_mean(keyword, sorted(_KNOWN))
    return f"did you mean {near}?" if near else None


def _number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def refuse_schema(schema: Json, field: str) -> None:
    """Refuse what is no schema, naming the claim's field that holds it; a plain one needs no second, slow opinion."""
    try:
        refuse(schema)
        if not lowerable(schema):
            compiled(schema)
    except UsageError as error:
        error.fields["field"] = field
        raise


def plainly(value: object, what: str, field: str) -> Json:
    """Detach a value that was given in Python, or raise UsageError where it is no plain JSON."""
    try:
        return snapshot(value, strict=True)
    except NotJson as error:
        raise invalid(f"{what}: {error.message}", field) from None


# asking a schema


def compiled(schema: Json) -> Find:
    """Compile a schema, or raise UsageError BAD_SCHEMA where JSON Schema itself refuses it; equal schemas share the work.

    >>> compiled({"type": "array", "items": {"type": "string"}})(["d1", 2])
    Fault(steps=(1,), expected='string', got='integer 2')
    """
    return _compiled(canonical(schema))


@lru_cache(256)
def _compiled(text: bytes) -> Find:
    from jsonschema import Draft202012Validator  # noqa: PLC0415  # slow to import, and few checks need it
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415  # as above
    from referencing import Registry  # noqa: PLC0415  # comes with jsonschema

    schema = json.loads(text)
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise _bad(located("$", error.absolute_path), _expectation(error) + f" expected, got {show(error.instance)}") from None
    for _, part in _parts(schema, "$"):
        _spell_out(part)
    # an empty registry, because the default one would fetch what it does not know
    validator = Draft202012Validator(schema, registry=Registry())

    def find(value: Json) -> Fault | None:
        errors = list(validator.iter_errors(value))
        return _fault(_deepest(errors)) if errors else None

    try:
        for at, part in _parts(schema, "$"):
            _resolve(at, part, validator)
        find(None)
    except RecursionError:
        raise _bad("$", "a $ref leads back to itself without reading anything") from None
    return find


def _spell_out(part: Any) -> None:
    """Spell ``false`` as a schema that nothing fits: of ``false`` jsonschema does not tell the place."""
    for keyword in ("properties", "patternProperties"):
        part.update(
            {keyword: {name: {"not": {}} if inner is False else inner for name, inner in part[keyword].items()}} if keyword in part else {}
        )


def _resolve(at: str, part: Mapping[str, Json], validator: Any) -> None:
    from referencing.exceptions import Unresolvable  # noqa: PLC0415  # comes with jsonschema

    if isinstance(reference := part.get("$ref"), str):
        try:
            validator._resolver.lookup(reference)  # noqa: SLF001  # the public resolver is gone, and a dead $ref must be found at load
        except Unresolvable:
            raise _bad(at, f"$ref {show(reference)} leads nowhere") from None


def located(at: str, steps: Iterable[str | int]) -> str:
    """Spell the location that the steps below ``at`` lead to."""
    for step in steps:
        at = below(at, step)
    return at


def _deepest(errors: Sequence[ValidationError]) -> ValidationError:
    """Of the errors take the deepest, the first among equals, and go on into the branches of anyOf and oneOf."""
    error = max(errors, key=lambda each: len(each.absolute_path))
    return _deepest(error.context) if error.context else error


_ENDS: Mapping[str, tuple[str, str]] = {
    "exclusiveMaximum": ("below", ""),
    "exclusiveMinimum": ("above", ""),
    "maxItems": ("at most", "items"),
    "maxLength": ("at most", "code points"),
    "maxProperties": ("at most", "fields"),
    "maximum": ("at most", ""),
    "minItems": ("at least", "items"),
    "minLength": ("at least", "code points"),
    "minProperties": ("at least", "fields"),
    "minimum": ("at least", ""),
    "multipleOf": ("a multiple of", ""),
}
_EXPECTED: Mapping[str, str] = {"const": "exactly {}", "enum": "one of {}", "pattern": "a text in which {} is found"}


def _fault(error: ValidationError) -> Fault:
    return Fault(tuple(error.absolute_path), _expectation(error), described(error.instance))


def _expectation(error: ValidationError | SchemaError) -> str:
    keyword, value = str(error.validator), cast("Json", error.validator_value)
    if keyword in _ENDS:
        words, unit = _ENDS[keyword]
        return f"{words} {counted(value, unit)}"
    if keyword in _EXPECTED:
        return _EXPECTED[keyword].format(show(value))
    if keyword == "type":
        return " or ".join(value) if isinstance(value, list) else str(value)
    if keyword == "required":
        return f"the field {show(next(name for name in value if name not in cast('Json', error.instance)))}"
    if keyword == "additionalProperties" and value is False:
        return f"no field but {show(list(cast('Json', error.schema).get('properties', {})))}"
    return "no value" if (keyword, value) == ("not", {}) else f"{keyword} {show(value)}"


def described(value: Json) -> str:
    """Give a value for a finding: its type, its number of items where it has some, and a short text.

    >>> described("d1"), described(None), described([1, 2])
    ('string "d1"', 'null', 'array [1, 2]')
    """
    return "null" if value is None else f"{kind(value)} {show(value)}"


# asking a pydantic model


def model(kind_: Any) -> Find:
    """Judge by a pydantic model, or any type that pydantic can validate, in strict JSON mode.

    An error other than a validation error, which a validator of the user's may raise, is let through.
    """
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415  # the process of a trial must not load it for us

    adapter: TypeAdapter[Any] = TypeAdapter(kind_)

    def find(value: Json) -> Fault | None:
        try:
            adapter.validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            details = error.errors(include_url=False, include_context=False, include_input=False)
            return _deepest_detail(value, [(detail["loc"], detail["type"], detail["msg"]) for detail in details])
        return None

    return find


def _deepest_detail(value: Json, details: list[tuple[tuple[str | int, ...], str, str]]) -> Fault:
    faults = []
    for loc, code, message in details:
        steps, at = _walk(value, loc)
        if code == "missing":
            expected = f"the field {show(loc[-1])}"
        elif code == "extra_forbidden":
            expected = "no such field"
        else:
            expected = message.removeprefix("Input should be ")
        faults.append(Fault(steps, expected, described(at)))
    return max(faults, key=lambda fault: len(fault.steps))


def _walk(value: Json, loc: tuple[str | int, ...]) -> tuple[tuple[str | int, ...], Json]:
    """Follow a location as far as the value goes: pydantic puts names of union branches and validators in between."""
    steps: list[str | int] = []
    for step in loc:
        if step in (value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()):
            value = value[step]
            steps.append(step)
    return tuple(steps), value
