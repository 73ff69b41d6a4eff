"""JSON Schema: what is refused when it is read, what a fault says, and the lowered form against the validator itself."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from invcheck.assertions import validators
from invcheck.assertions.claim import Claim
from invcheck.assertions.fuse import Fuser, fuse
from invcheck.assertions.lowered import Unlowerable, lower, lowerable, require_each, scalar_test
from invcheck.assertions.structure.shape import Schema, Type
from invcheck.assertions.structure.texts import Equals
from invcheck.errors import UsageError
from invcheck.paths import compile_path
from tests.assertions.asking import kept_by


def refused(schema: Any) -> UsageError:
    """The error that a schema is refused with, as a claim refuses it."""
    with pytest.raises(UsageError) as caught:
        validators.refuse_schema(schema, "is_")
    assert caught.value.fields["field"] == "is_"
    assert caught.value.code == "BAD_SCHEMA"
    return caught.value


@pytest.mark.parametrize(
    ("schema", "where", "what"),
    [
        ([], "$", "a schema is a mapping, got array []"),
        ({}, "$", "accepts everything"),
        ({"title": "Answer", "$defs": {"a": {"type": "null"}}}, "$", "accepts everything"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "type": "null"}, "$", "2020-12"),
        ({"type": "object", "requred": ["a"]}, "$.requred", 'no keyword "requred"'),
        ({"type": "array", "additionalItems": False}, "$.additionalItems", "no keyword"),
        ({"properties": {"a": {"zzz": 1}}}, "$.properties.a.zzz", "no keyword"),
        ({"properties": {"a": 5}}, "$.properties.a", "a mapping or a boolean, got integer 5"),
        ({"anyOf": [{"type": "null"}, {"typ": 1}]}, "$.anyOf[1].typ", "no keyword"),
        ({"items": {"minLength": 3, "maxLength": 2}}, "$.items", "minLength 3 is above maxLength 2"),
        ({"minimum": 1.5, "maximum": 1}, "$", "minimum 1.5 is above maximum 1"),
        ({"$ref": "https://example.org/answer.json"}, "$", "nothing is fetched"),
        ({"properties": {"a": {"$dynamicRef": "other.json"}}}, "$.properties.a", "nothing is fetched"),
        ({"$ref": "#/$defs/gone"}, "$", '#/$defs/gone" leads nowhere'),
        ({"properties": {"a": {"$ref": "#nowhere"}}}, "$.properties.a", "leads nowhere"),
        ({"$ref": "#"}, "$", "leads back to itself"),
        ({"properties": {"a": {"$id": "https://example.org/b", "type": "null"}}}, "$.properties.a", "$id"),
        ({"pattern": "a("}, "$", "position 1"),
        ({"patternProperties": {"[": {}}}, "$", "position 0"),
        ({"type": "strng"}, "$.type", "strng"),
        ({"minLength": "3"}, "$.minLength", "integer expected"),
        ({"properties": ["a"]}, "$.properties", "object expected"),
    ],
)
def test_a_schema_that_would_be_ignored_in_part_is_refused(schema: Any, where: str, what: str) -> None:
    """What JSON Schema would silently ignore, fetch or never fit is refused with its place in the schema."""
    error = refused(schema)
    assert error.fields["path"] == where
    assert what in error.message


@pytest.mark.parametrize("schema", [{"anyOf": [True, {"type": "null"}]}, {"allOf": [True, {}]}])
def test_a_schema_of_parts_that_say_nothing_is_refused(schema: Any) -> None:
    """One open branch of anyOf is enough, and all of allOf; with a branch that says something each is taken."""
    with pytest.raises(UsageError, match="this schema accepts everything"):
        Schema("$", schema)
    assert Schema("$", {"anyOf": [False, {"type": "null"}]}).each(5) is not None
    assert Schema("$", {"allOf": [True, {"type": "null"}]}).each(None) is None


def test_a_type_of_every_item_is_fused_as_it_is_judged() -> None:
    """All texts keep the claim; another type breaks it, and so does an empty list unless it is allowed."""
    strict, lenient = fuse([Type("$.a[*]", "string")]), fuse([Type("$.a[*]", "string", allow_empty=True)])
    assert strict[1] == lenient[1] == []
    for document, kept, allowed in [({"a": ["x"]}, True, True), ({"a": []}, False, True), ({"a": ["x", 1]}, False, False)]:
        assert (strict[0](document), lenient[0](document)) == (kept, allowed)


def test_a_misspelt_keyword_is_told_the_nearest() -> None:
    """A keyword that there is not is refused with the one that was meant."""
    assert refused({"type": "object", "requred": ["a"]}).hint == "did you mean required?"
    assert refused({"type": "object", "zzzz": 1}).hint is None


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.org/a", "type": "null", "x-note": 1},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}}},
        {"properties": {"a": True, "b": False}, "additionalProperties": {"type": "null"}},
        {"properties": {"$ref": {"type": "string"}, "requred": {"type": "null"}}},
        {"enum": [{"requred": 1, "$ref": "https://example.org"}]},
        {"minLength": 2, "maxLength": 2},
    ],
)
def test_a_schema_that_is_whole_is_taken(schema: Any) -> None:
    """Local references, boolean schemas, notes and extensions are taken; data in enum is no schema."""
    validators.refuse_schema(schema, "is_")


@pytest.mark.parametrize(
    ("schema", "value", "fault"),
    [
        ({"type": ["array", "null"]}, 5, ((), "array or null", "integer 5")),
        ({"required": ["a", "b"]}, {"a": 1}, ((), 'the field "b"', 'object {"a": 1}')),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"b": 1}, ((), 'no field but ["a"]', 'object {"b": 1}')),
        ({"additionalProperties": {"type": "null"}}, {"b": 1}, (("b",), "null", "integer 1")),
        ({"const": 1}, True, ((), "exactly 1", "boolean true")),
        ({"enum": ["a"]}, None, ((), 'one of ["a"]', "null")),
        ({"minLength": 2}, "日", ((), "at least 2 code points", 'string "日"')),
        ({"maxItems": 1}, [1, 2], ((), "at most 1 item", "array [1, 2]")),
        ({"exclusiveMinimum": 0}, 0, ((), "above 0", "integer 0")),
        ({"multipleOf": 2}, 3, ((), "a multiple of 2", "integer 3")),
        ({"pattern": "^a"}, "b", ((), 'a text in which "^a" is found', 'string "b"')),
        ({"uniqueItems": True}, [1, 1], ((), "uniqueItems true", "array [1, 1]")),
        ({"properties": {"a": False}}, {"a": 1}, (("a",), "no value", "integer 1")),
        ({"items": {"anyOf": [{"type": "null"}, {"items": {"type": "string"}}]}}, [[1]], ((0, 0), "string", "integer 1")),
        ({"oneOf": [{"type": "integer"}, {"minimum": 0}]}, 1, ((), 'oneOf [{"type": "integer"}, {"minimum": 0}]', "integer 1")),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"type": "null"}}}, [1], ((0,), "null", "integer 1")),
        ({"properties": {"a": {"type": "null"}, "b": {"items": {"type": "null"}}}}, {"a": 1, "b": [2]}, (("b", 0), "null", "integer 2")),
        ({"properties": {"a": {"type": "null"}, "b": {"type": "null"}}}, {"a": 1, "b": 1}, (("a",), "null", "integer 1")),
    ],
)
def test_a_fault_names_the_deepest_place(schema: Any, value: Any, fault: Any) -> None:
    """Of several faults the deepest is told, the first among equals, with what was expected and found there."""
    assert validators.compiled(schema)(value) == fault


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("email", ["ada@example.org"], ["no address"]),
        ("date", ["2024-02-29"], ["2023-02-29", "29.2.2024", "2024-2-9"]),
        (
            "date-time",  # RFC 3339, section 5.8
            ["1985-04-12T23:20:50.52Z", "1996-12-19T16:39:57-08:00", "1937-01-01t12:00:27.87+00:20"],
            ["1985-04-12", "1985-04-12T23:20:50", "1985-04-12 23:20:50Z", "1985-13-12T23:20:50Z", "1985-04-12T25:20:50Z"],
        ),
        (
            "uri",  # RFC 3986, section 1.1.2
            [
                "ftp://ftp.is.co.za/rfc/rfc1808.txt",
                "ldap://[2001:db8::7]/c=GB?objectClass?one",
                "mailto:John.Doe@example.com",
                "urn:a:b%20c",
            ],
            ["example.org", "/a/b", "http://example.org/a b", "http://example.org/%zz", ":a", "1a:b", "http://exämple.org"],
        ),
        ("uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567e89b12d3a456426614174000", "x"]),
        ("ipv4", ["127.0.0.1"], ["127.0.0.256", "::1"]),
        ("ipv6", ["2001:db8::7"], ["2001:db8:::7", "127.0.0.1"]),
        ("regex", ["^a+$"], ["a("]),
    ],
)
def test_a_format_is_judged(name: str, good: list[str], bad: list[str]) -> None:
    """A text must have its format; what is no text has every format, as JSON Schema has it."""
    find = validators.compiled({"format": name})
    assert [text for text in good if find(text)] == []
    assert [text for text in bad if not find(text)] == []
    assert find(5) is None
    assert find(bad[0]) == ((), f'a text in the format "{name}"', f'string "{bad[0]}"')


def test_a_format_that_is_not_judged_is_refused() -> None:
    """It would be ignored in silence; the hint names those that are judged. One that a tool of the app's has is a note."""
    error = refused({"properties": {"a": {"type": "string", "format": "hostname"}}})
    assert (error.fields["path"], "hostname" in error.message) == ("$.properties.a.format", True)
    assert error.hint == "judged are date, date-time, email, ipv4, ipv6, regex, uri, uuid; or write a pattern"
    assert "integer 5" in validators.compiled({"type": "string", "format": "hostname"})(5).got


