"""Contains and absent: kept, broken, vacuous, under `not-`; refused where they say nothing."""

from __future__ import annotations

from typing import Any

import pytest

from invcheck.assertions import Absent, Contains, Not, build
from invcheck.errors import UsageError
from invcheck.paths import compile_path

DOCUMENT = {
    "answer": "A refund takes 3 days.",
    "cites": ["d1", 2, None],
    "words": ["refund", "days"],
    "titles": [{"title": "refund"}, {"title": "other"}],
    "n": 5,
    "null": None,
    "hollow": "",
    "none": [],
    "deep": {"notes": [{"key sk-2": 1}, "fine"]},
}


@pytest.mark.parametrize(
    ("kept", "broken", "expected"),
    [
        (Contains("$.answer", all=["refund", "3"]), Contains("$.answer", all=["refund", "4"]), 'contains "4"'),
        (Contains("$.answer", any=["money", "refund"]), Contains("$.answer", any=["money", "x"]), 'contains one of ["money", "x"]'),
        (Contains("$.answer", pattern="[0-9] days"), Contains("$.answer", pattern="^takes"), "contains a match of ^takes"),
        (Contains("$.answer", all="$.words"), Contains("$.answer", all="$.titles[*].title"), 'contains "other"'),
        (Contains("$.cites", all=[2.0, None]), Contains("$.cites", all=[True]), "contains true"),
        (Contains("$.cites", any=[None]), Contains("$.words", all=[None]), "contains null"),
        (Contains("$.cites", pattern="^d"), Contains("$.words", pattern="2"), "contains a match of 2"),
        (Contains("$.titles[*].title", pattern="e"), Contains("$.titles[*].title", any="money"), 'contains one of ["money"]'),
    ],
)
def test_contains(kept: Any, broken: Any, expected: Any) -> None:
    """A text is searched, an array asked for its items, and each selected value must hold what is looked for."""
    assert kept.each(DOCUMENT) is None
    assert Not(kept).each(DOCUMENT).got == "it holds"
    found = broken.each(DOCUMENT)
    assert (found.expected, found.decided) == (expected, True)
    assert Not(broken).each(DOCUMENT) is None


def test_a_text_is_shown_where_a_needle_is_missing() -> None:
    """The finding shows what was searched, and where it stands."""
    found = Contains("$.titles[*].title", any="refund").each(DOCUMENT)
    assert (found.path, found.got) == ("$.titles[1].title", '"other"')


@pytest.mark.parametrize(
    ("claim", "path", "code"),
    [
        (Contains("$.gone", any=["x"]), "$.gone", "EMPTY_SELECTION"),
        (Contains("$.n", any=["5"]), "$.n", "WRONG_TYPE"),
        (Contains("$.deep", any=["x"]), "$.deep", "WRONG_TYPE"),
        (Contains("$.answer", all=[3]), "$.answer", "WRONG_TYPE"),
        (Contains("$.answer", all="$.gone[*]"), "$.gone[*]", "EMPTY_SELECTION"),
        (Contains("$.answer", any="$.none", allow_empty=True), "$.none", "EMPTY_SELECTION"),
        (Contains("$.answer", any="$.hollow"), "$.hollow", "WRONG_TYPE"),
        (Contains("$.answer", any="$.null"), "$.answer", "WRONG_TYPE"),
        (Contains("$.cites", pattern="2"), "$.cites[1]", "WRONG_TYPE"),
        (Contains("$.titles", pattern="refund"), "$.titles[0]", "WRONG_TYPE"),
        (Absent("$.answer", any="$.null"), "$.null", "WRONG_TYPE"),
        (Absent("$.gone", any=["x"]), "$.gone", "EMPTY_SELECTION"),
        (Absent("$.n", any=["x"]), "$.n", "WRONG_TYPE"),
        (Absent("$.null", pattern="x"), "$.null", "WRONG_TYPE"),
        (Absent("$.none", any=["x"]), "$.none", "EMPTY_SELECTION"),
        (Absent("$.answer", any="$.gone"), "$.gone", "EMPTY_SELECTION"),
        (Absent("$.answer", any="$.n"), "$.n", "WRONG_TYPE"),
    ],
)
def test_what_cannot_be_searched_is_undecided(claim: Any, path: Any, code: Any) -> None:
    """Nothing, another type and a needle that is none break the claim and its opposite alike."""
    for asked in (claim, Not(claim)):
        found = asked.each(DOCUMENT)
        assert (found.path, found.code, found.decided) == (path, code, False)


