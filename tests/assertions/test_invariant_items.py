"""Unique, sorted and each: kept, broken, errored, vacuous, under `not-`."""

from __future__ import annotations

from typing import Any, Never

import pytest

from invcheck.assertions import Contains, Each, LedgerRows, Not, Predicate, Sorted, Subset, Unique, build
from invcheck.errors import UsageError
from invcheck.paths import compile_path


@pytest.mark.parametrize("path", ["$.a", "$.a[*]"])
@pytest.mark.parametrize("claim", [Unique, Sorted, lambda of, **kw: Each(of, Contains("$", any=["x"]), **kw)])
def test_nothing_and_no_list_are_not_kept(claim: Any, path: Any) -> None:
    """An empty list, a missing one and a value that is no list break the claim and its opposite alike."""
    for document in ({}, {"a": []}):
        for asked in (claim(path), Not(claim(path))):
            broken = asked.each(document)
            assert (broken.path, broken.decided, broken.code) == (path, False, "EMPTY_SELECTION")
        assert claim(path, allow_empty=True).each(document) is None
    for asked in (claim("$.a"), Not(claim("$.a")), claim("$.a", allow_empty=True)):
        broken = asked.each({"a": "text"})
        assert (broken.path, broken.expected, broken.got, broken.code) == ("$.a", "array", 'string "text"', "WRONG_TYPE")


def test_unique() -> None:
    """Twice the same JSON is once too often: 1 and 1.0 are the same, 1 and true are not."""
    assert Unique("$.a").each({"a": [1, True, "1", [1], {"k": 1}]}) is None
    broken = Unique("$.a[*]").each({"a": [{"k": 1}, 0, {"k": 1.0}]})
    assert (broken.path, broken.expected, broken.got) == ("$.a[2]", "no value twice", '{"k": 1.0}, which stands at $.a[0] too')
    assert Not(Unique("$.a")).each({"a": [1, 1]}) is None
    assert Not(Unique("$.a")).each({"a": [1, 2]}).got == "it holds"
    assert Unique("$.rows[*].id").each({"rows": [{"id": 1}, {"id": 1}]}).path == "$.rows[1].id"


@pytest.mark.parametrize(
    ("values", "order", "broken"),
    [
        ([1, 2, 2, 3.5], "asc", None),
        ([3, 2.5, 2.5], "desc", None),
        (["a", "b"], "asc", None),
        (["b", "Z"], "desc", None),
        ([7], "asc", None),
        ([1, 3, 2], "asc", ("$.a[2]", "≥ 3 ($.a[1])", "2")),
        (["a", "b"], "desc", ("$.a[1]", '≤ "a" ($.a[0])', '"b"')),
    ],
)
def test_sorted(values: Any, order: Any, broken: Any) -> None:
    """Equal neighbours are in order; text goes by code points; the finding names the first value out of place."""
    found = Sorted("$.a", order=order).each({"a": values})
    assert (found and (found.path, found.expected, found.got)) == broken
    assert (Not(Sorted("$.a", order=order)).each({"a": values}) is None) is (broken is not None)


@pytest.mark.parametrize(
    ("values", "place", "wanted"),
    [([1, "a"], 1, "number"), (["a", 1], 1, "text"), ([True], 0, "number"), ([1, None], 1, "number"), ([[1]], 0, "number")],
)
def test_values_without_a_common_order_are_of_the_wrong_type(values: Any, place: Any, wanted: Any) -> None:
    """Nothing is sorted that mixes text and numbers, or holds what has no order, and nothing is not sorted either."""
    for claim in (Sorted("$.a"), Not(Sorted("$.a"))):
        broken = claim.each({"a": values})
        assert (broken.path, broken.code) == (f"$.a[{place}]", "WRONG_TYPE")
        assert broken.expected.startswith(wanted)


def test_sorted_knows_two_orders() -> None:
    """Another order is refused when the claim is made."""
    with pytest.raises(UsageError, match="order must be asc or desc"):
        Sorted("$.a", order="up")


def test_each_judges_every_item_and_spells_places_from_the_root() -> None:
    """In an inner claim `$` is the item; its finding tells the item's place in the observation."""
    claim = Each("$.answers[*]", [Subset("$.cites[*]", ["d1", "d2"]), Contains("$.text", any=["."])])
    good = {"cites": ["d1"], "text": "Yes."}
    assert claim.each({"answers": [good, good]}) is None
    broken = claim.each({"answers": [good, {"cites": ["d1", "d9"], "text": "Yes."}]})
    assert (broken.path, broken.expected, broken.got) == ("$.answers[1].cites[1]", '⊆ ["d1", "d2"]', '"d9"')
    assert Not(claim).each({"answers": [{"cites": ["d9"], "text": "."}]}) is None
    assert Not(claim).each({"answers": [good]}).got == "it holds"
    assert claim.reads() == (compile_path("$.answers[*]"),)


def test_each_is_undecided_when_one_item_is() -> None:
    """An item that cannot be judged speaks before items that are broken, so that `not-` is not kept by them."""
    claim = Each("$", [Contains("$.text", any=["."])])
    for asked in (claim, Not(claim)):
        broken = asked.each([{"text": "no"}, {}])
        assert (broken.path, broken.code) == ("$[1].text", "EMPTY_SELECTION")


def test_a_break_without_a_place_stands_at_the_item() -> None:
    """An inner claim that has no path of its own is told at its item."""
    claim = Each("$.a", [Subset(["x"], "$.known")])
    assert claim.each({"a": [{"known": ["y"]}]}).path == "$.a[0]"


def test_what_an_inner_claim_raises_passes_through() -> None:
    """A claim that crashes is errored, at any depth: its error is never a break."""

    def crash(value: Any) -> Never:
        raise ZeroDivisionError(value)

    with pytest.raises(ZeroDivisionError):
        Each("$.a", [Predicate(crash)]).each({"a": [1]})


def test_each_nests() -> None:
    """Items of items keep their whole way."""
    claim = build({"each": {"of": "$.a", "expect": {"each": {"of": "$.b", "expect": {"contains": {"in": "$", "any": ["x"]}}}}}})
    assert claim.each({"a": [{"b": ["x"]}, {"b": ["ax", "y"]}]}).path == "$.a[1].b[1]"
    assert claim.each({"a": [{"b": ["x"]}, {}]}).path == "$.a[1].b"


def test_claims_about_the_whole_trial_find_nothing_in_an_item() -> None:
    """Inside of each there is no ledger: such a claim is undecided, not kept."""
    assert Each("$.a", [LedgerRows(0)]).each({"a": [{}], "ledger": []}).code == "EMPTY_SELECTION"
