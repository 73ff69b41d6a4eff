"""Partial matching: what matches, what does not and why, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invcheck.assertions.difference import difference
from invcheck.assertions.patterns import mismatch, refuse
from invcheck.errors import UsageError
from invcheck.paths import equal

DOCUMENT = {"input": {"tenant": "acme", "n": 1, "hollow": ""}}


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        ({"a": 1}, {"a": 1.0, "b": 2}),
        ({"a": {"b": None}}, {"a": {"b": None, "c": 1}}),
        ({"a": [1, {"b": True}]}, {"a": [1, {"b": True, "c": 1}]}),
        ({"a": {}}, {"a": {"anything": 1}}),
        ({"a": "$.input.tenant"}, {"a": "acme"}),
        ({"a": {"literal": "$.input.tenant"}}, {"a": "$.input.tenant"}),
        ({"a": {"literal": {"contains": "x"}}}, {"a": {"contains": "x"}}),
        ({"a": {"contains": "cme"}}, {"a": "acme"}),
        ({"a": {"contains": "$.input.tenant"}}, {"a": "for acme"}),
        ({"contains": 1, "b": 2}, {"contains": 1, "b": 2}),
    ],
)
def test_what_matches(pattern: Any, value: Any) -> None:
    """Members that are not named are free; every other value must be the same JSON."""
    refuse(pattern, "every")
    assert mismatch(pattern, value, "$.x", DOCUMENT) is None


@pytest.mark.parametrize(
    ("pattern", "value", "path", "expected", "got", "decided"),
    [
        ({"a": 1}, {"a": 2}, "$.x.a", "1", "2", True),
        ({"a": 1}, {"a": True}, "$.x.a", "1", "boolean true", True),
        ({"a": "5"}, {"a": 5}, "$.x.a", '"5"', "integer 5", True),
        ({"a": 1, "b": 2}, {"a": 1, "c": 2}, "$.x", "a member 'b'", "an object without it, which has a, c", False),
        ({"a": 1}, {}, "$.x", "a member 'a'", "an object without it, which is empty", False),
        ({"a": 1}, 5, "$.x", "object with a", "integer 5", False),
        ({"a": {}}, {"a": []}, "$.x.a", "object with any members", "array []", False),
        ({"a": [1]}, {"a": [1, 2]}, "$.x.a", "array of 1", "array of 2: [1, 2]", True),
        ({"a": [1]}, {"a": 1}, "$.x.a", "array of 1", "integer 1", False),
        ({"a": [1, 2]}, {"a": [1, 3]}, "$.x.a[1]", "2", "3", True),
        ({"a": [1, {"b": 1}]}, {"a": [2, {}]}, "$.x.a[1]", "a member 'b'", "an object without it, which is empty", False),
        ({"a": "$.input.tenant"}, {"a": "other"}, "$.x.a", '"acme" (as $.input.tenant)', '"other"', True),
        ({"a": "$.input.gone"}, {"a": "other"}, "$.input.gone", "one value to compare with", "nothing: the path matches no value", False),
        ({"a": {"literal": [1]}}, {"a": [1, 2]}, "$.x.a", "[1]", "[1, 2]", True),
        ({"a": {"contains": "x"}}, {"a": "abc"}, "$.x.a", 'text that contains "x"', '"abc"', True),
        ({"a": {"contains": "x"}}, {"a": ["x"]}, "$.x.a", 'text that contains "x"', 'array ["x"]', False),
        ({"a": {"contains": "$.input.gone"}}, {"a": "x"}, "$.input.gone", "one value to compare with", None, False),
        ({"a": {"contains": "$.input.n"}}, {"a": "x"}, "$.input.n", "text that is not empty", "integer 1", False),
        ({"a": {"contains": "$.input.hollow"}}, {"a": "x"}, "$.input.hollow", "text that is not empty", 'string ""', False),
    ],
)
def test_what_does_not_match(pattern: Any, value: Any, path: Any, expected: Any, got: Any, decided: Any) -> None:
    """The finding names the place; a missing member and another structure cannot be turned by `not-`."""
    refuse(pattern, "every")
    found = mismatch(pattern, value, "$.x", DOCUMENT)
    assert (found.path, found.expected, found.decided) == (path, expected, decided)
    assert got is None or found.got == got


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ({}, "every must be a mapping of what must stand there, got {}"),
        ("x", 'got "x"'),
        ({"a": "$.x[*]"}, "$.x[*] can select several values"),
        ({"a": [{"b": "$..x"}]}, "$..x can select several values"),
        ({"a": {"contains": ""}}, 'contains needs a text that is not empty, got ""'),
        ({"a": {"contains": 5}}, "contains needs a text that is not empty, got 5"),
        ({"a": {"contains": "$.x[*]"}}, "can select several values"),
        ({"a": "$5"}, ""),
    ],
)
def test_patterns_that_cannot_be_meant_are_refused(pattern: Any, says: Any) -> None:
    """What matches everything, or compares with many values, is a mistake of the check."""
    with pytest.raises(UsageError) as caught:
        refuse(pattern, "every")
    assert says in caught.value.message
    assert caught.value.fields["field"] == "every"


SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 0.5]) | st.sampled_from(["", "a", "b"])
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3))


@given(VALUES, VALUES)
def test_two_values_differ_exactly_where_they_are_not_equal(one: Any, two: Any) -> None:
    """A place is told if and only if the values are not the same JSON."""
    assert (difference(one, two) is None) is equal(one, two)


@given(VALUES)
def test_a_value_matches_itself(value: Any) -> None:
    """Whatever holds no path and no special form matches what it spells."""
    assert mismatch(value, value, "$", value) is None


@given(VALUES, VALUES)
def test_a_literal_matches_what_is_equal(one: Any, two: Any) -> None:
    """A literal compares whole values."""
    assert (mismatch({"literal": one}, two, "$", None) is None) is equal(one, two)