def test_equal_schemas_share_the_work() -> None:
    """The same schema, its keys in another order, is compiled once."""
    assert validators.compiled({"type": "string", "minLength": 1}) is validators.compiled({"minLength": 1, "type": "string"})


# the lowered form

SCALARS = st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from([0.5, 1.0, "", "a", "ab"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=6
)


def bounded(kind: str, low: str, high: str) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas of a type with some of two bounds."""
    return st.fixed_dictionaries({"type": st.just(kind)}, optional={low: st.integers(0, 1), high: st.integers(1, 3)})


LEAVES = st.one_of(
    bounded("string", "minLength", "maxLength"),
    bounded("integer", "minimum", "exclusiveMaximum"),
    bounded("number", "exclusiveMinimum", "maximum"),
    st.sampled_from([{"type": "boolean"}, {"type": "null"}, {"type": "array"}, {"type": "object"}]),
    st.builds(lambda values: {"enum": values}, st.lists(SCALARS, min_size=1, max_size=3)),
    st.builds(lambda value: {"const": value}, SCALARS),
)


def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of arrays, objects and what may be null, over others."""
    objects = st.builds(
        lambda properties, required, closed: {
            "type": "object",
            "properties": properties,
            "required": [name for name in required if not closed or name in properties],
            **({"additionalProperties": False} if closed else {}),
        },
        st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        st.lists(st.sampled_from("abc"), unique=True, max_size=2),
        st.booleans(),
    )
    arrays = st.builds(lambda items, low: {"type": "array", "items": items, "minItems": low}, inner, st.integers(0, 1))
    nullable = st.builds(lambda schema: {"anyOf": [schema, {"type": "null"}]}, inner)
    either = st.builds(lambda schema: {**schema, "type": [schema["type"], "null"]}, objects | arrays)
    return objects | arrays | nullable | either


PLAIN = st.recursive(LEAVES, grown, max_leaves=4)


@given(PLAIN, VALUES)
def test_a_lowered_schema_says_fits_only_of_what_fits(schema: Any, value: Any) -> None:
    """A plain schema is taken by JSON Schema too, and whatever its lowered form lets through fits."""
    if lowerable(schema):
        Draft202012Validator.check_schema(schema)
        claim = Schema("$.v", schema)
        if kept_by([claim])({"v": value}):
            assert Draft202012Validator(schema).is_valid(value)
            assert claim.each({"v": value}) is None


@given(PLAIN)
def test_plain_schemas_are_lowered(schema: Any) -> None:
    """All but the odd ones (null inside of null) have a lowered form."""
    twice = '"anyOf": [{"anyOf"' in str(schema).replace("'", '"')
    assert lowerable(schema) or twice or "null" in str(schema)


@pytest.mark.parametrize(
    ("schema", "fits"),
    [
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "integer"}}},
                "required": ["a"],
            },
            [{"a": "x"}, {"a": "x", "b": [1]}, {"a": "", "c": 1}],
        ),
        ({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"], "additionalProperties": False}, [{"a": None}]),
        ({"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": False}, [{}, {"a": None}]),
        ({"type": ["object", "null"], "properties": {"a": {"enum": ["x", 1, None, True]}}}, [None, {}, {"a": 1.0}, {"a": True}]),
        (
            {"anyOf": [{"type": "null"}, {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}]},
            [None, [], [[]], [[1, 0.5]]],
        ),
        ({"type": "integer", "minimum": 0, "exclusiveMaximum": 2.5}, [0, 2]),
        ({"title": "t", "description": "d", "default": 5, "$comment": "c", "type": "string", "minLength": 1, "maxLength": 2}, ["a", "ab"]),
    ],
)
def test_a_lowered_schema_lets_through_what_fits(schema: Any, fits: list[Any]) -> None:
    """A lowered schema is no refusal of everything: these values fit, one path deep and in a list."""
    assert lowerable(schema)
    for value in fits:
        assert kept_by([Schema("$.v.w", schema)])({"v": {"w": value}}) is True
    assert kept_by([Schema("$.v[*].w", schema)])({"v": [{"w": value} for value in fits]}) is True
    for wrong in ([], {}, {"a": 0}, {"a": "x", "b": [True]}, "", 2.5, -1, [["x"]], {"c": 1}):
        if kept_by([Schema("$.v", schema)])({"v": wrong}):
            assert Draft202012Validator(schema).is_valid(wrong)


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"type": "strng"},
        {"type": 5},
        {"type": ["string", "integer"]},
        {"type": ["null", "null"]},
        {"type": "string", "pattern": "a"},
        {"type": "string", "minLength": -1},
        {"type": "string", "minLength": True},
        {"type": "string", "minItems": 1},
        {"type": "integer", "minimum": "1"},
        {"type": "array", "items": True},
        {"type": "object", "properties": []},
        {"type": "object", "additionalProperties": True},
        {"type": "object", "required": ["a"], "additionalProperties": False},
        {"type": "object", "required": ["a", "a"]},
        {"type": "object", "required": [1]},
        {"type": "object", "title": 5},
        {"enum": []},
        {"enum": [[1]]},
        {"const": {}},
        {"anyOf": [{"type": "null"}, {"type": "null"}]},
        {"anyOf": [{"type": "null"}]},
        {"properties": {}},
    ],
)
def test_what_is_not_plain_is_not_lowered(schema: Any) -> None:
    """A schema that says more, or says it wrongly, is left to the validator."""
    assert not lowerable(schema)


