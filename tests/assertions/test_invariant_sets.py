"""Subset, superset, same-set and disjoint: kept, broken, vacuous, under `not-`; refused where they say nothing."""

from __future__ import annotations

from typing import Any

import pytest

from invcheck.assertions import Disjoint, Not, SameSet, Subset, Superset, build
from invcheck.assertions.invariants.sets import _Relation
from invcheck.assertions.selection import identity
from invcheck.errors import UsageError
from invcheck.paths import compile_path

DOCUMENT = {
    "cites": ["d1", "d9", "d2"],
    "known": ["d1", "d2", "d3"],
    "few": ["d2", "d1", "d1"],
    "label": "d3",
    "none": [],
    "mixed": [1, True, {"a": 1}, [0], None],
    "floats": [1.0, {"a": 1.0}],
}


@pytest.mark.parametrize(
    ("kept", "broken", "where"),
    [
        (Subset("$.few[*]", "$.known[*]"), Subset("$.cites[*]", "$.known[*]"), ("$.cites[1]", '⊆ ["d1", "d2", "d3"]', '"d9"')),
        (Subset("$.few", "$.known"), Subset("$.cites", "$.known"), ("$.cites[1]", '⊆ ["d1", "d2", "d3"]', '"d9"')),
        (Subset("$.label", ["d3", "d4"]), Subset("$.label", "$.few"), ("$.label", '⊆ ["d2", "d1", "d1"]', '"d3"')),
        (Subset("$.label", "d3"), Subset(["d3", "d4"], "$.known"), (None, '⊆ ["d1", "d2", "d3"]', '"d4"')),
        (Subset("$.floats[0]", "$.mixed"), Subset("$.mixed[*]", "$.floats[*]"), ("$.mixed[1]", '⊆ [1.0, {"a": 1.0}]', "true")),
        (
            Superset("$.known[*]", "$.few[*]"),
            Superset("$.known[*]", "$.cites[*]"),
            ("$.known[*]", '⊇ ["d1", "d9", "d2"]', '["d1", "d2", "d3"], which lacks "d9"'),
        ),
        (Superset("$.mixed", [1.0, None]), Superset(["d1"], "$.few"), (None, '⊇ ["d2", "d1", "d1"]', '["d1"], which lacks "d2"')),
        (
            SameSet("$.few[*]", ["d1", "d2"]),
            SameSet("$.few[*]", ["d1", "d2", "d3"]),
            ("$.few[*]", 'the same set as ["d1", "d2", "d3"]', '["d2", "d1", "d1"], which lacks "d3"'),
        ),
        (
            SameSet("$.known", ["d3", "d2", "d1"]),
            SameSet("$.cites", "$.known"),
            ("$.cites[1]", 'the same set as ["d1", "d2", "d3"]', '"d9"'),
        ),
        (Disjoint("$.few[*]", ["d3"]), Disjoint("$.cites[*]", ["d9", "d8"]), ("$.cites[1]", 'none of ["d9", "d8"]', '"d9"')),
        (Disjoint("$.mixed", [False, "1"]), Disjoint(["d3"], "$.known"), (None, 'none of ["d1", "d2", "d3"]', '"d3"')),
    ],
)
def test_kept_broken_and_their_opposites(kept: Any, broken: Any, where: Any) -> None:
    """A relation is over sets of JSON values; the finding names the first value that speaks against it."""
    assert kept.each(DOCUMENT) is None
    found = broken.each(DOCUMENT)
    assert (found.path, found.expected, found.got, found.decided) == (*where, True)
    assert Not(broken).each(DOCUMENT) is None
    assert Not(kept).each(DOCUMENT).got == "it holds"


@pytest.mark.parametrize("kind", [Subset, Superset, SameSet, Disjoint])
@pytest.mark.parametrize(
    ("sides", "path", "got"),
    [
        (("$.gone[*]", ["x"]), "$.gone[*]", "nothing: the path matches no value"),
        (("$.none[*]", ["x"]), "$.none[*]", "nothing: the path matches no value"),
        (("$.none", ["x"]), "$.none", "nothing: the array is empty"),
        ((["x"], "$.gone"), "$.gone", "nothing: the path matches no value"),
        (("$.known[*]", "$.none[*]"), "$.none[*]", "nothing: the path matches no value"),
    ],
)
def test_a_side_without_values_is_not_kept(kind: Any, sides: Any, path: Any, got: Any) -> None:
    """Neither the claim nor its opposite is kept of nothing, unless the check says that nothing is fine."""
    for claim in (kind(*sides), Not(kind(*sides))):
        broken = claim.each(DOCUMENT)
        assert (broken.path, broken.got, broken.decided, broken.code) == (path, got, False, "EMPTY_SELECTION")


def test_allow_empty_takes_an_empty_side_as_an_empty_set() -> None:
    """Then the empty set is part of all, all is above it, and nothing else."""
    empty, full = "$.none[*]", "$.known[*]"
    assert Subset(empty, full, allow_empty=True).each(DOCUMENT) is None
    assert Subset(full, empty, allow_empty=True).each(DOCUMENT).path == "$.known[0]"
    assert Superset(full, empty, allow_empty=True).each(DOCUMENT) is None
    assert Superset(empty, full, allow_empty=True).each(DOCUMENT).got == '[], which lacks "d1"'
    assert SameSet(empty, "$.none", allow_empty=True).each(DOCUMENT) is None
    assert Disjoint(full, empty, allow_empty=True).each(DOCUMENT) is None


@pytest.mark.parametrize("key", ["subset", "superset", "same-set", "disjoint"])
@pytest.mark.parametrize(
    ("of", "in_", "field", "says"),
    [
        (["a"], ["b"], "of", "both sides are literals"),
        ([], "$.a", "of", "of is an empty list"),
        ("$.a[*]", "$.a[*]", "in", "both sides are $.a[*], so the claim is the same in every trial"),
        ("$.a", [], "in", "in is an empty list"),
        ("$.a", {"path": "$.b[*]"}, "in", "a side is a path or a list of values"),
    ],
)
def test_a_claim_that_says_nothing_of_the_trial_is_refused(key: Any, of: Any, in_: Any, field: Any, says: Any) -> None:
    """Two literals, an empty list and a mapping are mistakes of the check, told at its place."""
    with pytest.raises(UsageError) as caught:
        build({key: {"of": of, "in": in_}})
    assert caught.value.code == "ASSERTION_INVALID"
    assert caught.value.fields["at"] == (key, field)
    assert says in caught.value.message


def test_both_sides_are_read() -> None:
    """A parse failure above either side makes the claim moot; a literal is no path."""
    assert Subset("$.a", "$.b").reads() == (compile_path("$.a"), compile_path("$.b"))
    assert Subset("$.a", ["x"]).reads() == (compile_path("$.a"),)


def test_identity_is_json_equality() -> None:
    """A boolean is no number at any depth, text is no number, and what holds equal values is equal."""
    same = [(1, 1.0), ({"a": 1, "b": [True]}, {"b": [True], "a": 1.0}), (None, None)]
    other = [(1, True), (0, False), ("1", 1), ([1], [True]), ({"a": 0}, {"a": False}), ([], {}), ([["a"]], ["a"]), (None, False)]
    assert all(identity(one) == identity(two) for one, two in same)
    assert not any(identity(one) == identity(two) for one, two in other)


def test_a_relation_says_how_it_compares() -> None:
    """The base has two sides and no answer."""
    with pytest.raises(NotImplementedError):
        _Relation("$.few", "$.known").each(DOCUMENT)
