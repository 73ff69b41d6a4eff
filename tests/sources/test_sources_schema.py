"""Values of a schema: always valid, benign at 0, and nothing of the schema read past."""

from __future__ import annotations

import enum
import json
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, field_validator

from invcheck import DriftingModel, testing
from invcheck.choices import ReplaySource, SeededSource
from invcheck.errors import DoubleError, ScriptedModelError
from invcheck.record import Record, opened
from invcheck.sources.conform import breach
from invcheck.sources.schema import supported
from invcheck.sources.values import Values


class Label(enum.Enum):
    """A label of a ticket."""

    BILLING = "billing"
    OTHER = "other"


class Cite(BaseModel):
    """A citation."""

    model_config = ConfigDict(extra="forbid")
    id: Literal["d1", "d2", "d3"]
    score: float = Field(ge=0, le=1)


class Answer(BaseModel):
    """An answer, as an app would declare it."""

    answer: str = Field(min_length=10, max_length=60, description="what the user reads")
    cites: list[Cite] = Field(min_length=1, max_length=3)
    label: Label
    stars: int = Field(gt=0, lt=6, examples=[3])
    sure: bool = True
    note: str | None = None
    nothing: None = None
    best: Cite | None = None


def test_a_pydantic_model_gives_instances_that_validate() -> None:
    """Text and value of each reply are the same valid object, and drift from seed to seed."""
    texts = set()
    for seed in range(200):
        with testing(seed=seed):
            reply = DriftingModel(Answer)("q")
        assert isinstance(reply.value, Answer)
        assert reply.value == Answer.model_validate_json(reply.text)
        texts.add(reply.text)
    assert len(texts) > 150


_scalars = st.one_of(
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.builds(lambda a, b: {"type": "string", "minLength": min(a, b), "maxLength": max(a, b)}, st.integers(0, 9), st.integers(0, 60)),
    st.just({"type": "string", "title": "T", "description": "D", "default": "x", "examples": ["y"]}),
    st.builds(lambda a, b: {"type": "integer", "minimum": min(a, b), "maximum": max(a, b)}, st.integers(-50, 50), st.integers(-50, 50)),
    st.builds(lambda a, b: {"type": "integer", "exclusiveMinimum": a, "exclusiveMaximum": a + b}, st.integers(-9, 9), st.integers(2, 9)),
    st.builds(lambda a, b: {"type": "number", "minimum": min(a, b), "exclusiveMaximum": max(a, b) + 1}, st.floats(-9, 9), st.floats(-9, 9)),
    st.builds(lambda a: {"type": "number", "exclusiveMinimum": a}, st.integers(-9, 9)),
    st.builds(lambda a: {"type": "number", "maximum": a}, st.integers(-9, 9)),
    st.builds(lambda a: {"type": "integer", "maximum": a}, st.integers(-9999, 9999)),
    st.builds(lambda a: {"type": "integer", "minimum": a}, st.integers(-9999, 9999)),
    st.builds(lambda a: {"enum": a}, st.lists(st.sampled_from([None, True, 1, 1.5, "a", [1], {"b": 2}]), min_size=1, max_size=4)),
    st.builds(lambda a: {"const": a}, st.sampled_from([None, False, 0, "a", [], {"b": [1]}])),
    st.just({"type": "integer", "enum": ["1", 2, True]}),
)


def _nested(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.builds(lambda items, least: {"type": "array", "items": items, "minItems": least}, inner, st.integers(0, 3)),
        st.builds(lambda items, most: {"type": "array", "items": items, "maxItems": most}, inner, st.integers(0, 3)),
        st.builds(
            lambda fields, closed: {"type": "object", "properties": fields, "required": sorted(fields)[::2], **closed},
            st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
            st.sampled_from([{}, {"additionalProperties": False}]),
        ),
        st.builds(lambda one: {"anyOf": [one, {"type": "null"}]}, inner),
    )


schemas = st.recursive(_scalars, _nested, max_leaves=6)


@settings(max_examples=300)
@given(schemas, st.integers(0, 2**32))
def test_every_value_is_valid(schema: dict[str, Any], seed: int) -> None:
    """What is chosen is valid under the schema, by our own check and by an independent validator."""
    value = Values(schema).value(SeededSource(seed))
    assert breach(value, schema, schema) is None
    jsonschema.Draft202012Validator(schema).validate(value)
    assert json.loads(json.dumps(value)) == value


