"""Values of a JSON Schema, chosen: the part of the language that pydantic's models of plain data need, and nothing silently.

Any other keyword is refused with its path, since a generator that reads past a keyword makes values that break it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from invcheck.choices import Source
from invcheck.errors import DoubleError, ScriptedModelError
from invcheck.freeze import show, snapshot
from invcheck.request import Request
from invcheck.sources.conform import breach
from invcheck.vocabulary import Json, Reply, Text

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

WORDS = ("", "ok", "refund", "two words", "line\nbreak", "é中文", "😀", '"quoted"', "{brace}", "```", "<b>", "0", "null")
SPAN = 1000
"""How far a number goes from a bound, or from 0, where the schema gives no other."""
ITEMS = 5
"""How many items an array has beyond its least where the schema gives no bound."""
CHARACTERS = 40
"""How many code points a string has beyond its least where the schema gives no bound."""


class Values:
    """The values of one schema; `fake` is a drifting double's function. DoubleError where the schema is not supported.

    Choices are ordered, so that option 0 is benign: the fewest optional fields, the fewest items, the shortest text, the
    number nearest to 0.

    >>> from invcheck.choices import ReplaySource
    >>> Values({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1}).value(ReplaySource([1, 0, 1]))
    ['a', 'b']
    """

    def __init__(self, schema: Any) -> None:
        self._model = None if isinstance(schema, Mapping) else schema
        plain: Json = snapshot(schema if isinstance(schema, Mapping) else schema.model_json_schema())
        self.schema = supported(plain)

    def value(self, source: Source) -> Json:
        """Choose one value."""
        return _value(source, self.schema, self.schema)

    def fake(self, source: Source, request: Request) -> Reply:  # noqa: ARG002  # a fake's two parameters
        """Choose one value and give it as a reply: its JSON text, and in ``value`` the value, or the model's instance."""
        value = self.value(source)
        wrong = breach(value, self.schema, self.schema)
        if wrong:
            raise ScriptedModelError(f"the schema has no such value: {wrong}", code="REPLY_INVALID")
        return Reply((Text(json.dumps(value, ensure_ascii=False)),), value=value if self._model is None else self._instance(value))

    def _instance(self, value: Json) -> object:
        validate = getattr(self._model, "model_validate", None)
        if validate is None:
            return value
        try:
            instance: object = validate(value)
        except ValueError as error:
            raise ScriptedModelError(
                f"the model class refuses {show(value)}, which its JSON Schema allows",
                code="REPLY_INVALID",
                hint="a validator knows more than the schema: answer from a function instead",
            ) from error
        return instance


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
    name = _target(ref)
    if name not in definitions:
        raise _refusal(path, f"{show(ref, 60)} is no name in $defs")
    if name in above:
        raise _refusal(path, f'"{name}" refers to itself, and recursion is not supported for drift')
    _check(definitions[name], f"$.$defs.{name}", definitions, (*above, name))


def _target(ref: Json) -> str | None:
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
        low, high = _integers(schema)
        empty = low > high
    else:
        bottom, top = _floats(schema)
        empty = bottom > top or (bottom == top and _excluded(bottom, schema))
    if empty:
        raise _refusal(path, f"no {kind} lies within its bounds")


def _integers(schema: dict[str, Json]) -> tuple[int, int]:
    lows = [math.ceil(schema["minimum"])] if "minimum" in schema else []
    lows += [math.floor(schema["exclusiveMinimum"]) + 1] if "exclusiveMinimum" in schema else []
    highs = [math.floor(schema["maximum"])] if "maximum" in schema else []
    highs += [math.ceil(schema["exclusiveMaximum"]) - 1] if "exclusiveMaximum" in schema else []
    low = max(lows) if lows else min(-SPAN, min(highs) - SPAN) if highs else -SPAN
    return low, min(highs) if highs else max(SPAN, low + SPAN)


def _floats(schema: dict[str, Json]) -> tuple[float, float]:
    lows = [schema[name] for name in ("minimum", "exclusiveMinimum") if name in schema]
    highs = [schema[name] for name in ("maximum", "exclusiveMaximum") if name in schema]
    low = float(max(lows)) if lows else min(0.0, float(min(highs)) - SPAN) if highs else 0.0
    return low, float(min(highs)) if highs else low + SPAN


def _excluded(value: float, schema: dict[str, Json]) -> bool:
    return value in (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))


def _value(source: Source, schema: dict[str, Json], root: dict[str, Json]) -> Json:
    if "$ref" in schema:
        return _value(source, root["$defs"][_target(schema["$ref"])], root)
    if "anyOf" in schema:
        # a value is the plain case and null the drift from it
        options = sorted(schema["anyOf"], key=lambda option: option.get("type") == "null")
        return _value(source, source.pick(options), root)
    if "const" in schema:
        return snapshot(schema["const"])
    if "enum" in schema:
        return snapshot(source.pick([value for value in schema["enum"] if not breach(value, schema, root)]))
    return _TYPED[schema["type"]](source, schema, root)


def _object(source: Source, schema: dict[str, Json], root: dict[str, Json]) -> Json:
    required = schema.get("required", [])
    chosen = {}
    for name, inner in schema.get("properties", {}).items():
        if name in required or source.choose(2):
            chosen[name] = _value(source, inner, root)
    return chosen


def _array(source: Source, schema: dict[str, Json], root: dict[str, Json]) -> Json:
    least = schema.get("minItems", 0)
    most = min(schema.get("maxItems", math.inf), least + ITEMS)
    return [_value(source, schema["items"], root) for _ in range(source.integer(least, int(most)))]


def _string(source: Source, schema: dict[str, Json], root: dict[str, Json]) -> Json:  # noqa: ARG001  # as its siblings
    least = schema.get("minLength", 0)
    most = int(min(schema.get("maxLength", math.inf), least + CHARACTERS))
    length = source.integer(least, most)
    word = source.pick(WORDS)[:length]
    return word + "x" * (length - len(word))


def _integer(source: Source, schema: dict[str, Json], root: dict[str, Json]) -> Json:  # noqa: ARG001  # as its siblings
    low, high = _integers(schema)
    nearest = min(max(0, low), high)
    return low + (source.choose(high - low + 1) + nearest - low) % (high - low + 1)


def _number(source: Source, schema: dict[str, Json], root: dict[str, Json]) -> Json:  # noqa: ARG001  # as its siblings
    low, high = _floats(schema)
    value = low + (high - low) * (source.choose(SPAN + 1) / SPAN)
    return (low + high) / 2 if _excluded(value, schema) or not low <= value <= high else value


_TYPED: dict[str, Callable[[Source, dict[str, Json], dict[str, Json]], Json]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": lambda source, _, __: source.choose(2) == 1,
    "null": lambda _, __, ___: None,
}