def test_a_path_that_is_not_plain_is_not_lowered() -> None:
    """A path that needs the engine has no lowered form, and the claim is then asked as it is."""
    schema = {"type": "string"}
    with pytest.raises(Unlowerable):
        lower(schema, Fuser(), compile_path("$..v"))
    assert require_each(Fuser(), compile_path("$..v"), "{0}") is False
    with pytest.raises(Unlowerable):
        scalar_test(Fuser(), "v", [])
    claims: list[Claim] = [Schema("$..v", schema), Schema("$.v", {"type": "string", "pattern": "a"}), Equals("$..v", "a")]
    assert kept_by(claims)({"v": "a"}) is True
    assert kept_by(claims)({"v": "b"}) is False


def test_a_lookup_in_one_branch_is_not_used_in_another() -> None:
    """A member that is looked up only where it is there is looked up again by a later claim."""
    optional = Schema("$.v", {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "null"}}}}})
    kept = kept_by([optional, Equals("$.v.a.b", None)])
    assert kept({"v": {"a": {"b": None}}}) is True
    assert kept({"v": {}}) is False


def test_plain_schemas_load_neither_jsonschema_nor_pydantic() -> None:
    """Building and keeping a claim with a plain schema loads no validator, and a named model is not imported either."""
    code = (
        "import sys; from invcheck import Schema; from invcheck.assertions.fuse import fuse\n"
        "kept, _ = fuse([Schema('$.v', {'type': 'object', 'properties': {'a': {'type': 'string'}}, 'required': ['a']})])\n"
        "Schema('$.v', 'nowhere_to_be_found:Model')\n"
        "assert kept({'v': {'a': 'x'}})\n"
        "print(sorted({'jsonschema', 'pydantic', 'jsonpath_ng', 'hypothesis'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
