"""What a value is held against: a JSON Schema, asked for the one deepest fault."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from invcheck.assertions.bounds import counted
from invcheck.assertions.formats import checker
from invcheck.assertions.lowered import lowerable
from invcheck.assertions.schemas import bad, parts, refuse
from invcheck.canonical import canonical
from invcheck.errors import UsageError
from invcheck.paths import below, kind
from invcheck.show import show
from invcheck.vocabulary import Json

if TYPE_CHECKING:
    from jsonschema.exceptions import SchemaError, ValidationError


class Fault(NamedTuple):
    """What is wrong with a value: where below it, what was expected there, and what was found."""

    steps: tuple[str | int, ...]
    expected: str
    got: str


Find: TypeAlias = Callable[[Json], Fault | None]
"""Judge one value: None when it fits, else its deepest fault."""


def refuse_schema(schema: Json, field: str) -> None:
    """Refuse what is no schema, naming the claim's field that holds it; a plain one needs no second, slow opinion."""
    try:
        refuse(schema)
        if not lowerable(schema):
            compiled(schema)
    except UsageError as error:
        error.fields["field"] = field
        raise


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
        raise bad(located("$", error.absolute_path), _expectation(error) + f" expected, got {show(error.instance)}") from None
    for _, part in parts(schema, "$"):
        _spell_out(part)
    # an empty registry, because the default one would fetch what it does not know
    validator = Draft202012Validator(schema, registry=Registry(), format_checker=checker())

    def find(value: Json) -> Fault | None:
        errors = list(validator.iter_errors(value))
        return _fault(_deepest(errors)) if errors else None

    try:
        for at, part in parts(schema, "$"):
            _resolve(at, part, validator)
        find(None)
    except RecursionError:
        raise bad("$", "a $ref leads back to itself without reading anything") from None
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
            raise bad(at, f"$ref {show(reference)} leads nowhere") from None


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
_EXPECTED: Mapping[str, str] = {
    "const": "exactly {}",
    "format": "a text in the format {}",
    "enum": "one of {}",
    "pattern": "a text in which {} is found",
}


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
