"""Values of a JSON Schema, chosen: every one valid, option 0 the smallest."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from invcheck.choices import Source
from invcheck.errors import ScriptedModelError
from invcheck.request import Request
from invcheck.show import show
from invcheck.snapshot import snapshot
from invcheck.sources.conform import breach
from invcheck.sources.schema import SPAN, excluded, floats, integers, supported, target
from invcheck.vocabulary import Json, Reply, Text

WORDS = ("", "ok", "refund", "two words", "line\nbreak", "é中文", "😀", '"quoted"', "{brace}", "```", "<b>", "0", "null")
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


def _value(source: Source, schema: dict[str, Json], root: dict[str, Json]) -> Json:
    if "$ref" in schema:
        return _value(source, root["$defs"][target(schema["$ref"])], root)
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
    low, high = integers(schema)
    nearest = min(max(0, low), high)
    return low + (source.choose(high - low + 1) + nearest - low) % (high - low + 1)


def _number(source: Source, schema: dict[str, Json], root: dict[str, Json]) -> Json:  # noqa: ARG001  # as its siblings
    low, high = floats(schema)
    value = low + (high - low) * (source.choose(SPAN + 1) / SPAN)
    return (low + high) / 2 if excluded(value, schema) or not low <= value <= high else value


_TYPED: dict[str, Callable[[Source, dict[str, Json], dict[str, Json]], Json]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": lambda source, _, __: source.choose(2) == 1,
    "null": lambda _, __, ___: None,
}