@settings(max_examples=300)
@given(
    schemas,
    st.recursive(
        st.sampled_from([None, True, False, 0, 1, 2.0, 1.5, "a", "1", "xxxxxxxxxxxxxx"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
        max_leaves=4,
    ),
)
def test_our_check_agrees_with_an_independent_validator(schema: dict[str, Any], value: Any) -> None:
    """The check before serving is right on values that nobody chose, valid and invalid."""
    assert (breach(value, schema, schema) is None) == jsonschema.Draft202012Validator(schema).is_valid(value)


def test_the_benign_value_is_the_smallest() -> None:
    """Option 0 everywhere: no optional field, the fewest items, the shortest text, the number nearest to 0, the value not null."""
    schema = {
        "type": "object",
        "properties": {
            "s": {"type": "string", "minLength": 2},
            "a": {"type": "array", "items": {"type": "null"}, "minItems": 1},
            "i": {"type": "integer", "minimum": -5, "maximum": 5},
            "h": {"type": "integer", "maximum": -3},
            "n": {"type": "number", "minimum": 2},
            "b": {"type": "boolean"},
            "o": {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
            "left out": {"type": "null"},
        },
        "required": ["s", "a", "i", "h", "n", "b", "o"],
    }
    value = Values(schema).value(ReplaySource([]))
    assert value == {"s": "xx", "a": [None], "i": 0, "h": -3, "n": 2.0, "b": False, "o": False}


def test_an_optional_field_and_null_are_reached() -> None:
    """What is not benign is reached all the same."""
    schema = {"type": "object", "properties": {"o": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}}}
    values = Values(schema)
    seen = {json.dumps(values.value(SeededSource(seed))) for seed in range(60)}
    assert seen == {"{}", '{"o": null}', '{"o": true}', '{"o": false}'}


REFUSED: list[tuple[Any, str, str]] = [
    ({"type": "string", "pattern": "a+"}, "$.pattern", '"pattern" is not supported'),
    ({"type": "string", "format": "date"}, "$.format", '"format" is not supported'),
    ({"type": "integer", "multipleOf": 2}, "$.multipleOf", "not supported"),
    ({"type": "array", "items": {"type": "null"}, "uniqueItems": True}, "$.uniqueItems", "not supported"),
    ({"type": "array", "prefixItems": []}, "$.prefixItems", "not supported"),
    ({"oneOf": [{"type": "null"}]}, "$.oneOf", "not supported"),
    ({"allOf": []}, "$.allOf", "not supported"),
    ({"type": "string", "minimum": 1}, "$.minimum", "not supported"),
    ({"type": "null", "properties": {}}, "$.properties", "not supported"),
    (
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string", "format": "x"}}}},
        "$.properties.a.items.format",
        "format",
    ),
    ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "string", "pattern": "x"}}}, "$.$defs.A.pattern", "pattern"),
    ({"type": "null", "$defs": {"Unused": {"not": {}}}}, "$.$defs.Unused.not", "not supported"),
    ({"$ref": "#/$defs/A", "minimum": 1, "$defs": {"A": {"type": "null"}}}, "$.minimum", "not supported"),
    ({"$ref": "#/$defs/B", "$defs": {"A": {"type": "null"}}}, "$.$ref", "no name in $defs"),
    ({"$ref": "other.json"}, "$.$ref", "no name in $defs"),
    ({"$ref": 3}, "$.$ref", "no name in $defs"),
    ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "array", "items": {"$ref": "#/$defs/A"}}}}, "$.$defs.A.items.$ref", "recursion"),
    ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "$.anyOf", "one of its options is null"),
    ({"anyOf": {"type": "null"}}, "$.anyOf", "one of its options is null"),
    ({"anyOf": [{"type": "null"}, {"type": "string", "pattern": "x"}]}, "$.anyOf[1].pattern", "pattern"),
    ({"anyOf": [{"type": "null"}, 3]}, "$.anyOf[1]", "a schema is an object"),
    ({"enum": []}, "$", "no listed value"),
    ({"enum": 3}, "$", "no listed value"),
    ({"enum": ["1"], "type": "integer"}, "$", "no listed value"),
    ({"const": "1", "type": "integer"}, "$", "no listed value"),
    ({"enum": ["1"], "type": "text"}, "$.type", "the type"),
    ({"enum": ["1"], "minLength": 1}, "$.minLength", "not supported"),
    ({}, "$", "needs a type"),
    ({"properties": {}}, "$", "needs a type"),
    ({"weird": 1}, "$.weird", "not supported"),
    ({"type": "text"}, "$.type", "the type"),
    ({"type": ["string", "null"]}, "$.type", "the type"),
    ({"type": "object", "additionalProperties": True}, "$.additionalProperties", "as false only"),
    ({"type": "object", "additionalProperties": {"type": "null"}}, "$.additionalProperties", "as false only"),
    ({"type": "object", "required": ["a"]}, "$.required", "does not describe it"),
    ({"type": "object", "properties": []}, "$", "properties is an object"),
    ({"type": "object", "required": "a"}, "$", "properties is an object"),
    ({"type": "object", "properties": {"a": True}}, "$.properties.a", "a schema is an object"),
    ({"type": "array"}, "$", "an array needs items"),
    ({"type": "array", "items": {"type": "null"}, "minItems": 2, "maxItems": 1}, "$.maxItems", "no value fits"),
    ({"type": "string", "minLength": -1}, "$.minLength", "integer from 0"),
    ({"type": "string", "maxLength": 1.5}, "$.maxLength", "integer from 0"),
    ({"type": "string", "maxLength": True}, "$.maxLength", "integer from 0"),
    ({"type": "integer", "minimum": 2, "maximum": 1}, "$", "no integer lies"),
    ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}, "$", "no integer lies"),
    ({"type": "number", "minimum": 2, "maximum": 1}, "$", "no number lies"),
    ({"type": "number", "minimum": 1, "exclusiveMaximum": 1}, "$", "no number lies"),
    ({"type": "number", "minimum": "1"}, "$.minimum", "minimum is a number"),
    ({"type": "number", "minimum": True}, "$.minimum", "minimum is a number"),
    ({"type": "null", "$defs": []}, "$.$defs", "$defs is an object"),
    (True, "$", "a schema is an object"),
]