def test_allow_empty_takes_nothing_as_fine() -> None:
    """Then a path that matches nothing, or something without text, holds nothing that is forbidden."""
    assert Contains("$.gone", any=["x"], allow_empty=True).each(DOCUMENT) is None
    assert Absent("$.gone", any=["x"], allow_empty=True).each(DOCUMENT) is None
    assert Absent("$.none", any=["x"], allow_empty=True).each(DOCUMENT) is None


@pytest.mark.parametrize(
    ("claim", "where"),
    [
        (Absent("$.answer", any=["secret"]), None),
        (Absent("$.deep", any=["sk-3"], pattern="sk-[4-9]"), None),
        (Absent("$.deep", any=["secret", "sk-"]), ("$.deep.notes[0]['key sk-2']", 'no "sk-"', '"key sk-2"')),
        (Absent("$", pattern="f[i]ne"), ("$.deep.notes[1]", "no match of f[i]ne", '"fine"')),
        (Absent("$.titles[*].title", any="other"), ("$.titles[1].title", 'no "other"', '"other"')),
        (Absent("$.answer", any="$.words"), ("$.answer", 'no "refund"', '"A refund takes 3 days."')),
        (Absent("$.cites", any=["1"]), ("$.cites[0]", 'no "1"', '"d1"')),
    ],
)
def test_absent_searches_through_and_through(claim: Any, where: Any) -> None:
    """What must not be shown is found at any depth, in names of members too, and inside of items."""
    found = claim.each(DOCUMENT)
    assert (found and (found.path, found.expected, found.got)) == where
    assert (Not(claim).each(DOCUMENT) is None) is (where is not None and "[*]" not in claim.path("from_").text)


def test_a_long_text_is_cut_around_what_was_found() -> None:
    """The finding shows some thirty code points on both sides."""
    found = Absent("$", any=["sk-"]).each("a" * 100 + "sk-" + "b" * 100)
    assert found.got == '"...' + "a" * 30 + "sk-" + "b" * 30 + '..."'


@pytest.mark.parametrize(
    ("plain", "code", "at", "says"),
    [
        ({"contains": {"in": "$.a"}}, "ASSERTION_INVALID", ("contains",), "say what is looked for: all, any or pattern"),
        ({"absent": {"from": "$.a"}}, "ASSERTION_INVALID", ("absent",), "say what is looked for: any or pattern"),
        ({"contains": {"in": "$.a", "all": []}}, "ASSERTION_INVALID", ("contains", "all"), "the empty text stands in every text"),
        ({"contains": {"in": "$.a", "any": ["x", ""]}}, "ASSERTION_INVALID", ("contains", "any"), "the empty text"),
        ({"absent": {"from": "$.a", "any": ""}}, "ASSERTION_INVALID", ("absent", "any"), "the empty text"),
        ({"absent": {"from": "$.a", "any": [5]}}, "ASSERTION_INVALID", ("absent", "any"), "any looks for text, got 5"),
        ({"absent": {"from": "$.a", "pattern": "a("}}, "BAD_PATTERN", ("absent", "pattern"), "at position 1"),
        ({"contains": {"in": "$.a", "pattern": ".*"}}, "ASSERTION_INVALID", ("contains", "pattern"), "is found in every text"),
        ({"absent": {"from": "$.a", "pattern": ""}}, "ASSERTION_INVALID", ("absent", "pattern"), "is found in every text"),
    ],
)
def test_what_is_always_or_never_found_is_refused(plain: Any, code: Any, at: Any, says: Any) -> None:
    """A needle or pattern that stands in every text makes a claim that cannot tell trials apart."""
    with pytest.raises(UsageError) as caught:
        build(plain)
    assert (caught.value.code, caught.value.fields["at"]) == (code, at)
    assert says in caught.value.message


def test_a_pattern_with_a_condition_may_match_the_empty_text() -> None:
    """Anchors, boundaries and look-around can fail although they match nothing of a text."""
    assert Contains("$", pattern="^$").each("") is None
    assert Contains("$", pattern="^$").each("a").decided
    assert Contains("$", pattern="(?!.*sk-)").each("a") is None


def test_needles_at_a_path_are_read_too() -> None:
    """A parse failure above the needles makes the claim moot as well."""
    assert Contains("$.a", all="$.b", any=["x"]).reads() == (compile_path("$.a"), compile_path("$.b"))