@pytest.mark.parametrize(("schema", "path", "says"), REFUSED)
def test_what_is_not_supported_is_refused_with_its_path(schema: Any, path: str, says: str) -> None:
    """No keyword is read past but title, description, default and examples: any other is refused, and where it stands."""
    with pytest.raises(DoubleError) as caught:
        supported(schema)
    assert (caught.value.code, caught.value.fields["path"]) == ("SCHEMA_UNSUPPORTED", path)
    assert says in caught.value.message
    assert caught.value.message.startswith(f"{path}: ")


def test_a_double_of_an_unsupported_schema_is_refused_when_it_is_built() -> None:
    """No trial begins with a schema that no value could be made of."""

    class Strict(BaseModel):
        when: Annotated[str, Field(pattern="a+")]

    with testing(), pytest.raises(DoubleError, match=r"\$\.properties\.when\.pattern"):
        DriftingModel(Strict)


def test_references_are_followed() -> None:
    """A reference may be used twice and hold others; names are unescaped as JSON Pointer says."""
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x~1y"}, "b": {"$ref": "#/$defs/x~1y", "description": "again"}},
        "required": ["a", "b"],
        "$defs": {"x/y": {"$ref": "#/$defs/z~0"}, "z~": {"const": 1}},
    }
    assert Values(schema).value(SeededSource(0)) == {"a": 1, "b": 1}
    assert breach({"a": 1, "b": 2}, schema, schema) == "$.b is not the constant"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"a": 1}, "$ lacks b"),
        ({"a": 1, "b": True, "c": 0}, "$ has c, which is not allowed"),
        ({"a": "1", "b": True}, "$.a is no integer"),
        ({"a": 9, "b": True}, "$.a breaks maximum 3"),
        ({"a": 1, "b": 1}, "$.b is none of the listed values"),
        ({"a": 1.0, "b": True}, None),
    ],
)
def test_the_check_says_what_is_wrong(value: Any, says: str | None) -> None:
    """Path and rule of the first breach; 1.0 is an integer, as JSON Schema says, and true is no 1."""
    properties = {"a": {"type": "integer", "maximum": 3}, "b": {"enum": [True]}}
    schema = {"type": "object", "properties": properties, "required": ["a", "b"], "additionalProperties": False}
    assert breach(value, schema, schema) == says


def test_an_array_of_no_items_needs_none() -> None:
    """Where no item fits, none has to be described."""
    assert Values({"type": "array", "maxItems": 0}).value(SeededSource(1)) == []


def test_a_class_with_a_schema_is_enough() -> None:
    """Anything with model_json_schema drifts; without model_validate the value stays plain."""

    class Own:
        @staticmethod
        def model_json_schema() -> dict[str, Any]:
            return {"enum": [{"a": 1}]}

    with testing():
        reply = DriftingModel(Own)("q")
    assert (reply.text, reply.value) == ('{"a": 1}', {"a": 1})


def test_a_validator_that_knows_more_than_the_schema_is_named() -> None:
    """A value that the schema allows and the class refuses is the test's problem: it raises, and stays as errored."""

    class Picky(BaseModel):
        x: int = Field(ge=0, le=3)

        @field_validator("x")
        @classmethod
        def never(cls, _value: int) -> int:
            raise ValueError("never")

        model_config = ConfigDict(json_schema_extra=lambda schema: schema.update(required=["x"]))

    record = Record()
    with opened(record), pytest.raises(ScriptedModelError, match="the model class refuses"):
        DriftingModel(Picky)("q")
    assert [finding.code for finding in record.findings()] == ["REPLY_INVALID"]


def test_a_mistake_of_the_generator_is_never_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value is checked before it is served, so a generator that errs raises instead."""
    monkeypatch.setattr(Values, "value", lambda self, source: 3)
    record = Record()
    with opened(record), pytest.raises(ScriptedModelError, match=r"no such value: \$ is no string"):
        DriftingModel({"type": "string"})("q")
